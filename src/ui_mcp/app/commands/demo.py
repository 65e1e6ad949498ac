"""`ui-mcp demo`: serves the example apps from a temporary directory."""

import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path

from ui_mcp.app.ui_http_server import announce, serve_on_ports
from ui_mcp.app.ui_server import open_host
from ui_mcp.errors import NotFoundError, UiMcpError
from ui_mcp.log import to_stderr
from ui_mcp.processes import run, until_signalled
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.toolkit.tool import Call
from ui_mcp.ui.instance import ListenPorts
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.states import Running
from ui_mcp.ui.tools.open_browser import OpenBrowserArgs, open_browser
from ui_mcp.workspace import BUNDLE, Workspace

PACKAGE = BUNDLE.parent
FOLDERS = (PACKAGE / "examples", PACKAGE.parent.parent / "examples")
"""Where the examples are: in an installation, and in a clone."""


def run_demo(app: str, *, browser: bool) -> int:
    """Serve the examples until interrupted, showing `app` first."""
    return run(partial(_demo, app, browser=browser))


def example_apps() -> list[Path]:
    """Return the folders of the example apps, sorted by name."""
    folder = next((folder for folder in FOLDERS if folder.is_dir()), None)
    return sorted(path.parent for path in folder.glob("*/app.lua")) if folder else []


async def _demo(app: str, *, browser: bool) -> int:

    to_stderr()
    names = [folder.name for folder in example_apps()]
    if app not in names:
        raise NotFoundError(f"No example named {app!r}; available: {', '.join(names)}")

    async def ready(running: Running, mcp_url: str) -> None:
        await running.sessions.get("1").display(app)
        await announce(running, mcp_url)
        _print_next_steps(running, app, mcp_url)
        if browser:
            await _show(host)

    with tempfile.TemporaryDirectory(prefix="ui-mcp-demo-") as folder:
        workspace = Workspace.at(Path(folder) / ".claude/ui")
        _copy_examples(workspace)
        announcements, listen_ports = Announcements(), ListenPorts()
        flags = {"server.port": 0, "server.mcp_port": 0, "server.person_port": 0}
        async with until_signalled(), open_host(flags, listen_ports, announcements) as host:
            await host.begin(str(workspace.base))
            await serve_on_ports(host, listen_ports, announcements, ready)
    return 0


def _print_next_steps(running: Running, app: str, mcp_url: str) -> None:
    """Print what a first-time user can try next."""
    views = (running.workspace.apps / app / "viewdefs").glob("*.DEFAULT.html")
    view = min(views, key=lambda file: len(file.name), default=running.workspace.apps / app)
    sys.stdout.write(
        f"""
What next:
  See it                open the address after "You": the app, with the chat and pending approvals beside it
  Change it             edit {view}
                        and save: the page updates immediately
  Connect your agent    claude mcp add --transport http ui {mcp_url}/mcp
                        (other hosts: README.md, "Hosts")
  Use it in a project   README.md, "Sixty seconds"
Everything here is temporary and is deleted when you press Ctrl+C.
"""
    )
    sys.stdout.flush()


def _copy_examples(workspace: Workspace) -> None:
    for source in example_apps():
        shutil.copytree(source, workspace.apps / source.name)


async def _show(host: UiServer) -> None:

    try:
        await open_browser.body(host, OpenBrowserArgs(), Call())
    except UiMcpError:
        return  # no browser here; the address has been printed
