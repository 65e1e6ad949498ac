"""Who asks for a browser that is not there hears it at once."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Thread

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli.command import ui_mcp
from ui_mcp.errors import UiArgumentError, UiNotEnabledError
from ui_mcp.introspection.backends.chromium.debugger import require_debugger
from ui_mcp.introspection.backends.chromium.launch import complete_url


@contextmanager
def answering(words: bytes) -> Iterator[str]:
    """Listen, and say the same to whatever is asked; yield host and port."""

    class Answer(StreamRequestHandler):
        def handle(self) -> None:
            while self.rfile.readline().strip():
                pass
            self.wfile.write(words)

    with ThreadingTCPServer(("127.0.0.1", 0), Answer) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def unused() -> str:
    """Return a host and port without a listener."""
    with answering(b"") as address:
        return address


@pytest.mark.covers("IN-119")
def test_attaching_where_nothing_answers_is_refused_with_the_command_that_starts_a_browser(tmp_path: Path) -> None:
    address = unused()

    done = ui_mcp("attach", "--cdp", f"http://{address}", cwd=tmp_path)

    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[0] == f"ui-mcp: Nothing answers at http://{address}"
    assert f"chromium --remote-debugging-port={address.split(':')[1]} --user-data-dir=" in done.stderr
    assert not list(tmp_path.rglob("cdp.json"))


@pytest.mark.covers("IN-119")
@pytest.mark.parametrize("scheme", ["http", "ws"])
@pytest.mark.parametrize(
    "words",
    [
        b"HTTP/1.1 404 Not Found\r\n\r\nNot found",
        b"HTTP/1.1 200 OK\r\n\r\n<h1>A page</h1>",
        b'HTTP/1.1 200 OK\r\n\r\n{"status": "ok"}',
        b"HTTP/1.1 200 OK\r\n\r\n5",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nnot packed",
        b"HTTP/1.1 302 Found\r\nLocation: /json/version/\r\nContent-Length: 0\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"",
    ],
)
async def test_something_else_at_the_address_is_told_apart(scheme: str, words: bytes) -> None:
    with answering(words) as address, pytest.raises(UiNotEnabledError) as refused:
        await require_debugger(f"{scheme}://{address}")

    said = f"{scheme}://{address} answers, but is not a browser with an open debugging port\n"
    assert str(refused.value).startswith(said)
    assert refused.value.details == {"reason": "NO_BROWSER"}


@pytest.mark.covers("IN-119")
@pytest.mark.parametrize("text", ["example", "http://", "http://[", "http://127.0.0.1:99999", "ftp://127.0.0.1/"])
def test_what_is_no_address_is_not_asked(text: str) -> None:
    with pytest.raises(UiArgumentError, match="is not a complete URL"):
        complete_url(text)


@given(st.text() | st.from_regex(r"(https?|wss?|file):/{0,3}[\[\]@:/?#.\w]*", fullmatch=True))
def test_any_text_is_an_address_or_refused(text: str) -> None:
    with suppress(UiArgumentError):
        assert complete_url(text) == text
