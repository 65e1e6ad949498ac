"""The tools of the human and the assistant face: every spelling, errors as data, and a hint about unread messages."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ui_mcp.chat.desk import Desk, Side
from ui_mcp.chat.message import DEFAULT_CONVERSATION
from ui_mcp.chat.reading import read_since, wait_since
from ui_mcp.chat.tools import assistant_post, human_post
from ui_mcp.errors import ChatError, InvalidArgumentsError, UnknownToolError
from ui_mcp.jsontypes import JsonObject, dumps
from ui_mcp.toolkit.functions import FunctionTool, FunctionToolset
from ui_mcp.toolkit.tool import Call, Text, Tool, ToolResult

LEGACY = frozenset({"ui.send_message", "ui_send_message", "ui__send_message"})
UNREAD = "ui-mcp/unread"
DEPRECATED = "ui-mcp/deprecated"

_TOOLS: dict[Side, tuple[FunctionTool[Desk], ...]] = {
    "human": (human_post, read_since, wait_since),
    "assistant": (assistant_post, read_since, wait_since),
}


@dataclass(frozen=True, slots=True)
class Naming:
    """How tools are listed; every spelling can be called whatever is listed."""

    names: Literal["snake", "dotted"] = "snake"
    legacy: Literal["compat", "list", "off"] = "compat"


class ChatTools:
    """The toolset of one face."""

    def __init__(self, desk: Desk, side: Side, naming: Naming = Naming()) -> None:
        self._desk = desk
        self._naming = naming
        self._functions = FunctionToolset(desk, _TOOLS[side])

    async def tools(self, call: Call) -> Sequence[Tool]:
        """Return post, read and wait."""
        listed = [self._named(tool) for tool in await self._functions.tools(call)]
        if self._naming.legacy == "list":
            listed += [replace(tool, name="ui_send_message") for tool in listed if LEGACY & set(tool.aliases)]
        return listed

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        """Run one tool; what goes wrong comes back as `{"error": {code, message, details}}`."""
        if name in LEGACY and self._naming.legacy == "off":
            raise UnknownToolError(name)
        try:
            result = await self._functions.call(name, arguments, call)
        except ChatError as error:
            return _failed(error.code, error.message, error.details)
        except InvalidArgumentsError as error:
            return _failed("invalid_argument", error.message, error.details)
        return replace(result, meta=await self._meta(name, arguments, call))

    def _named(self, tool: Tool) -> Tool:
        dotted = next((alias for alias in tool.aliases if alias.startswith("chat.")), tool.name)
        return replace(tool, name=dotted) if self._naming.names == "dotted" else tool

    async def _meta(self, name: str, arguments: JsonObject, call: Call) -> JsonObject | None:
        opened = await self._desk()
        conversation = arguments.get("conversation", DEFAULT_CONVERSATION)
        unread = await opened.chat.unread(await opened.caller(call), conversation)
        meta: JsonObject = {UNREAD: unread} if unread else {}
        if name in LEGACY:
            meta[DEPRECATED] = "chat_assistant_post"
        return meta or None


def _failed(code: str, message: str, details: dict[str, object]) -> ToolResult:
    body: JsonObject = {"error": {"code": code, "message": message, "details": details}}
    return ToolResult((Text(dumps(body)),), structured=body, is_error=True)
