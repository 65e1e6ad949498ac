"""The ASGI app of the UI port: the page, its files and icons."""

from collections.abc import Callable, Sequence
from html import escape
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from anyio import to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from ui_mcp.discovery import lazy
from ui_mcp.errors import LifecycleError, NotFoundError
from ui_mcp.jsontypes import loads
from ui_mcp.log import logger
from ui_mcp.lua_runtime.permissions import Permissions
from ui_mcp.ui.base_dir.file_layout import page_html
from ui_mcp.ui.base_dir.installer import outdated
from ui_mcp.ui.http.app_pictures import app_picture
from ui_mcp.ui.http.preloads import with_preloads
from ui_mcp.ui.http.session_cookies import SECRET, is_start, named_session, session_from_cookie, set_cookie
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.sessions.session import Session
from ui_mcp.webserver.responses import failure, session_link_required
from ui_mcp.webserver.static import Files
from ui_mcp.wire import OutputKind
from ui_mcp.workspace import BUNDLE, Workspace

# Only pages of Markdown need its parser.
if TYPE_CHECKING:
    from ui_mcp.ui.http.guide_routes import document_page
else:
    document_page = lazy("ui_mcp.ui.http.guide_routes:document_page")

_NOTICE = """\
<style>
#ui-stale { position: fixed; z-index: 2147483000; left: 16px; bottom: 16px; max-width: min(34rem, calc(100vw - 32px));
  box-sizing: border-box; display: flex; gap: 12px; align-items: start; padding: 12px 14px; border-radius: 10px;
  background: #1a2230; color: #fff; font: 14px/1.45 system-ui, sans-serif; box-shadow: 0 4px 24px rgb(0 0 0 / 30%) }
#ui-stale button { border: 0; background: none; color: inherit; font: 20px/1 system-ui; cursor: pointer }
</style>
<div id="ui-stale" role="status"><span>{stale}. Ask your agent to call <b>ui_install</b>, or run <b>ui-mcp install</b>,
then reload this page. Files you changed are kept.</span>
<button type="button" aria-label="Dismiss" onclick="this.parentNode.remove()">&times;</button></div>
"""


def with_notice(html: str, workspace: Workspace) -> str:
    """Append a notice to the page if the installed files are out of date."""
    stale = outdated(workspace)
    if stale is None:
        return html
    body, mark, rest = html.rpartition("</body>")
    notice = _NOTICE.replace("{stale}", escape(stale.partition(": call")[0]))
    return f"{body}{notice}{mark}{rest}" if mark else html + notice


_log = logger("httpd")

_DOT = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" fill="currentColor" viewBox="0 0 16 16">'
    '<circle cx="8" cy="8" r="3"/></svg>'
)

_MAX_LOGGED = 1000
MAX_RENDERED = 256 * 1024
_MAX_ALIASES = 1000

PACKED_ICONS = BUNDLE / "web" / "vendor" / "shoelace" / "icons.tsv"


class Icons:
    """Serves an icon for every name: a missing one is logged and replaced, so that the page is never broken."""

    def __init__(self, files: Files, packed: Path = PACKED_ICONS) -> None:
        self._files = files
        self._packed = packed
        self._logged: set[str] = set()

    async def get(self, request: Request) -> Response:
        name = request.path_params["name"]
        own = await self._files.find(f"icons/{name}.svg", request.scope)
        if own:
            return own
        drawing = await to_thread.run_sync(packed_icon, self._packed, name)
        if drawing is None:
            near = near_name(name)
            drawing = await to_thread.run_sync(packed_icon, self._packed, near)
            self._log_missing(name, f"{near!r} stands in" if drawing else "a dot stands in")
            return Response(drawing or _DOT, media_type="image/svg+xml", headers={"Cache-Control": "no-cache"})
        # A day: the drawing never changes, but the project may add an icon of this name.
        return Response(drawing, media_type="image/svg+xml", headers={"Cache-Control": "public, max-age=86400"})

    def _log_missing(self, name: str, meanwhile: str) -> None:
        if name not in self._logged and len(self._logged) < _MAX_LOGGED:
            self._logged.add(name)
            _log.warning("There is no icon %r, %s; put %s.svg into html/icons/ of the project", name, meanwhile, name)


def packed_icon(packed: Path, name: str) -> bytes | None:
    """Return one icon of the file that holds all, a line each with name and drawing; the others are not read."""
    key = f"\n{name}\t".encode()
    if not packed.is_file() or key.count(b"\n") > 1:
        return None
    with packed.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as whole:
        at = whole.find(key)
        return whole[at + len(key) : whole.find(b"\n", at + 1)] if at >= 0 else None


def near_name(name: str) -> str:
    """Return the outline variant of a filled icon, and the filled variant of an outline."""
    return name.removesuffix("-fill") if name.endswith("-fill") else f"{name}-fill"


GONE = "A session may have ended, or the address has a mistake."

Decorate = Callable[[str, Workspace, str, int], str]
"""Adds theme links, icon and the MCP port to `index.html`, for the session with this number."""


class Aliases:
    """Paths that apps asked to link into `html/`, and the files or directories that are served there."""

    def __init__(self) -> None:
        self._targets: dict[str, Path] = {}

    def note(self, kind: str, text: str) -> None:
        """Add the alias in an `alias` note of a worker, which has checked it; other kinds are ignored."""
        if kind == OutputKind.ALIAS and len(self._targets) < _MAX_ALIASES:
            found = loads(text)
            self._targets[str(found["name"])] = Path(str(found["target"]))

    def find(self, path: str) -> Path | None:
        """Return what a requested path stands for, or None if it is below no alias."""
        first, _, rest = path.partition("/")
        target = self._targets.get(first)
        return target / rest if target is not None else None


def files_for(workspace: Workspace, aliases: Aliases | None = None) -> Files:
    """Return the static files: the project's `html/`, then the bundled page, components, and what apps linked."""
    bundled = (BUNDLE / "base" / "html", BUNDLE / "web")
    apps = Permissions({"base_dir": workspace.base, "project": workspace.project, "permissions": {}})
    find = aliases.find if aliases else lambda _: None
    return Files(
        (workspace.html, *bundled),
        confine=(workspace.project, workspace.base, *bundled),
        hidden=apps.protects,
        alias=find,
    )


class Pages:
    """Serves the pages of one running server."""

    def __init__(self, host: UiServer, workspace: Workspace, decorate: Decorate, aliases: Aliases) -> None:
        self._host = host
        self._workspace = workspace
        self._files = files_for(workspace, aliases)
        self._decorate = decorate
        self.icons = Icons(self._files)

    async def root(self, request: Request, address: str = "") -> Response:
        """Serve `/`, or an app's address: the page of the shared session, or a redirect to a session of the visitor."""
        running = self._host.running()
        known = session_from_cookie(request, running.sessions)
        if running.config.server.require_token and not known:
            return session_link_required(request)
        if running.config.session.root == "shared":
            return self._page(request, running.sessions.get("1"))
        session = known or await running.sessions.create()
        return set_cookie(
            RedirectResponse(f"/{session.secret}/{quote(address)}", 307), request, running.sessions, session
        )

    async def anything(self, request: Request) -> Response:
        """Serve a file, or the page for any path below a session's id."""
        path: str = request.path_params["path"]
        if "text/html" in request.headers.get("accept", "") and (
            text := await to_thread.run_sync(self._markdown, path)
        ):
            return document_page(path, text)
        if file := await self._files.find(path, request.scope):
            return file
        first, _, rest = path.partition("/")
        if picture := await to_thread.run_sync(app_picture, self._workspace, path):
            return picture if self._may_see(request) else session_link_required(request)
        if is_start(first, self._host) or (first == "app" and rest):
            return await self.root(request, path)
        sessions = self._host.running().sessions
        if session := named_session(first, request, sessions):
            return self._page(request, session)
        if SECRET.fullmatch(first) and sessions.has(first):
            return session_link_required(request)
        text = f"There is no page at /{path}. {GONE}"
        return failure(request, 404, "Not found", text, start=True)

    def _may_see(self, request: Request) -> bool:
        running = self._host.running()
        return not running.config.server.require_token or session_from_cookie(request, running.sessions) is not None

    def _markdown(self, path: str) -> str | None:
        """Return the text of a Markdown file that is served here, None if it is anything else or large."""
        if not path.lower().endswith(".md"):
            return None
        found, stat = self._files.lookup_path(path)
        if stat is None or stat.st_size > MAX_RENDERED:
            return None
        return Path(found).read_text(encoding="utf-8", errors="replace")

    def _page(self, request: Request, session: Session) -> Response:
        index = page_html(self._workspace)
        if index is None:
            text = "The page is missing from this installation; run: ui-mcp install --force"
            return failure(request, 500, "The page is missing", text)
        running = self._host.running()
        html = self._decorate(index, self._workspace, session.vended, running.mcp_port)
        html = with_preloads(html, request.url.path, session, running.sessions.viewdefs.store)
        html = with_notice(html, self._workspace)
        # Theme links and notices change while index.html stays the same.
        response = HTMLResponse(html, headers={"Cache-Control": "no-store"})
        return set_cookie(response, request, running.sessions, session)


def ui_app(pages: Pages, extra: Sequence[BaseRoute]) -> Starlette:
    """Build the app of the UI port; `extra` routes (WebSocket, variables, chat) come before files."""
    return Starlette(
        routes=[
            *extra,
            Route("/", pages.root, methods=["GET"]),
            Route("/icons/{name}.svg", pages.icons.get, methods=["GET"]),
            Route("/{path:path}", pages.anything, methods=["GET"]),
        ],
        exception_handlers={404: _missing, LifecycleError: _unavailable, NotFoundError: _unavailable},
    )


async def _missing(request: Request, error: Exception) -> Response:
    return failure(request, 404, error.detail if isinstance(error, HTTPException) else "Not found", GONE, start=True)


async def _unavailable(request: Request, error: Exception) -> Response:
    """Respond with 503 while sessions are being started or stopped."""
    text = "The server is being started or stopped; try again in a moment."
    return failure(request, 503, "Not now", text, start=True)
