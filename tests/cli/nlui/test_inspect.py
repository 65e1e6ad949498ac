"""What `nlui check` says of the model and, at a terminal, of what it waits for."""

import os
import subprocess
import sys
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from agreeing import agree_to_gateway
from ui_mcp.cli.nlui.inspect import line, print_model

DOCUMENT = b'{"openapi": "3.1.0", "info": {"title": "Slow", "version": "1"}, "paths": {"/a": {"get": {}}}}'


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_nlui_check_says_at_a_terminal_what_it_waits_for(tmp_path: Path) -> None:
    shown = threading.Event()

    class Slow(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            shown.wait(120)
            self.send_response(200)
            self.send_header("Content-Length", str(len(DOCUMENT)))
            self.end_headers()
            self.wfile.write(DOCUMENT)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    (tmp_path / "nlui.yaml").write_text(
        f"data_dir: ./data\ntargets: [{{name: slow, spec: 'http://127.0.0.1:{server.server_port}/openapi.json'}}]\n"
    )
    agree_to_gateway(tmp_path / "nlui.yaml")
    ours, theirs = os.openpty()
    command = [sys.executable, "-c", "from ui_mcp.cli.entry import nlui_main; raise SystemExit(nlui_main())", "check"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=theirs) as process:
        os.close(theirs)
        before = _until(ours, b"Waiting for slow (")
        shown.set()
        told = _until(ours, b"what is never said")
        assert process.stdout is not None
        report = process.stdout.read().decode()
    server.shutdown()
    os.close(ours)

    assert report == "slow: Slow 1: 1 ok, 0 degraded, 0 skipped\n"
    assert b"Waiting for slow (" in before
    assert told.endswith(b"\r\x1b[K")


def _until(terminal: int, wanted: bytes) -> bytes:
    told = b""
    with suppress(OSError):  # the other side was closed
        while wanted not in told and (part := os.read(terminal, 1000)):
            told += part
    return told


def test_many_sources_are_counted() -> None:
    assert line(["a", "b", "c", "d", "e", "f"], 3.2) == "Waiting for a, b, c, d and 2 more (3 s)"
    assert line([], 9) == ""


@pytest.mark.covers("GW-CLI-2")
@pytest.mark.parametrize(
    ("llm", "findings", "said"),
    [
        ({"provider": "scripted"}, 0, "llm: scripted\n"),
        (
            {"provider": "openai", "model": "m", "api_key": "k"},
            0,
            "llm: openai, m, https://api.openai.com/v1, key found\n",
        ),
        (
            {"api_base": "https://api.anthropic.com", "modell": "x"},
            2,
            """\
warning: unknown key llm.modell; did you mean model?
llm: anthropic, no model named, https://api.anthropic.com, no key
""",
        ),
    ],
)
def test_nlui_check_says_what_it_understood_of_the_model(
    llm: dict[str, str], findings: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert print_model(llm) == findings
    assert capsys.readouterr().out == said


@pytest.mark.covers("GW-CLI-2")
def test_nlui_check_names_the_providers_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert print_model({"provider": "openaii"}) == 1
    assert "llm: llm.provider: should be one of 'auto', 'anthropic'" in capsys.readouterr().out
