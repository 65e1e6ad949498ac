"""The server that the conformance suite tests: its tools, resources and prompts on our own core."""

from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import replace

from conformance.asking import ASKING, accepted, ask, elicit
from conformance.task_tools import NEED_TASKS, TASK_TOOLS, suite_tasks
from conformance.tools import PIXEL, TOOLS
from ui_mcp.errors import NotFoundError, ResourceNotFoundError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.mcp_server.definition import ServerDefinition
from ui_mcp.mcp_server.request import Request
from ui_mcp.mcp_server.resources import PromptHandlers
from ui_mcp.mcp_server.tools import Tools as ToolHandlers
from ui_mcp.mcp_tasks.tasks import require_extension
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.toolkit.functions import FunctionToolset
from ui_mcp.toolkit.resources import Resource, ResourceContent, ResourceTemplate
from ui_mcp.toolkit.tool import Call, Tool

_ANYTHING: JsonObject = {"type": "object", "properties": {}}


class Tools(FunctionToolset[Announcements]):
    """The answering tools, and the names of the asking ones."""

    async def tools(self, call: Call) -> Sequence[Tool]:
        asking = [Tool(name, name, "Asks its caller.", _ANYTHING) for name in ASKING]
        return [*await super().tools(call), *asking]


class Resources:
    """The suite's four resources."""

    async def resources(self, call: Call) -> Sequence[Resource]:
        return [
            Resource("test://static-text", "static-text", "A text", "text/plain"),
            Resource("test://static-binary", "static-binary", "An image", "image/png"),
            Resource("test://watched-resource", "watched-resource", "One to subscribe to", "text/plain"),
        ]

    async def templates(self, call: Call) -> Sequence[ResourceTemplate]:
        return [ResourceTemplate("test://template/{id}/data", "template", "By id", "application/json")]

    async def read(self, uri: str, call: Call) -> Sequence[ResourceContent]:
        match uri.removeprefix("test://").split("/"):
            case ["static-text"]:
                return [ResourceContent(uri, "text/plain", "This is the content of the static text resource.")]
            case ["static-binary"]:
                return [ResourceContent(uri, "image/png", PIXEL)]
            case ["watched-resource"]:
                return [ResourceContent(uri, "text/plain", "Watched resource content")]
            case ["template", name, "data"]:
                body = f'{{"id":"{name}","templateTest":true,"data":"Data for ID: {name}"}}'
                return [ResourceContent(uri, "application/json", body)]
        raise ResourceNotFoundError(uri)


class SuitePrompts:
    """The suite's prompts."""

    async def prompts(self, call: Call) -> Sequence[JsonObject]:
        named = {
            "test_simple_prompt": [],
            "test_prompt_with_arguments": ["arg1", "arg2"],
            "test_prompt_with_embedded_resource": ["resourceUri"],
            "test_prompt_with_image": [],
            "test_input_required_result_prompt": [],
        }
        return [
            {
                "name": name,
                "description": "For the suite.",
                "arguments": [{"name": argument, "description": argument, "required": True} for argument in arguments],
            }
            for name, arguments in named.items()
        ]

    async def get(self, name: str, arguments: Mapping[str, str], call: Call) -> JsonObject:
        match name:
            case "test_simple_prompt":
                return _messages({"type": "text", "text": "This is a simple prompt for testing."})
            case "test_prompt_with_arguments":
                words = f"Prompt with arguments: arg1='{arguments['arg1']}', arg2='{arguments['arg2']}'"
                return _messages({"type": "text", "text": words})
            case "test_prompt_with_embedded_resource":
                body = {"uri": arguments["resourceUri"], "mimeType": "text/plain", "text": "Embedded content."}
                return _messages({"type": "resource", "resource": body}, {"type": "text", "text": "Process it."})
            case "test_prompt_with_image":
                image = {"type": "image", "data": b64encode(PIXEL).decode(), "mimeType": "image/png"}
                return _messages(image, {"type": "text", "text": "Describe it."})
        raise NotFoundError(f"No prompt named {name!r}")

    async def complete(self, reference: JsonObject, argument: JsonObject, call: Call) -> JsonObject:
        return {"values": [], "total": 0, "hasMore": False}


def _messages(*contents: JsonObject) -> JsonObject:
    return {"messages": [{"role": "user", "content": content} for content in contents]}


def served_definition() -> ServerDefinition:
    announcements = Announcements()
    prompts = SuitePrompts()
    base = ServerDefinition(
        name="ui-mcp-conformance",
        title="Conformance fixture",
        version="1.0.0",
        toolset=Tools(announcements, [*TOOLS, *TASK_TOOLS]),
        resources=Resources(),
        announcements=announcements,
        prompts=prompts,
        list_changed=frozenset({"tools", "resources", "prompts"}),
        tasks=suite_tasks(),
    )

    async def call_tool(request: Request) -> JsonObject:
        asks = ASKING.get(request.params["name"])
        if request.params["name"] in NEED_TASKS:
            require_extension(request)
        return await (asks(request, request.params) if asks else ToolHandlers(base).call(request))

    async def get_prompt(request: Request) -> JsonObject:
        if request.params["name"] != "test_input_required_result_prompt":
            return await PromptHandlers(prompts).get(request)
        given = accepted(request.params, "user_context")
        if given is None:
            return ask({"user_context": elicit("What context?", context="string")})
        return _messages({"type": "text", "text": f"Context: {given}"})

    async def set_level(request: Request) -> JsonObject:
        return {}

    handlers = {"tools/call": call_tool, "prompts/get": get_prompt, "logging/setLevel": set_level}
    return replace(base, extra_handlers=handlers)
