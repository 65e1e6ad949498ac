"""The pages of a person's origin: no secret is in them, a nonce for the requests of the page is."""

from collections.abc import Sequence
from pathlib import Path
from secrets import token_urlsafe

from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route

from ui_mcp.httpd.error_page import not_found
from ui_mcp.webserver.person_auth import PageNonces
from ui_mcp.webserver.static import Files
from ui_mcp.workspace import BUNDLE

PERSON_FOLDER = BUNDLE / "web" / "person"
BUILT_PAGE = PERSON_FOLDER / "index.html"
PLAIN_PAGE = Path(__file__).with_name("person.html")
_NONE = "'none'"
_MISSING = "The page is missing from this installation; build it with: make web\n"


def person_html(file: Path, nonces: PageNonces, *, frames: Sequence[str] = ()) -> Response:
    """Serve a page with a fresh nonce for its requests, and one (`{{nonce}}`) for its scripts and styles."""
    if not file.is_file():
        return PlainTextResponse(_MISSING, 500)
    script = token_urlsafe(16)
    html = file.read_text(encoding="utf-8").replace("{{nonce}}", script)
    html = html.replace("<head>", f'<head>\n<meta name="ui-nonce" content="{nonces.mint()}">', 1)
    policy = (
        f"default-src 'none'; script-src 'self' 'nonce-{script}'; style-src 'self' 'nonce-{script}'; "
        f"img-src 'self' data:; font-src 'self'; connect-src 'self'; frame-src {' '.join(frames) or _NONE}; "
        "form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
    )
    return HTMLResponse(html, headers={"Content-Security-Policy": policy, "Cache-Control": "no-store"})


def person_page() -> Path:
    """Return the page that was built, or the plain one that only asks for a code."""
    return BUILT_PAGE if BUILT_PAGE.is_file() else PLAIN_PAGE


def file_route(path: str, folder: Path) -> Route:
    """Serve the files of a page."""
    files = Files((folder,), confine=(folder,))

    async def file(request: Request) -> Response:
        found = await files.find(request.path_params["path"], request.scope)
        return found or not_found(request)

    return Route(f"{path}/{{path:path}}", file, methods=["GET"])
