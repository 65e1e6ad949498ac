"""Static files and bundled pages (chat, nlui, components, shared style)."""

import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from anyio import to_thread
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.staticfiles import NotModifiedResponse, StaticFiles
from starlette.types import Scope

from ui_mcp.workspace import BUNDLE

HASHED = re.compile(r"-[A-Za-z0-9_-]{8,}\.\w+$")
SMALL = 256 * 1024

TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
"""What a page is made of, the same on every machine; for the rest the machine's own list has to be read."""


class Files(StaticFiles):
    """Looks for a file in several folders; links may lead anywhere inside `confine`, but to nothing `hidden`."""

    def __init__(
        self, folders: Sequence[Path], confine: Sequence[Path], hidden: Callable[[str], bool] = lambda _: False
    ) -> None:
        super().__init__(directory=None, check_dir=False)
        self._folders = folders
        self._confine = [folder.resolve() for folder in confine]
        self._hidden = hidden

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        """Return the first existing regular file."""
        if "\0" in path or ".." in Path(path).parts or Path(path).is_absolute():
            return "", None
        for folder in self._folders:
            with suppress(OSError):  # the name is too long, or the file goes while we look
                found = (folder / path).resolve()
                confined = any(found.is_relative_to(root) for root in self._confine)
                if found.is_file() and confined and not self._hidden(str(found)):
                    return str(found), found.stat()
        return "", None

    async def find(self, path: str, scope: Scope) -> Response | None:
        """Answer with the file, or 304; None when there is no such file."""
        response = await to_thread.run_sync(self._answer, path, Headers(scope=scope))
        if response is not None:
            forever = HASHED.search(path) or path.startswith("vendor/")
            response.headers["Cache-Control"] = "public, max-age=31536000, immutable" if forever else "no-cache"
        return response

    def _answer(self, path: str, asked: Headers) -> Response | None:
        found, stat = self.lookup_path(path)
        if stat is None:
            return None
        file = Path(found)
        whole = FileResponse(file, stat_result=stat, media_type=TYPES.get(file.suffix))
        if self.is_not_modified(whole.headers, asked):
            return NotModifiedResponse(whole.headers)
        if stat.st_size > SMALL or "range" in asked:
            return whole
        del whole.headers["content-length"]  # the file may be another by now
        return Response(file.read_bytes(), headers=whole.headers)


WEB_FOLDER = BUNDLE / "web"

HOME = '<a class="page-home" href="./" aria-label="Start page" title="Start page"></a>'
"""The way to the start page; look.js draws the mark into it."""


def shared_style_route() -> Route:
    """Return the route, for listeners that do not serve the bundled files anyway."""
    files = Files((WEB_FOLDER,), confine=(WEB_FOLDER / "look",))

    async def look(request: Request) -> Response:
        found = await files.find(f"look/{request.path_params['path']}", request.scope)
        return found or PlainTextResponse("Not found\n", 404)

    return Route("/look/{path:path}", look, methods=["GET"])


WEB = BUNDLE / "web"


class Components:
    """Serves `/vendor/…` from the package."""

    def __init__(self) -> None:
        self._files = Files((WEB,), confine=(WEB,))

    async def get(self, request: Request) -> Response:
        """Answer with one file."""
        found = await self._files.find(f"vendor/{request.path_params['path']}", request.scope)
        return found or PlainTextResponse("Not found\n", 404)
