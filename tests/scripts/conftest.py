"""An installed project, with a space in its path, and a server with prepared answers."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from needs import missing
from ui_mcp.ui.base_dir.installer import install
from ui_mcp.workspace import Workspace

Run = Callable[..., subprocess.CompletedProcess[str]]


class Server:
    """Answers each request with the next (status, body); ends when there is none left."""

    def __init__(self, workspace: Workspace) -> None:
        self.asked: list[tuple[str, str | None]] = []
        self.answers: list[tuple[int, str]] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append((self.path, self.headers.get("Authorization")))
                if not outer.answers:  # what a stopped server looks like to a client
                    self.close_connection = True
                    return
                status, body = outer.answers.pop(0)
                self.send_response(status)
                self.send_header("Content-Length", str(len(body.encode())))
                self.end_headers()
                self.wfile.write(body.encode())

            def log_message(self, *arguments: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._http.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        workspace.mcp_port.write_text(str(self.port))
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    workspace = Workspace.at(tmp_path / "my project" / ".claude" / "ui")
    install(workspace)
    return workspace


@pytest.fixture
def server(workspace: Workspace) -> Iterator[Server]:
    server = Server(workspace)
    yield server
    server.close()


@pytest.fixture(params=["curl", "python3"])
def run(request: pytest.FixtureRequest, workspace: Workspace, tmp_path: Path) -> Run:
    """Run an installed script with only one HTTP client at hand."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("cat", "dirname", "readlink", "sed", "tail", "awk", "mkdir", "rm", "ln", "basename", "sleep", "sh"):
        (tools / name).symlink_to(_which(name))
    # The real interpreter: a `python3` on the path may be a wrapper that needs more tools.
    (tools / request.param).symlink_to(sys.executable if request.param == "python3" else _which(request.param))

    def run(script: str | Path, *arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        command = [str(workspace.base / script), *arguments]
        environment = {"PATH": str(tools), "http_proxy": "http://127.0.0.1:9"}
        return subprocess.run(
            command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=180, check=False
        )

    return run


def _which(name: str) -> str:
    found = next((place for folder in os.get_exec_path() if (place := Path(folder, name)).exists()), None)
    return str(found.resolve()) if found else missing(name)
