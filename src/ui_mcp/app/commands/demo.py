"""`ui-mcp demo`: a temporary project with the tour, the demo shop and the example apps."""

import os
import shutil
import sys
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from pathlib import Path

import anyio

from ui_mcp.app.tour.routes import tour_routes
from ui_mcp.app.tour.tour import Tour, all_steps, connection_to
from ui_mcp.app.ui_http_server import announce, serve_on_ports
from ui_mcp.app.ui_server import open_host
from ui_mcp.errors import NotFoundError, UiMcpError
from ui_mcp.gateway.web.demo import first_orders, serve_demo_api
from ui_mcp.jsontypes import dumps
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

BEST_FIRST = (
    "dashboard", "csv-explorer", "expenses", "review", "planner", "board", "logs", "mission-control", "api-monitor",
    "wizard", "annotator", "contacts", "signup",
)  # fmt: skip
"""The examples in the order in which people see them."""

_COPIED = 1_700_000_000
"""When the examples count as changed: before anything that is written in the demo."""

APPROVAL_SECONDS = 3000
"""How long a call waits for the person, who need not hurry in a tour."""

Served = tuple[Running, str]
"""The running server and the URL of its MCP port."""


def run_demo(app: str | None, *, browser: bool) -> int:
    """Serve until interrupted, showing the example `app`, or the tour without one."""
    return run(partial(_demo, app, browser=browser))


def example_apps() -> list[Path]:
    """Return the folders of the example apps, sorted by name."""
    folder = next((folder for folder in FOLDERS if folder.is_dir()), None)
    return sorted(path.parent for path in folder.glob("*/app.lua")) if folder else []


async def _demo(app: str | None, *, browser: bool) -> int:
    to_stderr()
    names = [folder.name for folder in example_apps()]
    if app is not None and app not in names:
        close = get_close_matches(app, names, 1)
        guess = f"Did you mean {close[0]}?" if close else f"There are: {', '.join(names)}"
        raise NotFoundError(f"No example named {app!r}\n{guess}")
    with tempfile.TemporaryDirectory(prefix="ui-mcp-demo-") as folder:
        async with until_signalled(), demo_server(Path(folder), tour=app is None) as (host, served):
            running, mcp_url = served
            if app is not None:
                await running.sessions.get("1").display(app)
            await announce(running, mcp_url)
            _print_next_steps(running, app, mcp_url)
            if browser:
                await _show(host)
            await anyio.sleep_forever()
    return 0


@asynccontextmanager
async def demo_server(folder: Path, *, tour: bool, pace: float = 1.0) -> AsyncIterator[tuple[UiServer, Served]]:
    """Serve a project below `folder` with the examples and the demo shop, and with the tour if wanted."""
    workspace = Workspace.at(folder / "project/.claude/ui")
    _copy_examples(workspace)
    announcements, listen_ports = Announcements(), ListenPorts()
    async with open_shop(folder) as shop, anyio.create_task_group() as tasks:
        shown = Tour(all_steps(), pace, shop.reset)
        flags = {
            "server.port": 0,
            "server.mcp_port": 0,
            "server.person_port": 0,
            "gateway.config": str(shop.config),
        }
        routes = tour_routes(shown) if tour else []
        async with open_host(flags, listen_ports, announcements, tour=routes) as host:
            await host.begin(str(workspace.base))
            served: Served = await tasks.start(_serving, host, listen_ports, announcements)
            tasks.start_soon(shown.serve, connection_to(served[1]))
            yield host, served
            tasks.cancel_scope.cancel()


async def _serving(
    host: UiServer,
    listen_ports: ListenPorts,
    announcements: Announcements,
    *,
    task_status: anyio.abc.TaskStatus[Served],
) -> None:
    async def ready(running: Running, mcp_url: str) -> None:
        task_status.started((running, mcp_url))

    await serve_on_ports(host, listen_ports, announcements, ready)


def _print_next_steps(running: Running, app: str | None, mcp_url: str) -> None:
    """Print what a first-time user can try next."""
    folder = running.workspace.apps / (app or "dashboard")
    views = (folder / "viewdefs").glob("*.DEFAULT.html")
    view = min(views, key=lambda file: len(file.name), default=folder)
    see = "the app, with the chat beside it" if app else "an agent builds an app before your eyes, in a minute"
    hosts = "“Connect an agent” on the page" if app else "the last card of the tour"
    sys.stdout.write(
        f"""
What next:
  See it                open the address after "You": {see}
  Change it             edit {view}
                        and save: the page updates immediately
  Connect your agent    claude mcp add --transport http ui {mcp_url}/mcp
                        ({hosts} has a line for every host)
  Use it in a project   ui-mcp setup, in the project's directory
Everything here is temporary and is deleted when you press Ctrl+C.
"""
    )
    sys.stdout.flush()


def _copy_examples(workspace: Workspace) -> None:
    for source in example_apps():
        copy = Path(shutil.copytree(source, workspace.apps / source.name))
        # The start page shows what was changed last first.
        since = BEST_FIRST.index(source.name) if source.name in BEST_FIRST else len(BEST_FIRST)
        os.utime(copy / "app.lua", times=(_COPIED - since, _COPIED - since))


async def _show(host: UiServer) -> None:
    try:
        await open_browser.body(host, OpenBrowserArgs(), Call())
    except UiMcpError:
        return  # no browser here; the address has been printed


@dataclass(frozen=True, slots=True)
class Shop:
    config: Path
    """The gateway's configuration, which names the shop."""
    reset: Callable[[], None]
    """Takes all orders back to the beginning."""


@asynccontextmanager
async def open_shop(folder: Path) -> AsyncIterator[Shop]:
    """Serve the shop while the block runs; `folder` is for what the gateway keeps, outside of any project."""
    orders = first_orders()
    async with anyio.create_task_group() as tasks:
        url = await tasks.start(serve_demo_api, orders)
        config = folder / "nlui.yaml"
        settings = {
            "data_dir": str(folder / "gateway"),
            "targets": [{"name": "shop", "base_url": url}],
            "policy": {"mode": "guard"},
            "approvals": {"sync_wait_s": APPROVAL_SECONDS},
        }
        config.write_text(dumps(settings), encoding="utf-8")  # JSON is YAML
        yield Shop(config, lambda: orders.update(first_orders()))
        tasks.cancel_scope.cancel()
