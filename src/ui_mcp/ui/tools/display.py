"""`ui_display`: show an app in the browser."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, StringConstraints

from ui_mcp.errors import DisplayError, InvalidArgumentsError, UiMcpError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.functions import Args, tool
from ui_mcp.toolkit.tool import Annotations, Call, ToolResult, text_result
from ui_mcp.ui.server import UiServer

PAGE = "ui://app/main.html"

SHOWN_INLINE: JsonObject = {
    "ui": {"resourceUri": PAGE, "visibility": ["model"]},
    "ui/resourceUri": PAGE,
    "openai/outputTemplate": PAGE,
}
"""Metadata that makes hosts with MCP Apps show the page with a tool's result."""


class DisplayArgs(Args):
    """Which app."""

    name: Annotated[str, StringConstraints(strip_whitespace=True)] = Field(
        description="Name of the app: its directory in apps/."
    )
    session_id: str = Field(default="1", alias="sessionId", description="Session to show it in.")


@tool(
    "ui_display",
    DisplayArgs,
    title="Display an app",
    annotations=Annotations(destructive=False, idempotent=True),
    meta=SHOWN_INLINE,
)
async def display(host: UiServer, args: DisplayArgs, call: Call) -> ToolResult:
    """Load the app apps/NAME if needed and show it in every page of the session.

    Answers "Displayed app: NAME" and, as a second text, the address to open. The app's code must set the global
    named like its directory in camelCase (claude-panel → claudePanel).
    """
    running = host.running()
    if not args.name:
        raise InvalidArgumentsError("name must be a non-empty string")
    try:
        await running.sessions.get(args.session_id).display(args.name)
    except UiMcpError as error:
        message = f"failed to display app: {args.name}: {error.message}{_hint(running.workspace.apps, args.name)}"
        raise DisplayError(message, **error.details) from error
    return text_result(f"Displayed app: {args.name}", running.url)


def _hint(apps: Path, name: str) -> str:
    found = sorted(file.parent.name for file in apps.glob("*/app.lua"))
    return "" if name in found else f"\nThere is no apps/{name}/app.lua; apps here: {', '.join(found) or 'none'}."
