"""Sources inside the gateway: tools that run only with an approval that a person gave, and the one that asks them."""

from collections.abc import Awaitable, Callable, Sequence

from ui_mcp.errors import DeniedError
from ui_mcp.gateway.source import Entry, Health, Permit, Preview
from ui_mcp.jsontypes import JsonObject, digest
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.toolkit.tool import Annotations, Call, Tool, ToolResult, structured_result


@dataclass(frozen=True, slots=True)
class InternalSource:
    """Questions of the gateway are approvals of this tool, so they are shown, kept and decided like any other."""

    entry: Entry
    run: Callable[[JsonObject], Awaitable[ToolResult]]
    """Called with the arguments that the person approved."""
    show: Callable[[JsonObject], JsonObject | None] = lambda _: None
    """Returns what the person sees instead of the arguments, as `{method, url, body}`."""

    @property
    def name(self) -> str:
        return self.entry.source

    def entries(self) -> Sequence[Entry]:
        return (self.entry,)

    def is_dry_run(self, name: str, arguments: JsonObject, call: Call) -> bool:
        return False

    async def preview(self, name: str, arguments: JsonObject, call: Call) -> Preview:
        return Preview(self.show(arguments), digest(arguments))

    async def call(self, name: str, arguments: JsonObject, call: Call, permit: Permit | None = None) -> ToolResult:
        """Run the tool with a person's approval.

        Raises:
            ChangedError: the person approved something else.
            DeniedError: there is no approval.
        """
        if permit is None or permit.request is None:
            raise DeniedError(f"{name} runs only when a person has approved it")
        permit.require(name, self.entry.fingerprint, digest(arguments))
        return await self.run(arguments)

    async def describe(self, name: str) -> JsonObject:
        tool = self.entry.tool
        return {"name": tool.name, "description": tool.description, "input_schema": tool.input_schema}

    def health(self) -> Health:
        return Health(self.name, "builtin", "active", 1)

    def instructions(self) -> str:
        return ""


_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"question": {"type": "string"}, "answer": {"type": "string"}},
    "required": ["question"],
}
PERSON = Entry(
    Tool("person__ask", "Answer a script", "A script asks.", _SCHEMA, annotations=Annotations(read_only=True)),
    "person",
    "builtin",
    "ask",
)


async def _answer(arguments: JsonObject) -> ToolResult:
    return structured_result({"approved": True, "answer": str(arguments.get("answer", ""))})


def person_source() -> InternalSource:
    """Return the person as a source with one tool."""
    return InternalSource(PERSON, _answer)
