"""Four Chromium pages write into one book while its worker and its server are killed; a model outside checks the book.

`make crash`, with EDITS=10000 KILLS=200 DATABASE="sqlite postgres" SEED=24, or python -m soak.crash in this folder's
parent. An edit counts as acknowledged when the page was notified, on its WebSocket, that the frame with it is saved.

DISK=full (--disk full): before each kill the disk is full for a while; nothing may be acknowledged then. DISK=torn:
half of a record is on the disk when the server is killed. Both mount a disk of their own, hence need root and FUSE, and
are for SQLite: the disk of PostgreSQL is that of another server, which answers for it itself.
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
from soak.crash_disk import FAULTS, Fault, faulty
from ui_mcp.wire import MessageType

PAGES = 4
WORKER_KILLS = 2
"""In a row: the third crash of a worker within a minute would end the session."""
LONGEST_WAIT = 10.0
"""Seconds for acknowledgements before a kill."""
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
    fault: Fault = field(default_factory=Fault)
    kills: Counter[str] = field(default_factory=Counter)
    edits: int = 0
    _in_a_row: int = 0
    _checks: int = 0

    def run(self, edits: int, kills: int, say: "Say") -> None:
        """Write and kill until both numbers are reached."""
        between = max(edits // max(kills, 1), 1)
        while self.edits < edits or self.kills.total() < kills:
            self._write_and_wait(between)
            self._kill()
            self._wait_back()
            self.check()
            say(self)
        self._write_and_wait(between)
        self.check()

    def _write_and_wait(self, count: int) -> None:
        """Write, and wait until a random part of it is acknowledged: the kill finds the rest at every stage."""
        texts = self.write(self.dice.randint(count, count + 3))
        part = self.dice.random() * len(texts)
        limit = time.monotonic() + LONGEST_WAIT
        while len(texts & self.model.saved) < part and time.monotonic() < limit:
            self.pause(0.01)

    def write(self, count: int) -> set[str]:
        """Let everybody write in turn, so many texts or a few more; return them."""
        texts: set[str] = set()
        while len(texts) < count:
            texts |= {text for person in self.people if (text := person.edit()) is not None}
        self.edits += len(texts)
        return texts

    def pause(self, seconds: float) -> None:
        """Let the pages work."""
        self.people[0].page.wait_for_timeout(seconds * 1000)

    def _kill(self) -> None:
        kinds = ["server", "both"] + ["worker"] * (self._in_a_row < WORKER_KILLS and self.fault.spares_server)
        kind = self.dice.choice(kinds)
        self.fault.begin(self)
        self.pause(self.dice.random() * 0.15)
        self._in_a_row = self._in_a_row + 1 if kind == "worker" else 0
        if kind != "server":
            self.server.kill_worker()
        if kind != "worker":
            self.server.end()
        self.fault.end(self)
        if kind != "worker":
            self.server.start()
        self.kills[kind] += 1

    def _wait_back(self) -> None:
        """Wait until every page has something acknowledged that it wrote after the kill."""
        limit, away = time.monotonic() + 120, self.people
        while away:
            assert time.monotonic() < limit, "a page did not come back"
            back = self._answered(away)
            away = [person for person in away if person not in back]

    def _answered(self, people: list[Person]) -> list[Person]:
        """Let people write once each; return those whose text was acknowledged.

        What was written to a connection that is closed meanwhile never is.
        """
        tried = [(person, person.connections, person.edit()) for person in people]
        self.edits += sum(text is not None for _, _, text in tried)
        deadline = time.monotonic() + 1.5
        while time.monotonic() < deadline:
            open_ = [person for person, connection, text in tried if self._waits(person, connection, text)]
            if not open_:
                break
            for person in open_:
                person.hurry()
            self.pause(0.05)
        return [person for person, _, text in tried if text in self.model.saved]

    def _waits(self, person: Person, connection: int, text: str | None) -> bool:
        return text not in self.model.saved and person.connections == connection

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
def opened(folder: Path, config: str, seed: int, fault: Fault | None = None) -> Iterator[Crash]:
    """Start a server, and open the pages."""
    server, model = Server(folder, config, APP, VIEW), Model(PAGES)
    server.start()
    try:
        with launched() as browser:
            context = browser.new_context()
            people = [Person(number, context.new_page(), server.url, model) for number in range(PAGES)]
            yield Crash(server, people, model, random.Random(seed), fault or Fault())
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
    parser.add_argument("--disk", choices=FAULTS)
    parser.add_argument("databases", nargs="*", default=["sqlite", "postgres"])
    options = parser.parse_args()
    if options.disk and options.databases != ["sqlite"]:
        parser.error("--disk is for sqlite alone")
    for database in options.databases:
        say = Say(database)
        with (
            tempfile.TemporaryDirectory() as folder,
            configured(database) as config,
            faulty(Path(folder), options.disk) as (place, fault),
        ):
            with opened(place, config, options.seed, fault) as crash:
                crash.run(options.edits, options.kills, say)
            print(f"done: {say.line(crash)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
