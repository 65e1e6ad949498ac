"""`ui_display`: show an app in the browser."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from ui_mcp.errors import DisplayError, InvalidArgumentsError, UiMcpError
from ui_mcp.fields import Named
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call, ToolResult, text_result
from ui_mcp.ui.server import UiServer

PAGE = "ui://app/main.html"

SHOWN_INLINE: JsonObject = {
    "ui": {"resourceUri": PAGE, "visibility": ["model"]},
    "ui/resourceUri": PAGE,
    "openai/outputTemplate": PAGE,
}
"""Metadata that makes hosts with MCP Apps show the page with a tool's result."""


@dataclass(frozen=True, slots=True)
class DisplayArgs:
    """Which app."""

    name: Annotated[str, "Name of the app: its directory in apps/."]
    session_id: Annotated[str, "Session to show it in.", Named("sessionId")] = "1"


@tool(
    "ui_display",
    DisplayArgs,
    title="Display an app",
    annotations=Annotations(destructive=False, idempotent=True),
    meta=SHOWN_INLINE,
)
async def display(host: UiServer, args: DisplayArgs, call: Call) -> ToolResult:
    """Show the app apps/NAME in every page of the session, loading it if needed.

    When: to change which app is shown; ui_edit with show does it too. Its code must set the global named like the
    directory in camelCase (claude-panel → claudePanel). Example: {"name": "todo"}
    """
    running, name = host.running(), args.name.strip()
    if not name:
        raise InvalidArgumentsError("name must be a non-empty string")
    try:
        note = await running.sessions.display(running.sessions.get(args.session_id), name)
    except UiMcpError as error:
        message = f"failed to display app: {name}: {error.message}{_hint(running.workspace.apps, name)}"
        raise DisplayError(message, **error.details) from error
    return text_result(f"Displayed app: {name}", running.url, *([f"It shows nothing yet. {note}."] if note else []))


def _hint(apps: Path, name: str) -> str:
    found = sorted(file.parent.name for file in apps.glob("*/app.lua"))
    return "" if name in found else f"\nThere is no apps/{name}/app.lua; apps here: {', '.join(found) or 'none'}."
