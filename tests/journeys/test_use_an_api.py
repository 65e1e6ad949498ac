"""An agent uses an HTTP API through the gateway: the address is all it takes."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from journeys.conftest import Person, Telling
from journeys.hosts import StdioHost

pytestmark = pytest.mark.slow
INTRODUCTION = """# An API becomes tools

The library in this example stands for your own API: anything that publishes an OpenAPI document, found by its address.
To try the gateway without one, run `nlui`, which starts with a demo shop."""
BOOK = {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title"]}
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Library", "version": "1"},
    "paths": {
        "/books": {
            "get": {
                "operationId": "listBooks",
                "summary": "List the books",
                "parameters": [{"name": "word", "in": "query", "schema": {"type": "string"}}],
                "responses": {"200": {"description": "ok"}},
            },
            "post": {
                "operationId": "addBook",
                "summary": "Add a book",
                "requestBody": {"required": True, "content": {"application/json": {"schema": BOOK}}},
                "responses": {"201": {"description": "added"}},
            },
        }
    },
}


class Library(BaseHTTPRequestHandler):
    """A small service that describes itself at /openapi.json."""

    books = ("Middlemarch", "Walden")

    def do_GET(self) -> None:
        word = self.path.partition("word=")[2]
        found = [{"title": title} for title in self.books if word.lower() in title.lower()]
        known = {"/openapi.json": DOCUMENT, "/books": found}
        self.reply(known.get(self.path.partition("?")[0]), 200)

    def do_POST(self) -> None:
        self.reply(json.loads(self.rfile.read(int(self.headers["Content-Length"]))), 201)

    def reply(self, value: object, status: int) -> None:
        body = json.dumps(value).encode()
        self.send_response(status if value is not None else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the name it overrides
        """Stay quiet."""


@pytest.fixture
def library() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Library) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_an_agent_uses_an_api_from_its_bare_address(person: Person, tell: Telling, library: str) -> None:
    story = tell("use-an-api")
    story.say(INTRODUCTION)
    configuration = f"targets:\n  - name: library\n    base_url: {library}\n"
    (person.home / "nlui.yaml").write_text(configuration)
    story.file("nlui.yaml", "yaml", configuration)
    story.shell("nlui check nlui.yaml", person.run("nlui", "check", "nlui.yaml"))
    story.say("## The agent's host starts the gateway")
    with person.start("nlui", "--mcp", "nlui.yaml") as process:
        host = StdioHost(process, "2025-11-25", "agent")
        names = [tool["name"] for tool in host.ask("tools/list")["tools"]]
        assert "library__listBooks" in names, names
        found = host.call(story, "library__listBooks", word="wal")
        assert "Walden" in found
        assert "Middlemarch" not in found
        story.say("A call with invalid arguments is rejected before anything is sent, with a hint:")
        refused = host.ask("tools/call", name="library__addBook", arguments={"name": "Emma"})
        assert refused["isError"]
        story.call("library__addBook", {"name": "Emma"}, refused["content"][0]["text"])
        story.say("`--dry-run` shows the request without sending it:")
        words = ["call", "library__addBook", "--config", "nlui.yaml", "--arg", "title=Emma", "--dry-run"]
        story.shell(f"nlui {' '.join(words)}", person.run("nlui", *words))
