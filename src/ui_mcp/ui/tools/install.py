"""`ui_install`: install the bundled files into the project."""

from dataclasses import dataclass
from typing import Annotated

from anyio.to_thread import run_sync

from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call
from ui_mcp.ui.installer import install as install_bundle
from ui_mcp.ui.server import UiServer


@dataclass(frozen=True, slots=True)
class InstallArgs:
    """How thorough to be."""

    force: Annotated[
        bool, "Reinstall whatever the versions say; files the user changed are replaced and kept as FILE.bak."
    ] = False


@tool(
    "ui_install",
    InstallArgs,
    title="Install skills and resources",
    annotations=Annotations(destructive=False, idempotent=True),
)
async def install(host: UiServer, args: InstallArgs, call: Call) -> JsonObject:
    """Install the bundled skills, agent, guides, viewdefs, scripts and page into the project.

    Runs by itself at the first start; call it after upgrading ui-mcp, or with force to repair an installation.
    Nothing happens when the installed version is as new (`version_skipped`). Files the user changed are kept: the
    new text is put beside them as FILE.merge and listed under `conflicts`. Answers the paths, relative to the
    project, under `installed` and `skipped`.
    """
    workspace = host.configured().workspace
    result = await run_sync(lambda: install_bundle(workspace, force=args.force))
    return result.as_json()
