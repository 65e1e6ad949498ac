"""`ui://{path}`: guides and other files of the project's `resources/` folder, or else of the bundled one."""

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote

from anyio.to_thread import run_sync

from ui_mcp.errors import ResourceNotFoundError
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.toolkit.resources import Resource, ResourceContent, ResourceTemplate
from ui_mcp.toolkit.tool import Call
from ui_mcp.ui.resource_files import BUNDLED, SCHEME, listed_files, read_file
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.states import Unconfigured

CATCH_ALL = True
"""This family matches any path, so it is tried last."""

GUIDES = {
    "reference": ("Platform reference", "Start here: how the platform works, its files, tools and rules, in one page."),
    "viewdefs": ("Viewdef guide", "HTML templates: every ui-* attribute, path syntax, lists, namespaces, components."),
    "components": ("Component catalogue", "Tables and other elements beyond HTML and Shoelace, with snippets to copy."),
    "cookbook": (
        "Cookbook",
        "25 tasks, each a small app to copy: lists, forms, tables, charts, files, addresses, keys.",
    ),
    "lua": ("Lua guide", "Lua API: prototypes, session, mcp, ui, timers, hot loading, permissions and limits."),
    "mcp": ("Agent guide", "Building and operating an app as an agent: the workflow, the event loop, the checks."),
}


class Files:
    """Serves files below `resources/` and nothing outside it, in every state of the server."""

    def __init__(self, host: UiServer) -> None:
        self._host = host

    async def resources(self, call: Call) -> Sequence[Resource]:
        """Return the guides, then the other files by name."""
        guides = [
            Resource(f"{SCHEME}{name}", name, about, "text/markdown", title) for name, (title, about) in GUIDES.items()
        ]
        return guides + await run_sync(lambda: list(listed_files(self._folders(), {f"{name}.md" for name in GUIDES})))

    async def templates(self, call: Call) -> Sequence[ResourceTemplate]:
        about = "A file of the resources directory; `.md` may be left out. Example: ui://patterns/form.md"
        return [ResourceTemplate("ui://{path}", "resource file", about, title="Resource files")]

    async def read(self, uri: str, call: Call) -> Sequence[ResourceContent]:
        """Read one file.

        Raises:
            ResourceNotFoundError: there is no such file, or the name belongs to a live resource.
            RefusedError: the path leaves `resources/`, or the file is too large.
        """
        if not uri.startswith(SCHEME):
            raise ResourceNotFoundError(uri)
        return [await run_sync(read_file, uri, unquote(uri.removeprefix(SCHEME)), self._folders())]

    def _folders(self) -> list[Path]:
        state = self._host.state
        return [BUNDLED] if isinstance(state, Unconfigured) else [state.workspace.resources, BUNDLED]


def provide(host: UiServer, announcements: Announcements) -> Files:
    return Files(host)
