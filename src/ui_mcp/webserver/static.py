"""Static files: bundled web components, the shared style, and files of several folders."""

import gzip
import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
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
MIN_PACKED, MAX_PACKED = 1024, 1024 * 1024
PACKED = frozenset({".css", ".js", ".json", ".svg"})
"""Files worth compressing. Pages are not: they may hold what is secret beside what a visitor chose."""

TYPES = {
    ".css": "text/css",
    ".html": "text/html",
    ".js": "text/javascript",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
"""Media types of page files, the same on every machine; others come from the system's list."""


class Files(StaticFiles):
    """Serves files from several folders; links may lead anywhere inside `confine`, except to `hidden` files."""

    def __init__(
        self,
        folders: Sequence[Path],
        confine: Sequence[Path],
        hidden: Callable[[str], bool] = lambda _: False,
        alias: Callable[[str], Path | None] = lambda _: None,
    ) -> None:
        super().__init__(directory=None, check_dir=False)
        self._folders = folders
        self._alias = alias
        self._confine = [folder.resolve() for folder in confine]
        self._hidden = hidden

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        if "\0" in path or ".." in Path(path).parts or Path(path).is_absolute():
            return "", None
        aliased = self._alias(path)
        for place in (*(folder / path for folder in self._folders), *([aliased] if aliased else [])):
            with suppress(OSError):  # the name is too long, or the file was just deleted
                found = place.resolve()
                confined = any(found.is_relative_to(root) for root in self._confine)
                if found.is_file() and confined and not self._hidden(str(found)):
                    return str(found), found.stat()
        return "", None

    async def find(self, path: str, scope: Scope) -> Response | None:
        """Return the file or a 304 response; None if there is no such file."""
        response = await to_thread.run_sync(self._answer, path, Headers(scope=scope))
        if response is not None:
            # A name with a content hash never gets other content.
            forever = HASHED.search(path) or path.startswith("vendor/")
            response.headers["Cache-Control"] = "public, max-age=31536000, immutable" if forever else "no-cache"
        return response

    def _answer(self, path: str, asked: Headers) -> Response | None:
        found, stat = self.lookup_path(path)
        if stat is None:
            return None
        file = Path(found)
        whole = FileResponse(file, stat_result=stat, media_type=TYPES.get(file.suffix))
        packed = file.suffix in PACKED and MIN_PACKED <= stat.st_size <= MAX_PACKED and "range" not in asked
        if packed:
            whole.headers["vary"] = "Accept-Encoding"
            packed = "gzip" in asked.get("accept-encoding", "")
        if packed:
            # Another representation of the file needs another tag.
            whole.headers["etag"] = f'{whole.headers["etag"][:-1]}-gzip"'
        if self.is_not_modified(whole.headers, asked):
            return NotModifiedResponse(whole.headers)
        if not packed and (stat.st_size > SMALL or "range" in asked):
            return whole
        del whole.headers["content-length"]  # the file may have changed since `stat`
        if packed:
            whole.headers["content-encoding"] = "gzip"
            return Response(_packed(found, stat.st_mtime_ns, stat.st_size), headers=whole.headers)
        return Response(file.read_bytes(), headers=whole.headers)


@lru_cache(maxsize=64)
def _packed(file: str, modified: int, size: int) -> bytes:
    """Return a file's content compressed; kept for the browsers that come later."""
    return gzip.compress(Path(file).read_bytes(), compresslevel=6, mtime=0)


WEB_FOLDER = BUNDLE / "web"

HOME = '<a class="page-home" href="./" aria-label="Start page" title="Start page"></a>'
"""Link to the start page; look.js draws the logo into it."""


def shared_style_route() -> Route:
    """Return the route of the shared style, for listeners that do not serve the bundled files."""
    files = Files((WEB_FOLDER,), confine=(WEB_FOLDER / "look",))

    async def look(request: Request) -> Response:
        found = await files.find(f"look/{request.path_params['path']}", request.scope)
        return found or PlainTextResponse("Not found\n", 404)

    return Route("/look/{path:path}", look, methods=["GET"])


WEB = BUNDLE / "web"


class Components:
    def __init__(self) -> None:
        self._files = Files((WEB,), confine=(WEB,))

    async def get(self, request: Request) -> Response:
        found = await self._files.find(f"vendor/{request.path_params['path']}", request.scope)
        return found or PlainTextResponse("Not found\n", 404)
