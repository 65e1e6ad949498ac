"""Pages for reading: the guides of `resources/`, and the README of an app."""

from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

from anyio import to_thread
from markdown_it import MarkdownIt
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from ui_mcp.errors import RefusedError, ResourceNotFoundError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.lua_runtime.permissions import Permissions
from ui_mcp.toolkit.resources import ResourceContent
from ui_mcp.ui.resource_files import BUNDLED, SCHEME, folder_entries, read_file
from ui_mcp.ui.server import UiServer
from ui_mcp.webserver import static
from ui_mcp.webserver.responses import PAGE_HEAD, failure
from ui_mcp.workspace import Workspace

GUIDES = "/api/resource"
# No scripts but ours, no requests: the text may come from a cloned project, and shares its origin with tools.
POLICY = (
    "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; img-src 'self' data:; "
    "font-src 'self'; base-uri 'none'"
)
Admit = Callable[[Request], Response | None]
"""Returns the response to a visitor who may not read here, or None."""

_PAGE = (
    PAGE_HEAD
    + """\
<style>
  body {{ margin: 0; background: var(--term-bg); color: var(--term-text); font: 16px/1.6 var(--term-sans); }}
  header {{ display: flex; gap: 12px; align-items: center; padding: 10px 16px; background: var(--term-bg-elevated);
    border-bottom: 1px solid var(--term-border); font-size: 14px; }}
  header nav {{ flex: 1; min-width: 0; overflow-wrap: anywhere; }}
  main {{ max-width: 46rem; margin: 0 auto; padding: 16px 20px 64px; overflow-wrap: break-word; }}
  a {{ color: var(--term-accent); }}
  h1, h2, h3 {{ line-height: 1.25; margin: 1.6em 0 .5em; }}
  h1 {{ margin-top: .6em; font-size: 1.7rem; }}
  pre {{ padding: 12px 14px; overflow: auto; border: 1px solid var(--term-border); border-radius: 8px;
    background: var(--term-bg-elevated); font: 13px/1.5 var(--term-mono); }}
  code {{ font: .9em var(--term-mono); }}
  :not(pre) > code {{ padding: 1px 5px; border-radius: 5px; background: var(--term-bg-hover); }}
  .table {{ overflow-x: auto; }}
  table {{ border-collapse: collapse; font-size: 14px; }}
  th, td {{ padding: 6px 10px; border: 1px solid var(--term-border); text-align: left; vertical-align: top; }}
  blockquote {{ margin: 0; padding-left: 14px; border-left: 3px solid var(--term-accent);
    color: var(--term-text-dim); }}
  img {{ max-width: 100%; }}
  .list {{ padding: 0; list-style: none; }}
  .list li {{ display: flex; gap: 12px; justify-content: space-between; padding: 8px 2px;
    border-bottom: 1px solid var(--term-border); }}
  .list small {{ color: var(--term-text-muted); white-space: nowrap; }}
</style>
</head>
<body>
{header}<main>
{body}
</main>
</body>
</html>
"""
)
_HEADER = """\
<header><nav aria-label="Where you are">{trail}</nav><select data-theme-switch aria-label="Theme"></select></header>
"""


class GuidePages:
    """Serves guides and READMEs as pages to browsers, and as they are to programs."""

    def __init__(self, host: UiServer, admit: Admit) -> None:
        self._host = host
        self._admit = admit

    async def resource(self, request: Request) -> Response:
        """Serve a folder or a file of `resources/`."""
        if refusal := self._admit(request):
            return refusal
        path: str = request.path_params.get("path", "").strip("/")
        try:
            entries = await to_thread.run_sync(folder_entries, path, self._folders())
            if entries is not None:
                return _listing(request, path, entries)
            content = await to_thread.run_sync(read_file, f"{SCHEME}{path}", path, self._folders())
        except (ResourceNotFoundError, RefusedError):
            return failure(request, 404, "Not found", f"There is no guide {path!r}")
        return _shown(request, _trail(path), content)

    async def readme(self, request: Request) -> Response:
        """Serve the README.md of an app, however its name is written."""
        if refusal := self._admit(request):
            return refusal
        app: str = request.path_params["app"]
        text = await to_thread.run_sync(read_readme, self._host.configured().workspace, app)
        if text is None:
            return failure(request, 404, "Not found", f"There is no README.md in apps/{app}")
        content = ResourceContent("", "text/markdown", text)
        return _shown(request, f"apps / {escape(app)}", content)

    def _folders(self) -> list[Path]:
        return [self._host.configured().workspace.resources, BUNDLED]


def guide_routes(
    host: UiServer, admit: Admit = lambda _: None, *, readmes: Sequence[str] = ("/api/readme/{app}",)
) -> Sequence[BaseRoute]:
    """Return the routes of guides, and of READMEs at each of the addresses."""
    pages = GuidePages(host, admit)
    return [
        Route(GUIDES, pages.resource, methods=["GET"]),
        Route(f"{GUIDES}/{{path:path}}", pages.resource, methods=["GET"]),
        *(Route(path, pages.readme, methods=["GET"]) for path in readmes),
    ]


def read_readme(workspace: Workspace, app: str) -> str | None:
    """Return the text of an app's README, or None; links may lead anywhere inside the project."""
    permissions = Permissions({"base_dir": workspace.base, "project": workspace.project, "permissions": {}})
    files = static.Files((workspace.apps,), confine=(workspace.project, workspace.base), hidden=permissions.protects)
    try:
        names = [file.name for file in (workspace.apps / app).iterdir() if file.name.lower() == "readme.md"]
    except (OSError, ValueError):
        return None
    for name in sorted(names):
        found, stat = files.lookup_path(f"{app}/{name}")
        if stat is not None and stat.st_size <= static.SMALL:
            return Path(found).read_text(encoding="utf-8", errors="replace")
    return None


def _shown(request: Request, trail: str, content: ResourceContent) -> Response:
    if not isinstance(content.body, str):
        return Response(content.body, media_type=content.mime_type)
    if content.mime_type != "text/markdown" or not _wants_page(request):
        # Never as HTML or script: the text may come from a cloned project.
        return PlainTextResponse(content.body, headers={"X-Content-Type-Options": "nosniff"})
    body = rendered(content.body)
    return _page(trail, body)


def rendered(markdown: str) -> str:
    """Return Markdown as HTML; HTML in the text is shown, not interpreted."""
    html: str = MarkdownIt("commonmark", {"html": False}).enable("table").render(_without_front_matter(markdown))
    return html.replace("<table>", '<div class="table"><table>').replace("</table>", "</table></div>")


def _without_front_matter(text: str) -> str:
    if not text.startswith("---\n"):
        return text
    head, mark, rest = text[4:].partition("\n---\n")
    return rest if mark and ":" in head else text


def _listing(request: Request, path: str, entries: list[JsonObject]) -> Response:
    if not _wants_page(request):
        return JSONResponse({"path": path, "entries": entries})
    base = f"{GUIDES}/{path}".rstrip("/")
    rows = "".join(
        f'<li><a href="{escape(base)}/{escape(one["name"])}{"/" if one["is_dir"] else ""}">{escape(one["name"])}</a>'
        f"<small>{'folder' if one['is_dir'] else _size(one['size'])}</small></li>"
        for one in entries
    )
    body = f'<h1>Guides</h1><ul class="list">{rows}</ul>' if entries else "<h1>Guides</h1><p>This folder is empty.</p>"
    return _page(_trail(path), body)


def _size(number: int) -> str:
    return f"{number} B" if number < 1024 else f"{number // 1024} kB"


def _trail(path: str) -> str:
    parts = [part for part in path.split("/") if part]
    links = [f'<a href="{GUIDES}/">Guides</a>']
    links += [
        f'<a href="{GUIDES}/{escape("/".join(parts[: at + 1]))}">{escape(part)}</a>' for at, part in enumerate(parts)
    ]
    return " / ".join(links)


def _page(trail: str, body: str) -> Response:
    title = trail.rpartition(" / ")[2].partition(">")[2].partition("<")[0] or trail.rpartition(" / ")[2]
    return _response(title, _HEADER.format(trail=trail), body)


def document_page(path: str, markdown: str) -> Response:
    """Return a Markdown file as a page of nothing but its text, for tabs and for the frames of apps."""
    return _response(escape(path.rpartition("/")[2]), "", rendered(markdown))


def _response(title: str, header: str, body: str) -> Response:
    html = _PAGE.format(title=title, header=header, body=body)
    return HTMLResponse(html, headers={"Cache-Control": "no-store", "Content-Security-Policy": POLICY})


def _wants_page(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "")
