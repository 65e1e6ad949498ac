"""The tool by which a script asks a person; the answer is given on the approvals page."""

from ui_mcp.gateway.internal_source import InternalSource
from ui_mcp.gateway.source import Entry
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.tool import Annotations, Tool, ToolResult, structured_result

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
