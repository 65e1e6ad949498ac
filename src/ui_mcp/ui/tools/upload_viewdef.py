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

    type: Annotated[str, "Type of the objects it shows, e.g. Contact.", Pattern(NAME)]
    namespace: Annotated[str, "Namespace, e.g. DEFAULT or list-item.", Pattern(NAME)]
    content: Annotated[str, "HTML: one <template> with ui-* attributes."]


@tool(
    "ui_upload_viewdef",
    UploadViewdefArgs,
    title="Upload a viewdef",
    annotations=Annotations(destructive=False, idempotent=True),
)
async def upload_viewdef(host: UiServer, args: UploadViewdefArgs, call: Call) -> ToolResult:
    """Register an HTML template for a type and namespace, save it, and re-render every open view that uses it.

    The same as writing viewdefs/TYPE.NAMESPACE.html; a file it replaces is kept as FILE.bak. If it cannot be written,
    it is used all the same. A template without any element is refused and changes nothing.
    """
    try:
        note = await host.running().sessions.upload_viewdef(f"{args.type}.{args.namespace}", args.content)
    except ViewdefError as error:
        reason = error.message.removeprefix("invalid viewdef: ")
        raise ViewdefError(f"invalid viewdef: {reason}", **error.details) from error
    return text_result(f"Viewdef {args.type}.{args.namespace} uploaded", *([note] if note else []))
