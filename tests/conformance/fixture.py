"""What both servers of the differential test offer: a few tools, a resource and a prompt."""

from collections.abc import Mapping, Sequence

from ui_mcp.errors import NotFoundError, ResourceNotFoundError, UiMcpError, UnknownToolError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.resources import Resource, ResourceContent, ResourceTemplate
from ui_mcp.toolkit.tool import Annotations, Call, InputNeeded, Tool, ToolResult, structured_result, text_result

TOOLS = ("echo", "facts", "fail", "crash", "count", "ask")
SCHEMA: JsonObject = {"type": "object", "properties": {"text": {"type": "string", "x-mcp-header": "Text"}}}
QUESTION: JsonObject = {"name": {"method": "roots/list"}}
GUIDE, MISSING = "test://guide", "test://missing"


class Tools:
    """Tools that answer, fail, report progress and ask."""

    async def tools(self, call: Call) -> Sequence[Tool]:
        hints = Annotations(open_world=None)
        return [Tool(name, name.title(), f"The tool {name}.", SCHEMA, annotations=hints) for name in TOOLS]

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        match name:
            case "echo":
                return text_result(str(arguments.get("text")))
            case "facts":
                return structured_result({"era": call.era, "declared": sorted(call.capabilities)})
            case "fail":
                raise UiMcpError("failed")
            case "crash":
                raise ZeroDivisionError
            case "count":
                await call.progress(1, 2, "half")
                return text_result("counted")
            case "ask" if call.era == "modern" and call.given is None:
                return ToolResult((), needs=InputNeeded(QUESTION, "state"))
            case "ask":
                return text_result("asked")
        raise UnknownToolError(name)


class Resources:
    async def resources(self, call: Call) -> Sequence[Resource]:
        return [Resource(GUIDE, "guide", "A guide", "text/plain")]

    async def templates(self, call: Call) -> Sequence[ResourceTemplate]:
        return [ResourceTemplate("test://{name}", "any", "Any")]

    async def read(self, uri: str, call: Call) -> Sequence[ResourceContent]:
        if uri != GUIDE:
            raise ResourceNotFoundError(uri)
        return [ResourceContent(uri, "text/plain", "words")]


class Prompts:
    async def prompts(self, call: Call) -> Sequence[JsonObject]:
        return [{"name": "greet", "arguments": [{"name": "who", "required": True}]}]

    async def get(self, name: str, arguments: Mapping[str, str], call: Call) -> JsonObject:
        if name != "greet":
            raise NotFoundError(f"Unknown prompt: {name}")
        said = {"type": "text", "text": f"Hello {arguments.get('who')}"}
        return {"messages": [{"role": "user", "content": said}]}

    async def complete(self, reference: JsonObject, argument: JsonObject, call: Call) -> JsonObject:
        return {"values": [argument["value"] + "!"], "total": 1, "hasMore": False}
