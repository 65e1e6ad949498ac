"""`ui-mcp serve` with a book that several people write into, and what an outsider knows about it."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from agreeing import agree
from ports import free_ports
from soak.product import descendants

APP = """
local Entry = session:prototype("Entry", { text = "" })
Book = session:prototype("Book", { entries = EMPTY, text = "", last = EMPTY })
local written = 0
function Book:write()
  written = written + 1
  self.entries = self.entries or {}
  self.last = Entry:new({ text = self.text, before = self.last, number = written })
  table.insert(self.entries, self.last)
end
function Book:chain()
  local n, entry = 0, self.last
  while entry do n, entry = n + 1, entry.before end
  return n
end
function Book:texts()
  local texts = {}
  for i, entry in ipairs(self.entries or {}) do texts[i] = entry.text end
  return table.concat(texts, " ") .. "|" .. self:chain() .. "|" .. written
end
if not session.reloading then
  book = Book:new()
  mcp.display("book")
end
"""
VIEW = """<template><div><input ui-value="text"><button ui-action="write()">+</button><p ui-value="texts()"></p></div>
</template>"""


@dataclass
class Model:
    """Which texts were sent, and which of them were confirmed as saved."""

    pages: int
    sent: set[str] = field(default_factory=set)
    saved: set[str] = field(default_factory=set)

    def check(self, shown: str) -> None:
        """Compare with what a page shows."""
        texts, chain, written = shown.split("|")
        found = texts.split()
        assert len(found) == len(set(found)), "an edit is there twice"
        assert set(found) <= self.sent, "an edit is there that nobody made"
        assert self.saved <= set(found), f"saved edits are lost: {sorted(self.saved - set(found))[:5]}"
        assert int(chain) == int(written) == len(found), "references and local variables do not fit the list"
        for page in range(self.pages):
            mine = [int(text.partition(":")[2]) for text in found if text.startswith(f"{page}:")]
            assert mine == sorted(mine), "the order has changed"


class Server:
    """A server in a directory of its own, started again on the same ports."""

    def __init__(self, folder: Path, config: str, code: str = APP, view: str = VIEW) -> None:
        self.folder = folder
        base = folder / ".ui"
        app = base / "apps" / "book"
        (app / "viewdefs").mkdir(parents=True)
        (app / "init.lua").write_text('require "book"')
        (app / "app.lua").write_text(code)
        (app / "viewdefs" / "Book.DEFAULT.html").write_text(view)
        (base / "config").mkdir()
        (base / "config" / "config.toml").write_text(config)
        agree(base)
        self._ports = free_ports(3)
        self.port = self._ports[0]
        self.url = f"http://127.0.0.1:{self.port}/"

    def start(self) -> None:
        words = ["--port", "--mcp-port", "--person-port"]
        flags = [part for word, port in zip(words, self._ports, strict=True) for part in (word, str(port))]
        with (self.folder / "server.log").open("a") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "ui_mcp", "serve", "--dir", ".ui", *flags],
                cwd=self.folder, stdout=subprocess.PIPE, stderr=log, text=True,
            )  # fmt: skip
        assert self.process.stdout is not None
        said = [self.process.stdout.readline() for _ in range(3)]
        assert any(self.url.rstrip("/") in line for line in said), (self.folder / "server.log").read_text()[-2000:]

    def kill(self) -> None:
        """Kill the server, and start another."""
        self.end()
        self.start()

    def end(self) -> None:
        """Kill the server."""
        self.process.kill()
        self.process.wait()

    def kill_worker(self) -> None:
        """Kill every process that the server has started; the worker of the session is one of them."""
        for pid in descendants(self.process.pid):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()
