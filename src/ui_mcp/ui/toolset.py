"""Every tool of the UI server, and their recorded list, which is answered before any of them is imported."""

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from ui_mcp.discovery import discover_modules, lazy
from ui_mcp.errors import NotStartedError, SessionGoneError
from ui_mcp.introspection import tools as introspection_tools
from ui_mcp.jsontypes import JsonObject, dumps, loads
from ui_mcp.toolkit.functions import FunctionTool, FunctionToolset
from ui_mcp.toolkit.resource_tools import Unlisted, resource_tools
from ui_mcp.toolkit.resources import ResourceSet
from ui_mcp.toolkit.tool import Call, Tool, ToolResult
from ui_mcp.toolkit.toolset import Combined, Toolset
from ui_mcp.ui import tools
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.states import Running
from ui_mcp.validation import read, to_json

# The chat is not imported before the first list of tools.
if TYPE_CHECKING:
    from ui_mcp.agent.tools import ControlTools, TurnControl
    from ui_mcp.chat.tools import ChatTools
else:
    ControlTools = lazy("ui_mcp.agent.tools:ControlTools")
    TurnControl = lazy("ui_mcp.agent.tools:TurnControl")
    ChatTools = lazy("ui_mcp.chat.tools:ChatTools")

RECORD = Path(__file__).with_name("tool_list.json")
_ROOT = Path(__file__).parents[1]
_FOLDERS = ("ui/tools", "introspection/tools", "introspection/backends")


def all_tools(host: UiServer, gateway: Toolset | None = None, resources: ResourceSet | None = None) -> Toolset:
    """Return the tools of the UI, the chat, the loop and the gateway, and those that read `resources`.

    `loop_yield_turn` ends a turn of our own agent; for other clients, whose turns we do not run, it only says yes.
    """
    own = [ui_toolset(host), ChatTools(host.chats.context, "assistant"), Unlisted(ControlTools(TurnControl()))]
    reading = [Unlisted(resource_tools(resources))] if resources else []
    return Combined([*own, *reading, *([gateway] if gateway else [])])


def ui_toolset(host: UiServer) -> Toolset:
    """Return every tool of the two tools packages, module by module."""
    own = _UiTools(host, _tools_in(tools))
    return Combined([own, FunctionToolset(host.targets, _tools_in(introspection_tools))])


class _UiTools(FunctionToolset[UiServer]):
    """Tells calls whose server was stopped under them just that, and not how their worker ended."""

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        before = self._context.state
        try:
            return await super().call(name, arguments, call)
        except SessionGoneError as error:
            if not isinstance(before, Running) or not before.sessions.stopped:
                raise
            raise NotStartedError("Server not started\nIt was stopped or reconfigured while this ran.") from error


def _tools_in(package: ModuleType) -> list[FunctionTool[Any]]:
    return [
        value
        for module in discover_modules(package)
        for value in vars(module).values()
        if isinstance(value, FunctionTool)
    ]


def recorded_tools() -> Sequence[Tool] | None:
    """Return the recorded tools; None if a tool or a kind of UI was added or removed since."""
    try:
        record = loads(RECORD.read_bytes())
        return [read(Tool, tool) for tool in record["tools"]] if record["files"] == _files() else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def record_of(tools: Sequence[Tool]) -> str:
    """Return the text of the record of these tools."""
    written: JsonObject = {"files": _files(), "tools": [to_json(tool) for tool in tools]}
    return dumps(written) + "\n"


def _files() -> list[str]:
    files = [file for folder in _FOLDERS for file in sorted((_ROOT / folder).iterdir())]
    return [file.relative_to(_ROOT).as_posix() for file in files if not file.name.startswith("_")]
