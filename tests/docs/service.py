"""A small HTTP API that describes itself, for the texts that name one: orders, pets, boats and the weather."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


def operation(name: str, *parameters: tuple[str, str], tag: str = "all") -> dict[str, Any]:
    return {
        "operationId": name,
        "tags": [tag],
        "parameters": [
            {"name": one, "in": where, "required": where == "path", "schema": {"type": "string"}}
            for one, where in parameters
        ],
        "responses": {"200": {"description": "ok"}},
    }


DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Shop", "version": "1"},
    "paths": {
        "/orders": {"get": operation("listOrders")},
        "/pets/{petId}": {"get": operation("getPetById", ("petId", "path"))},
        "/weather": {"get": operation("get", ("place", "query"))},
        "/boats": {"get": operation("list_boats", tag="harbour")},
        "/boats/{id}": {"delete": operation("delete_boat", ("id", "path"))},
    },
}
ANSWERS = {
    "/openapi.json": DOCUMENT,
    "/orders": [{"id": 1}],
    "/pets/5": {"id": 5, "name": "Rex"},
    "/weather": {"degrees": 21},
    "/boats": [{"id": 1}],
}


class Service(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        with suppress(BrokenPipeError):  # who looks for documents in many places hangs up early
            self.answer()

    def answer(self) -> None:
        found = ANSWERS.get(re.split(r"\?", self.path)[0])
        body = json.dumps(found).encode()
        self.send_response(404 if found is None else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the name it overrides
        """Stay quiet."""


@contextmanager
def served() -> Iterator[str]:
    """Serve it; yield its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Service) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
