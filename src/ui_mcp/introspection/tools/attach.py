"""`ui_attach`: attach a program or a page, if the settings allow agents to."""

from typing import Literal

import anyio
from pydantic import Field

from ui_mcp.errors import UiArgumentError, UiNotEnabledError
from ui_mcp.introspection import targets
from ui_mcp.introspection.arguments import Request
from ui_mcp.introspection.backend import Attachment
from ui_mcp.introspection.backends.chromium_launch import complete_url, require_debugger
from ui_mcp.introspection.backends.javafx import attach_javafx
from ui_mcp.introspection.backends.jvm_attach import jvms
from ui_mcp.introspection.contract import as_tool_result, invalid_arguments
from ui_mcp.introspection.targets import TargetRegistry
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call, ToolResult, structured_result


class AttachArgs(Request):
    """What to attach."""

    kind: Literal["javafx", "url", "cdp"] = Field(description="A running program, a page, or a running browser.")
    pid: int | None = Field(None, description="javafx: the process.")
    match: str | None = Field(None, description="javafx: part of its main class or jar, instead of the process.")
    url: str | None = Field(None, description="url: the page to open. cdp: the browser's debugging address.")
    cdp: str | None = Field(None, description="cdp: the browser's debugging address.")


@tool("ui_attach", AttachArgs, title="Attach a UI", annotations=Annotations(open_world=True), refused=invalid_arguments)
async def attach(registry: TargetRegistry, args: AttachArgs, call: Call) -> ToolResult:
    """Attach a running JavaFX program, a page or a browser, so that it can be given as `target`.

    Works only where a person has set `allow_attach`; otherwise the person runs the command `ui-mcp attach`.
    """
    return await as_tool_result(_attach(registry, args))


def require_attach_allowed(registry: TargetRegistry) -> None:
    """Check that agents may attach and detach.

    Raises:
        UiNotEnabledError: they may not; the reason is `ATTACH_NOT_ALLOWED`.
    """
    if not registry.config.introspection.allow_attach:
        raise UiNotEnabledError(
            "Agents may not attach here (introspection.allow_attach = false)\nA person can run `ui-mcp attach`.",
            reason="ATTACH_NOT_ALLOWED",
        )


async def _attach(registry: TargetRegistry, args: AttachArgs) -> ToolResult:
    require_attach_allowed(registry)
    folder = registry.folder
    if args.kind == "javafx":
        pid = args.pid if args.pid is not None else _find_jvm(args.match)
        attached = await anyio.to_thread.run_sync(lambda: attach_javafx(folder, pid))
    else:
        address = args.url or args.cdp
        if not address:
            raise UiArgumentError(f"kind {args.kind!r} needs an address: url or cdp")
        if args.kind == "cdp":
            await require_debugger(complete_url(address))
        attached = Attachment(args.kind, args.kind, address, url=complete_url(address))
    targets.write(folder, attached)
    return structured_result({"target": attached.name, "kind": attached.kind, "title": attached.title})


def _find_jvm(match: str | None) -> int:
    running = [jvm for jvm in jvms() if jvm.javafx]
    matches = [jvm for jvm in running if match and match in jvm.command]
    if len(matches) == 1:
        return matches[0].pid
    names = ", ".join(f"{jvm.pid} {jvm.command}" for jvm in running) or "none"
    raise UiArgumentError(f"{len(matches)} JavaFX programs match {match!r}\nThere are: {names}. Give pid or match.")
