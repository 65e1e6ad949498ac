"""Four Chromium pages write into one book while its worker and its server are killed; a model outside checks the book.

`make crash`, with EDITS=10000 KILLS=200 DATABASE="sqlite postgres" SEED=24, or python -m soak.crash in this folder's
parent. An edit counts as acknowledged when the page was notified, on its WebSocket, that the frame with it is saved.
"""

import argparse
import json
import random
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg
from playwright.sync_api import Page, WebSocket

from chat.conftest import postgres_cluster
from chromium import launched
from integration.state_kills.book import Model, Server
from ui_mcp.wire import MessageType

PAGES = 4
WORKER_KILLS = 2
"""In a row: the third crash of a worker within a minute would end the session."""
APP = """
local Entry = session:prototype("Entry", { text = "" })
Book = session:prototype("Book", { entries = EMPTY, text = "", note = "", last = EMPTY, listing = "" })
local written = 0
function Book:write()
  written = written + 1
  self.entries = self.entries or {}
  self.last = Entry:new({ text = self.text, before = self.last, number = written })
  table.insert(self.entries, self.last)
end
function Book:newest() return self.last and self.last.text or "" end
function Book:list()
  local texts, n, entry = {}, 0, self.last
  while entry do n, entry = n + 1, entry.before end
  for i, one in ipairs(self.entries or {}) do texts[i] = one.text end
  self.listing = self.text .. "#" .. table.concat(texts, " ") .. "|" .. n .. "|" .. written
end
if not session.reloading then
  book = Book:new()
  mcp.display("book")
end
"""
VIEW = """<template><div>
<input class="draft" aria-label="Draft" ui-value="note">
<input class="text" aria-label="Text" ui-value="text"><button class="write" ui-action="write()">+</button>
<p class="newest" ui-value="newest()"></p>
<button class="list" ui-action="list()">List</button>
<p class="listing" ui-value="listing"></p>
</div></template>"""
# One task, hence one frame; it does not touch the focus, which stays in the draft.
EDIT = """([text, css]) => {
  const input = document.querySelector(".text"), button = document.querySelector(css);
  if (input === null || button === null) return false;
  input.value = text;
  input.dispatchEvent(new Event("input", {bubbles: true}));
  input.dispatchEvent(new Event("change", {bubbles: true}));
  button.click();
  return true;
}"""
DRAFT = """() => {
  const field = document.activeElement;
  return [field?.className ?? "", field?.value ?? "", field?.selectionStart ?? -1];
}"""


class Person:
    """One page: what it has sent on its present connection, and what of that is saved."""

    def __init__(self, number: int, page: Page, url: str, model: Model) -> None:
        self._number = number
        self.page = page
        self._model = model
        self._count = 0
        self.connections = 0
        self._frames = 0
        self._waiting: dict[int, list[str]] = {}
        self._mine = re.compile(rf'"({number}:\d+)"')
        page.on("websocket", self._connected)
        page.goto(url)
        page.locator(".draft").click()
        page.keyboard.type(f"half a sentence of person {number}")
        for _ in range(7):
            page.keyboard.press("ArrowLeft")
        self.draft = page.evaluate(DRAFT)

    def edit(self) -> str | None:
        """Write the next text into the book and return it; None if the page shows no book at present."""
        self._count += 1
        text = f"{self._number}:{self._count}"
        self._model.sent.add(text)
        return text if self.page.evaluate(EDIT, [text, ".write"]) else None

    def listed(self, request: str) -> str:
        """Return what is in the book now; `request` tells the answer from older ones, which a restart brings back."""
        assert self.page.evaluate(EDIT, [request, ".list"]), "the page shows no book"
        shown = self.page.locator(".listing").filter(has_text=f"{request}#")
        shown.wait_for(timeout=60_000)
        return shown.inner_text().partition("#")[2]

    def hurry(self) -> None:
        """Let the page try to reconnect now, as when the network returns."""
        self.page.evaluate("() => window.dispatchEvent(new Event('online'))")

    def _connected(self, socket: WebSocket) -> None:
        if "/ws/timeline" in socket.url:
            return
        self.connections += 1
        number = self.connections
        self._frames, self._waiting = 0, {}
        socket.on("framesent", lambda text: self._sent(number, str(text)))
        socket.on("framereceived", lambda text: self._received(number, str(text)))

    def _sent(self, connection: int, text: str) -> None:
        if connection != self.connections or f'"type":"{MessageType.HISTORY}"' in text:
            return
        self._frames += 1
        self._waiting[self._frames] = self._mine.findall(text)

    def _received(self, connection: int, text: str) -> None:
        if connection != self.connections or f'"{MessageType.SAVED}"' not in text:
            return
        content = json.loads(text)
        for message in content if isinstance(content, list) else [content]:
            if isinstance(message, dict) and message.get("type") == MessageType.SAVED:
                done = [number for number in self._waiting if number <= message["data"]["frames"]]
                self._model.saved |= {text for number in done for text in self._waiting.pop(number)}


@dataclass
class Crash:
    """The run: people, kills and what was seen."""

    server: Server
    people: list[Person]
    model: Model
    dice: random.Random
    kills: Counter[str] = field(default_factory=Counter)
    edits: int = 0
    _in_a_row: int = 0
    _checks: int = 0

    def run(self, edits: int, kills: int, say: "Say") -> None:
        """Write and kill until both numbers are reached."""
        between = max(edits // max(kills, 1), 1)
        while self.edits < edits or self.kills.total() < kills:
            self._write(between)
            self._kill()
            self._wait_back()
            self.check()
            say(self)
        self._write(between)
        self.check()

    def _write(self, count: int) -> None:
        target = self.edits + self.dice.randint(count, count + 3)
        while self.edits < target:
            for person in self.people:
                self.edits += person.edit() is not None

    def _kill(self) -> None:
        kinds = ["server", "both"] + ["worker"] * (self._in_a_row < WORKER_KILLS)
        kind = self.dice.choice(kinds)
        self.people[0].page.wait_for_timeout(self.dice.random() * 150)
        self._in_a_row = self._in_a_row + 1 if kind == "worker" else 0
        if kind != "server":
            self.server.kill_worker()
        if kind != "worker":
            self.server.kill()
        self.kills[kind] += 1

    def _wait_back(self) -> None:
        """Wait until every page has something acknowledged that it wrote after the kill."""
        limit = time.monotonic() + 120
        for person in self.people:
            while not self._answers(person):
                assert time.monotonic() < limit, "a page did not come back"
                person.hurry()
                person.page.wait_for_timeout(100)

    def _answers(self, person: Person) -> bool:
        text = person.edit()
        self.edits += text is not None
        deadline = time.monotonic() + 1.5
        while text not in self.model.saved and time.monotonic() < deadline:
            person.page.wait_for_timeout(20)
        return text in self.model.saved

    def check(self) -> None:
        """Compare the book with the model, and the field with the focus with what it was."""
        self._checks += 1
        self.model.check(self.people[0].listed(f"check {self._checks}"))
        for person in self.people:
            found = person.page.evaluate(DRAFT)
            assert found == person.draft, f"focus, caret or half-typed text is lost: {found}, not {person.draft}"


class Say:
    """Prints progress now and then."""

    def __init__(self, name: str, every: int = 10) -> None:
        self._name = name
        self._every = every
        self._began = time.monotonic()

    def __call__(self, crash: Crash) -> None:
        if crash.kills.total() % self._every == 0:
            print(self.line(crash), flush=True)

    def line(self, crash: Crash) -> str:
        seconds, kinds = time.monotonic() - self._began, ", ".join(f"{n} {kind}" for kind, n in crash.kills.items())
        done = f"{crash.kills.total()} kills ({kinds}), {crash.edits} edits, {len(crash.model.saved)} acknowledged"
        return f"{self._name}: {done}, all of them there, none twice; {seconds:.0f} s"


@contextmanager
def opened(folder: Path, config: str, seed: int) -> Iterator[Crash]:
    """Start a server, and open the pages."""
    server, model = Server(folder, config, APP, VIEW), Model(PAGES)
    server.start()
    try:
        with launched() as browser:
            context = browser.new_context()
            people = [Person(number, context.new_page(), server.url, model) for number in range(PAGES)]
            yield Crash(server, people, model, random.Random(seed))
            context.close()
    finally:
        server.stop()


@contextmanager
def configured(database: str) -> Iterator[str]:
    """Provide the settings for a kind of database, which is empty."""
    if database == "sqlite":
        yield ""
        return
    with postgres_cluster() as url:
        with psycopg.connect(url.format("postgres"), autocommit=True) as connection:
            connection.execute("CREATE DATABASE crash")
        yield f'[storage]\nurl = "{url.format("crash")}"\n'


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edits", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=24)
    parser.add_argument("databases", nargs="*", default=["sqlite", "postgres"])
    options = parser.parse_args()
    for database in options.databases:
        say = Say(database)
        with tempfile.TemporaryDirectory() as folder, configured(database) as config:
            with opened(Path(folder), config, options.seed) as crash:
                crash.run(options.edits, options.kills, say)
            print(f"done: {say.line(crash)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
