"""`ui_update`: files of this version, and news of later ones only where an index is set."""

import http.server
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_mcp.errors import NotFoundError
from ui_mcp.jsontypes import JsonObject, loads
from ui_mcp.toolkit.tool import Call, Text
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.tools.update import newest, newest_release, update
from ui_mcp.version import Version, bundled_version

pytestmark = pytest.mark.covers("UI-TOOL-10")


@pytest.fixture
def index() -> Iterator[str]:
    """A package index that lists 9.1.0 and a pre-release."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = b'{"name": "ui-mcp", "versions": ["0.0.1", "9.1.0", "9.2.0-rc.1"]}'
            self.send_response(200 if self.path == "/simple/" else 404)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


async def called(host: UiServer, **arguments: object) -> JsonObject:
    [text] = (await update.run(host, arguments, Call())).content
    assert isinstance(text, Text)
    found: JsonObject = loads(text.text)
    return found


async def test_without_an_index_nothing_is_asked_and_the_files_are_updated(host: UiServer) -> None:
    script = host.configured().workspace.base / "event"
    script.unlink()

    report = await called(host)

    assert (report["current"], report["new_version"]) == (bundled_version(), bundled_version())
    assert report["needsUpdate"] is False
    assert "latest" not in report
    assert "[update]" in report["hint"]


async def test_a_check_writes_nothing(host: UiServer) -> None:
    assert "updated" not in await called(host, check=True)


async def test_the_newest_release_of_the_index_is_reported(index: str) -> None:
    assert await newest_release(f"{index}/simple/") == Version((9, 1, 0))


async def test_an_index_that_does_not_answer_is_named(index: str) -> None:
    with pytest.raises(NotFoundError, match="other"):
        await newest_release(f"{index}/other/")


@pytest.mark.parametrize(
    "text",
    [
        '{"versions": ["1.2.3", "0.9.0"]}',
        '{"info": {"version": "1.2.3"}}',
        '{"version": "1.2.3"}',
        '<a href="x">ui_mcp-1.2.3-py3-none-any.whl</a><a>ui_mcp-1.2.0.tar.gz</a>',
    ],
)
def test_every_form_of_an_index_is_read(text: str) -> None:
    assert newest(text) == Version((1, 2, 3))


@given(st.text())
def test_any_other_text_lists_nothing(text: str) -> None:
    assert newest(text) is None or "." in text
