"""Every tool of the UI server, for MCP and for HTTP."""

from types import ModuleType
from typing import TYPE_CHECKING, Any

from ui_mcp.discovery import discover_modules, lazy
from ui_mcp.introspection import tools as introspection_tools
from ui_mcp.toolkit.functions import FunctionTool, FunctionToolset
from ui_mcp.toolkit.resource_tools import Unlisted, resource_tools
from ui_mcp.toolkit.resources import ResourceSet
from ui_mcp.toolkit.toolset import Combined, Toolset
from ui_mcp.ui import tools
from ui_mcp.ui.server import UiServer

# The chat is not imported before the first list of tools.
if TYPE_CHECKING:
    from ui_mcp.agent.tools import ControlTools, TurnControl
    from ui_mcp.chat.tools import ChatTools
else:
    ControlTools = lazy("ui_mcp.agent.tools:ControlTools")
    TurnControl = lazy("ui_mcp.agent.tools:TurnControl")
    ChatTools = lazy("ui_mcp.chat.tools:ChatTools")


def all_tools(host: UiServer, gateway: Toolset | None = None, resources: ResourceSet | None = None) -> Toolset:
    """Return the tools of the UI, the chat, the loop and the gateway, and those that read `resources`.

    `loop_yield_turn` ends a turn of our own agent; for other clients, whose turns we do not run, it only says yes.
    """
    own = [ui_toolset(host), ChatTools(host.chats.context, "assistant"), Unlisted(ControlTools(TurnControl()))]
    read = [Unlisted(resource_tools(resources))] if resources else []
    return Combined([*own, *read, *([gateway] if gateway else [])])


def ui_toolset(host: UiServer) -> Toolset:
    """Return every tool of the two tools packages, module by module."""
    return Combined(
        [FunctionToolset(host, _tools_in(tools)), FunctionToolset(host.targets, _tools_in(introspection_tools))]
    )


def _tools_in(package: ModuleType) -> list[FunctionTool[Any]]:
    return [
        value
        for module in discover_modules(package)
        for value in vars(module).values()
        if isinstance(value, FunctionTool)
    ]
