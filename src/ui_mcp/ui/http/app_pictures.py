"""The pictures of an app: its icon, and how it looks, for the start page."""

import re
from html import escape
from pathlib import Path
from zlib import crc32

from starlette.responses import Response

from ui_mcp.workspace import Workspace

_PATH = re.compile(r"app/(?P<app>[A-Za-z0-9_-]{1,100})/(?:(?P<icon>favicon\.svg)|preview-(?P<theme>light|dark))")
_LETTER = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left} 0 {width} 32">'
    '<rect x="{left}" width="{width}" height="32" rx="{corner}" fill="hsl({hue} 55% 42%)"/>'
    '<text x="16" y="23" font-family="system-ui,sans-serif" font-size="20" font-weight="700" text-anchor="middle" '
    'fill="#fff">{letter}</text></svg>'
)
_MAX_BYTES = 1024 * 1024
_KINDS = {".svg": "image/svg+xml", ".webp": "image/webp", ".png": "image/png"}


def app_picture(workspace: Workspace, path: str) -> Response | None:
    """Return what `/app/NAME/favicon.svg` or `/app/NAME/preview-THEME` shows; None for any other path."""
    asked = _PATH.fullmatch(path)
    if asked is None:
        return None
    app = asked["app"]
    names = ("favicon.svg",) if asked["icon"] else (f"preview-{asked['theme']}.webp", "preview.webp", "preview.png")
    files = (workspace.apps / app / name for name in names)
    for file in files:
        if file.is_file() and workspace.contains(file) and file.stat().st_size <= _MAX_BYTES:
            return _answer(file.read_bytes(), file)
    return _answer(_letter(app, wide=not asked["icon"]).encode(), Path("letter.svg"))


def _answer(data: bytes, file: Path) -> Response:
    # As a page of its own, a drawing could run scripts.
    policy = {
        "Cache-Control": "no-cache",
        "Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'",
    }
    return Response(data, media_type=_KINDS[file.suffix], headers=policy)


def _letter(app: str, *, wide: bool) -> str:
    """Draw the first letter of an app on a colour of its own."""
    shape = {"left": -19, "width": 70, "corner": 0} if wide else {"left": 0, "width": 32, "corner": 7}
    return _LETTER.format(hue=crc32(app.encode()) % 360, letter=escape(app[0].upper()), **shape)
