"""`ui_attach`: attach a program or a page, if the settings allow agents to."""

from dataclasses import dataclass
from typing import Annotated

from ui_mcp.fields import OneOf
from ui_mcp.introspection import targets
from ui_mcp.introspection.arguments import Request
from ui_mcp.introspection.backend import AttachRequest
from ui_mcp.introspection.backends import backend_of, backends
from ui_mcp.introspection.contract import as_tool_result, invalid_arguments
from ui_mcp.introspection.targets import TargetRegistry
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call, ToolResult, structured_result


@dataclass(frozen=True, slots=True)
class AttachArgs(Request):
    """What to attach."""

    kind: Annotated[str, OneOf(lambda: [*backends()])]
    pid: Annotated[int | None, "Program."] = None
    match: Annotated[str | None, "Or part of its main class."] = None
    url: Annotated[str | None, "Page to open, or debugging address."] = None
    cdp: str | None = None


@tool("ui_attach", AttachArgs, title="Attach a UI", annotations=Annotations(open_world=True), refused=invalid_arguments)
async def attach(registry: TargetRegistry, args: AttachArgs, call: Call) -> ToolResult:
    """Attach a running JavaFX or Swing program, a page or a browser as a `target`.

    When: the UI to look at is not ours. Needs the person's `allow_attach`, or `ui-mcp attach` by hand.
    Example: {"kind": "javafx", "match": "Editor"}
    """
    return await as_tool_result(_attach(registry, args))


async def _attach(registry: TargetRegistry, args: AttachArgs) -> ToolResult:
    registry.require_attach_allowed()
    request = AttachRequest(args.kind, registry.folder, args.pid, args.match, args.url or args.cdp)
    attached = await backend_of(args.kind).attach(request)
    targets.write(registry.folder, attached)
    return structured_result({"target": attached.name, "kind": attached.kind, "title": attached.title})
