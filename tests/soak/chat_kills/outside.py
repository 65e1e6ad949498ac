"""What the product talks to: a shop whose orders are counted, and a model that answers each message with its name."""

import http.server
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from soak.chat_kills.history import History

ORDER = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}
ANSWER = {"200": {"description": "made", "content": {"application/json": {"schema": {"type": "object"}}}}}
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "shop", "version": "1"},
    "paths": {
        "/orders": {
            "post": {
                "operationId": "make_order",
                "requestBody": {"required": True, "content": {"application/json": {"schema": ORDER}}},
                "responses": ANSWER,
            }
        }
    },
}
NAMES = re.compile(r"\b(?:human|attacher)-\d+-\d+\b")


@contextmanager
def outside(folder: Path) -> Iterator[str]:
    """Serve both on one port that is not killed; provide its address."""
    history, writing = History(folder, "shop"), threading.Lock()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            given = json.loads(self.rfile.read(int(self.headers["content-length"])))
            if self.path == "/orders":
                with writing:
                    history.end(history.begin(f"order/{given['key']}", "exec", {}), {})
                self._reply("application/json", json.dumps({"made": given["key"]}))
            else:
                event = {"choices": [{"delta": {"content": _answer(given["messages"])}, "finish_reason": "stop"}]}
                self._reply("text/event-stream", f"data: {json.dumps(event)}\n\ndata: [DONE]\n\n")

        def _reply(self, kind: str, text: str) -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None: ...

    class Quiet(http.server.ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: object) -> None:
            """Say nothing: those who ask are killed while they wait."""

    server = Quiet(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def _answer(messages: list[dict[str, Any]]) -> str:
    """Return the names of the messages since the last answer, as one word."""
    since = [place for place, one in enumerate(messages) if one["role"] == "assistant" and one.get("content")]
    text = json.dumps(messages[since[-1] + 1 if since else 0 :])
    names = list(dict.fromkeys(NAMES.findall(text)))
    return f"re:{','.join(names)} says the model"
