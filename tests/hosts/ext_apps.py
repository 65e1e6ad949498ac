"""Operates the example servers of MCP Apps, mounted in `nlui`, in the chat page: `make ext-apps DIR=folder`.

The eight servers come from npm (`@modelcontextprotocol/server-*`, 2.x) into DIR, once. Each app is opened by a scripted
model, operated in its sandbox as a person would, and shown again after a reload. What they would load from elsewhere is
answered here: the globe's library from npm, map tiles of a colour each, three small pages of an encyclopedia. Ends with
a table, a picture of each app in DIR, and 1 if one of them could not be operated.
"""

import json
import os
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from struct import pack

from playwright.sync_api import BrowserContext, FrameLocator, Page, Route
from playwright.sync_api import Error as PageError

from chromium import launched
from conformance import node
from e2e.nlui_chat.conftest import say
from hosts.ext_apps_operated import APPS, Operated
from integration.nlui import nlui
from person_client import let_in

PREFIX = "@modelcontextprotocol/server-"
GLOBE = "cesium@1"
SECONDS = 60_000
FETCH = """
const links = { Alpha: ["Delta", "Epsilon"] };
const anchor = (name) => `<a href="/wiki/${name}" title="${name}">${name}</a>`;
const ordinary = globalThis.fetch;
globalThis.fetch = async (asked, options) => {
  const name = String(asked?.url ?? asked).split("wikipedia.org/wiki/")[1];
  if (name === undefined) return ordinary(asked, options);
  const found = (links[name] ?? ["Alpha", "Beta", "Gamma"]).map(anchor).join(" ");
  const text = `<title>${name} - Wikipedia</title><div id="mw-content-text"><p>${found}</p></div>`;
  return new Response(text, { headers: { "content-type": "text/html" } });
};
"""


@dataclass(frozen=True, slots=True)
class Row:
    """What became of one server."""

    name: str
    is_operated: bool
    said: str
    errors: Sequence[str]


def main(folder: Path, names: Sequence[str]) -> int:
    """Operate the servers with these names, or all."""
    install(folder)
    chosen = [name for name in APPS if not names or name in names]
    with tempfile.TemporaryDirectory() as place, chat(folder, Path(place)) as context_and_url:
        context, url = context_and_url
        rows = [operated(context, url, name, folder) for name in chosen]
    return report(rows)


def report(rows: Sequence[Row]) -> int:
    """Print the table; return the exit code."""
    for row in rows:
        print(f"| {row.name} | {'yes' if row.is_operated else 'NO'} | {row.said} | {'; '.join(row.errors[:2])} |")
    return 0 if all(row.is_operated for row in rows) else 1


def install(folder: Path) -> None:
    if (folder / "node_modules" / "cesium").is_dir():
        return
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "package.json").write_text('{"name": "ext-apps", "private": true}')
    packages = [*(f"{PREFIX}{app.package}@2" for app in APPS.values()), GLOBE]
    done = node.npm("install", "--no-fund", "--no-audit", "--loglevel=error", *packages, cwd=folder)
    if done.returncode:
        sys.exit(f"npm cannot install the servers:\n{done.stderr}")


@contextmanager
def chat(folder: Path, place: Path) -> Iterator[tuple[BrowserContext, str]]:
    """Run `nlui` with all servers and a browser that is let in."""
    (place / "nlui.yaml").write_text(json.dumps(configuration(folder, place)))
    homes = {"XDG_CONFIG_HOME": "c", "XDG_DATA_HOME": "d", "XDG_STATE_HOME": "s"}
    os.environ.update({name: str(place / part) for name, part in homes.items()}, HOME=str(place))  # for `let_in`, too
    with (
        nlui(place, "--port", "0", str(place / "nlui.yaml"), PATH=with_node()) as url,
        launched("--enable-unsafe-swiftshader") as browser,
    ):
        context = browser.new_context(viewport={"width": 1300, "height": 850})
        context.add_init_script(f"localStorage.setItem('ui-person', '{let_in(url)['x-ui-person']}')")
        answer_elsewhere(context, folder)
        yield context, url


def with_node() -> str:
    return f"{node.NODE.parent}{os.pathsep}{os.environ['PATH']}"


def answer_elsewhere(context: BrowserContext, folder: Path) -> None:
    """Answer what the globe asks of other machines."""
    context.route("https://cesium.com/**", lambda route: globe(route, folder))
    context.route("https://tile.openstreetmap.org/**", tile)


def configuration(folder: Path, place: Path, **listener: object) -> dict[str, object]:
    """Return the gateway's settings, after writing the files that they name."""
    (place / "pages.pdf").write_bytes(three_pages())
    (place / "fetch.mjs").write_text(FETCH)
    script = [
        {"when": {"tool_result": "."}, "emit": [{"say": "Here it is."}]},
        *(
            {"when": {"user": f"show {name}"}, "emit": [{"call": f"{name}__{app.tool}", "args": app.arguments(place)}]}
            for name, app in APPS.items()
        ),
        {"emit": [{"say": "What shall I show?"}]},
    ]
    return {
        "data_dir": str(place / "data"),
        "llm": {"provider": "scripted", "script": script},
        "mcp": {
            "startup_wait_ms": 120_000,
            "servers": [server(folder, place, name) for name in APPS],
            "server": listener,
        },
        "policy": {"mode": "guard", "rules": [{"tool": "*", "decision": "allow"}]},
    }


def server(folder: Path, place: Path, name: str) -> dict[str, object]:
    package = folder / "node_modules" / f"{PREFIX}{APPS[name].package}"
    [program, *_] = json.loads((package / "package.json").read_text())["bin"].values()
    before = ["--import", str(place / "fetch.mjs")] if name == "wiki" else []
    files = [str(place / "pages.pdf")] if name == "pdf" else []
    return {"name": name, "command": str(node.NODE), "args": [*before, str(package / program), *files, "--stdio"]}


def three_pages() -> bytes:
    """Return a PDF of three pages that say their number."""
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [4 0 R 6 0 R 8 0 R] /Count 3 >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number in (1, 2, 3):
        text = f"BT /F1 48 Tf 100 500 Td (Page number {number}) Tj ET"
        parts = f"/Contents {3 + 2 * number} 0 R /Resources << /Font << /F1 3 0 R >> >>"
        objects.append(f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] {parts} >>")
        objects.append(f"<< /Length {len(text)} >>\nstream\n{text}\nendstream")
    written, places = "%PDF-1.4\n", []
    for number, one in enumerate(objects, 1):
        places.append(f"{len(written):010d} 00000 n \n")
        written += f"{number} 0 obj\n{one}\nendobj\n"
    count = len(objects) + 1
    table = f"xref\n0 {count}\n0000000000 65535 f \n{''.join(places)}trailer << /Size {count} /Root 1 0 R >>\n"
    return f"{written}{table}startxref\n{len(written)}\n%%EOF\n".encode()


def globe(route: Route, folder: Path) -> None:
    asked = route.request.url.partition("?")[0].partition("/Build/Cesium/")[2]
    file = folder / "node_modules" / "cesium" / "Build" / "Cesium" / asked
    if asked and file.is_file():
        route.fulfill(path=file, headers={"access-control-allow-origin": "*"})
    else:
        route.fulfill(status=404, body="")


def tile(route: Route) -> None:
    """Answer with a tile in a colour of its own: a map of one colour looks the same after it was moved."""
    colour = sha256(route.request.url.encode()).digest()[:3]
    route.fulfill(body=one_pixel(colour), content_type="image/png", headers={"access-control-allow-origin": "*"})


def one_pixel(colour: bytes) -> bytes:
    parts = {b"IHDR": pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0), b"IDAT": zlib.compress(b"\0" + colour), b"IEND": b""}
    chunks = [pack(">I", len(data)) + kind + data + pack(">I", zlib.crc32(kind + data)) for kind, data in parts.items()]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def operated(context: BrowserContext, url: str, name: str, folder: Path) -> Row:
    """Open, operate and reload one app; a failure becomes its row."""
    page = context.new_page()
    errors: list[str] = []
    page.on("console", lambda message: errors.append(message.text[:120]) if message.type == "error" else None)
    try:
        page.goto(url)
        page.get_by_role("button", name="New conversation").click()
        say(page, f"show {name}")
        said = APPS[name].operate(Operated(page, opened(page)))
        page.screenshot(path=folder / f"{name}.png")
        page.reload()
        opened(page)
        row = Row(name, True, f"{said}; there again after a reload", errors)
    except (PageError, AssertionError) as error:
        page.screenshot(path=folder / f"{name}.png")
        row = Row(name, False, str(error).split("\n", maxsplit=1)[0][:300], errors)
    page.close()
    print(f"{'ok ' if row.is_operated else 'BAD'} {name}: {row.said}", flush=True)
    return row


def opened(page: Page) -> FrameLocator:
    """Return the app's frame once it shows something to operate."""
    return settled(page, page.frame_locator(".nlui-appframe iframe").frame_locator("iframe"))


def settled(page: Page, app: FrameLocator) -> FrameLocator:
    app.locator("button, canvas, select").first.wait_for(state="attached", timeout=SECONDS)
    body, last, until = app.locator("body"), "", time.monotonic() + 30
    while last != (last := body.inner_html(timeout=SECONDS)) and time.monotonic() < until:
        page.wait_for_timeout(1000)
    return app


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), sys.argv[2:]))
