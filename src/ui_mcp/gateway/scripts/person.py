"""The tool by which a script asks a person; it runs only with an answer given on the approvals page."""

from collections.abc import Sequence

from ui_mcp.errors import DeniedError
from ui_mcp.gateway.source import Entry, Health, Permit, Preview
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.tool import Annotations, Call, Tool, ToolResult, structured_result

_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"question": {"type": "string"}, "answer": {"type": "string"}},
    "required": ["question"],
}
PERSON = Entry(
    Tool(
        "person__ask",
        "Answer a script",
        "A script asks you something.",
        _SCHEMA,
        annotations=Annotations(read_only=True),
    ),
    "person",
    "builtin",
    "ask",
)


class PersonSource:
    """The person as a source with one tool."""

    name = PERSON.source

    def entries(self) -> Sequence[Entry]:
        return (PERSON,)

    def is_dry_run(self, name: str, arguments: JsonObject, call: Call) -> bool:
        return False

    async def preview(self, name: str, arguments: JsonObject, call: Call) -> Preview:
        return Preview(None, PERSON.fingerprint)

    async def call(self, name: str, arguments: JsonObject, call: Call, permit: Permit | None = None) -> ToolResult:
        """Return the answer that a person gave.

        Raises:
            DeniedError: the call was not answered by a person.
        """
        if permit is None or permit.request is None:
            raise DeniedError("Only scripts ask a person this way: call ask(question) in nlui__run")
        return structured_result({"approved": True, "answer": str(arguments.get("answer", ""))})

    async def describe(self, name: str) -> JsonObject:
        return {"name": PERSON.name, "description": PERSON.tool.description, "input_schema": _SCHEMA}

    def health(self) -> Health:
        return Health(self.name, "builtin", "active", 1)

    def instructions(self) -> str:
        return ""
