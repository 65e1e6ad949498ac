"""Files for browsers: read whole or in part, typed the same on every machine."""

from pathlib import Path

import httpx2
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from ui_mcp.webserver.static import MAX_PACKED, SMALL, Files

PLAIN = {"accept-encoding": "identity"}
GZIP = {"accept-encoding": "gzip, br"}


def client(folder: Path) -> httpx2.AsyncClient:
    files = Files((folder,), confine=(folder,))

    async def answer(request: Request) -> Response:
        return await files.find(request.path_params["path"], request.scope) or Response(status_code=404)

    app = Starlette(routes=[Route("/{path:path}", answer, methods=["GET"])])
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app=app), base_url="http://page", headers=PLAIN)


@pytest.mark.covers("UI-HTTP-5")
@pytest.mark.parametrize("size", [0, 10, SMALL, SMALL + 1])
async def test_small_and_large_files_are_answered_alike(tmp_path: Path, size: int) -> None:
    content = b"x" * size
    (tmp_path / "file.js").write_bytes(content)
    async with client(tmp_path) as browser:
        whole = await browser.get("/file.js")
        again = await browser.get("/file.js", headers={"if-none-match": whole.headers["etag"]})
        head = await browser.head("/file.js")
        part = await browser.get("/file.js", headers={"range": "bytes=0-3"})

    assert (whole.status_code, whole.content) == (200, content)
    assert whole.headers["content-type"] == "text/javascript; charset=utf-8"
    assert (again.status_code, again.content) == (304, b"")
    assert head.headers["content-length"] == whole.headers["content-length"] == str(size)
    assert (part.status_code, part.content) == ((206, content[:4]) if size else (416, b""))


@pytest.mark.covers("UI-HTTP-5")
async def test_other_kinds_are_known_to_the_machine_and_missing_files_are_not_found(tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(b"png")
    async with client(tmp_path) as browser:
        picture, missing = await browser.get("/picture.png"), await browser.get("/missing.png")
        impossible = await browser.get(f"/{'x' * 300}.png")

    assert picture.headers["content-type"] == "image/png"
    assert (missing.status_code, impossible.status_code) == (404, 404)


@pytest.mark.covers("UI-PAGE-9")
async def test_scripts_and_styles_are_sent_compressed_to_browsers_that_can_read_it(tmp_path: Path) -> None:
    script = b"let x = 1;" * 500
    (tmp_path / "main.js").write_bytes(script)
    (tmp_path / "short.js").write_bytes(b"1")
    (tmp_path / "page.html").write_bytes(b"<p>" * 500)
    async with client(tmp_path) as browser:
        plain, packed = await browser.get("/main.js"), await browser.get("/main.js", headers=GZIP)
        again = await browser.get("/main.js", headers={**GZIP, "if-none-match": packed.headers["etag"]})
        other = await browser.get("/main.js", headers={"if-none-match": packed.headers["etag"]})
        part = await browser.get("/main.js", headers={**GZIP, "range": "bytes=0-3"})
        short, page = await browser.get("/short.js", headers=GZIP), await browser.get("/page.html", headers=GZIP)
        (tmp_path / "main.js").write_bytes(script + b"2")
        changed = await browser.get("/main.js", headers=GZIP)

    assert plain.content == packed.content == script
    assert (packed.headers["content-encoding"], int(packed.headers["content-length"]) < 200) == ("gzip", True)
    assert plain.headers["vary"] == packed.headers["vary"] == "Accept-Encoding"
    assert (again.status_code, other.status_code, part.content) == (304, 200, script[:4])
    assert not [one for one in (plain, part, short, page) if "content-encoding" in one.headers]
    assert changed.content == script + b"2"


@pytest.mark.covers("UI-PAGE-9")
@pytest.mark.parametrize(("size", "encoding"), [(SMALL + 1, "gzip"), (MAX_PACKED, "gzip"), (MAX_PACKED + 1, None)])
async def test_the_large_scripts_of_elements_are_compressed_too(
    tmp_path: Path, size: int, encoding: str | None
) -> None:
    (tmp_path / "chart.js").write_bytes(b"x" * size)
    async with client(tmp_path) as browser:
        found = await browser.get("/chart.js", headers=GZIP)

    assert (found.headers.get("content-encoding"), len(found.content)) == (encoding, size)
