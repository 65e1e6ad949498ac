"""A second server on this machine that keeps whatever browsers send to it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECONDS = 60


@dataclass(frozen=True, slots=True)
class Got:
    """One request."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Neighbour:
    """What arrived at the server."""

    url: str
    requests: list[Got] = field(default_factory=list)
    changed: threading.Condition = field(default_factory=threading.Condition)

    def wait_for(self, path: str) -> None:
        """Wait until a path was asked for."""
        with self.changed:
            found = self.changed.wait_for(lambda: any(one.path.startswith(path) for one in self.requests), SECONDS)
        assert found, f"{path} never came; there were {[one.path for one in self.requests]}"

    @property
    def paths(self) -> set[str]:
        """The paths that were asked for, without their queries."""
        return {one.path.partition("?")[0] for one in self.requests}


@contextmanager
def neighbour() -> Iterator[Neighbour]:
    """Run it for the length of the block."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            with seen.changed:
                seen.requests.append(Got(self.command, self.path, headers, body))
                seen.changed.notify_all()
            self.send_response(200)
            self.send_header("content-type", "text/html")
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        do_GET = do_POST = do_PUT = do_OPTIONS = answer

        def log_message(self, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        seen = Neighbour(f"http://127.0.0.1:{server.server_address[1]}")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield seen
        finally:
            server.shutdown()
