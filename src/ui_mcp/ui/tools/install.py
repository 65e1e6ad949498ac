"""`ui_install`: install the bundled files into the project."""

from dataclasses import dataclass
from typing import Annotated

from anyio.to_thread import run_sync

from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call
from ui_mcp.ui.base_dir.installer import install as install_bundle
from ui_mcp.ui.server import UiServer


@dataclass(frozen=True, slots=True)
class InstallArgs:
    """How thorough to be."""

    force: Annotated[bool, "Replace changed files too; they are kept as FILE.bak."] = False


@tool(
    "ui_install",
    InstallArgs,
    title="Install skills and resources",
    annotations=Annotations(destructive=False, idempotent=True),
)
async def install(host: UiServer, args: InstallArgs, call: Call) -> JsonObject:
    """Install the bundled skills, guides, scripts and page into the project.

    When: after an upgrade, or with force to repair. Changed files are kept; see `conflicts`. Example: {}
    """
    workspace = host.configured().workspace
    result = await run_sync(lambda: install_bundle(workspace, force=args.force))
    return result.as_json()
