"""`ui_theme`: list themes and their documented classes, and check an app's use of them."""

from dataclasses import dataclass
from typing import Annotated, Literal

from anyio import to_thread

from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.themes import audit_classes, list_classes, list_themes


@dataclass(frozen=True, slots=True)
class ThemeArgs:
    """What to look at."""

    action: Literal["list", "classes", "audit"]
    theme: Annotated[str, "For classes."] = ""
    app: Annotated[str, "For audit."] = ""


@tool("ui_theme", ThemeArgs, title="Look at themes", annotations=Annotations(read_only=True, idempotent=True))
async def theme(host: UiServer, args: ThemeArgs, call: Call) -> JsonObject:
    """List themes, the classes they document, or the classes an app uses that no theme knows.

    When: you style an app. Example: {"action": "classes"}
    """
    workspace = host.configured().workspace
    match args.action:
        case "list":
            return await to_thread.run_sync(list_themes, workspace)
        case "classes":
            return await to_thread.run_sync(list_classes, workspace, args.theme)
        case "audit":
            return await to_thread.run_sync(audit_classes, workspace, args.app, args.theme)
