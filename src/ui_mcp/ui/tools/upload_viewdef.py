"""`ui_upload_viewdef`: add or replace one template."""

from dataclasses import dataclass
from typing import Annotated

from ui_mcp.errors import ViewdefError
from ui_mcp.fields import Pattern
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call, ToolResult, text_result
from ui_mcp.ui.server import UiServer

NAME = r"[A-Za-z0-9_.-]+"


@dataclass(frozen=True, slots=True)
class UploadViewdefArgs:
    """The template and its key."""

    type: Annotated[str, Pattern(NAME)]
    namespace: Annotated[str, Pattern(NAME)]
    content: str


@tool(
    "ui_upload_viewdef",
    UploadViewdefArgs,
    title="Upload a viewdef",
    annotations=Annotations(destructive=False, idempotent=True),
)
async def upload_viewdef(host: UiServer, args: UploadViewdefArgs, call: Call) -> ToolResult:
    """Save an HTML template for a type and namespace, and show it in the open views.

    When: a template belongs to no app.
    Example: {"type": "Todo", "namespace": "DEFAULT", "content": "…"}
    """
    try:
        note = await host.running().sessions.upload_viewdef(f"{args.type}.{args.namespace}", args.content)
    except ViewdefError as error:
        reason = error.message.removeprefix("invalid viewdef: ")
        raise ViewdefError(f"invalid viewdef: {reason}", **error.details) from error
    return text_result(f"Viewdef {args.type}.{args.namespace} uploaded", *([note] if note else []))
