"""A shop that shows its invoices to those who have sent a code."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

CODE = "735-198"
STYLE = """<!doctype html><html lang=en><meta name=viewport content="width=device-width"><title>Shop</title><style>
:root { color-scheme: light dark }
body { font: 20px/1.5 system-ui, sans-serif; max-width: 24em; margin: 12vh auto; padding: 0 1em }
input, button { font: inherit; padding: .4em .8em }
input { width: 8em }
button { border: 0; border-radius: 8px; background: #3a57d6; color: #fff }
</style>"""
FORM = (
    f"{STYLE}<h1>Sign in</h1><form method=post><label>Code <input name=code></label> <button>Continue</button></form>"
)
INSIDE = f"{STYLE}<h1>Invoices</h1><ul><li>March: 12.50</li><li>April: 8.00</li></ul>"


class Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self._answer(200, INSIDE if "session=" in self.headers.get("Cookie", "") else FORM)

    def do_POST(self) -> None:
        sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
        if sent == f"code={CODE}":
            self._answer(303, "", ("Location", "/invoices"), ("Set-Cookie", "session=secret"))
        else:
            self._answer(200, FORM)

    def log_message(self, *_: object) -> None:
        """Print nothing."""

    def _answer(self, status: int, html: str, *headers: tuple[str, str]) -> None:
        self.send_response(status)
        for name, value in (*headers, ("Content-Type", "text/html"), ("Content-Length", str(len(html)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(html.encode())


@contextmanager
def site() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Site) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
