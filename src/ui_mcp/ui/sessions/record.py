"""What a server must not forget when it is killed: the id of session 1, its visitors, its app and its queued events.

The file is appended to without waiting for the disk: a killed process loses nothing of it, only a power failure may.
It is deleted when the server ends in order.
"""

import hashlib
import os
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from ui_mcp.discovery import lazy
from ui_mcp.errors import ConfigError
from ui_mcp.files import open_inside
from ui_mcp.jsontypes import Json, dumps, loads
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.log import logger

# A start that has no record needs no key.
if TYPE_CHECKING:
    from ui_mcp.account_seal import is_sealed, seal
else:
    is_sealed, seal = lazy("ui_mcp.account_seal:is_sealed"), lazy("ui_mcp.account_seal:seal")

NAME = "session.jsonl"
COMPACT_BYTES = 32 * 1024 * 1024
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND
_OF_QUEUE = frozenset({"events", "returned", "drained"})
"""Kinds of lines whose sum the queue itself knows."""
Events = list[tuple[str, bool]]
"""JSON text of each event, and whether it may be dropped."""
_log = logger("session")


@dataclass(slots=True)
class Kept:
    """The recorded facts of session 1."""

    secret: str = ""
    displayed: str | None = None
    visitors: list[str] = field(default_factory=list)
    """Digests of the cookies that admit to the session."""
    events: Events = field(default_factory=list)
    """The queue that was left; read once."""

    def apply(self, line: Json) -> None:
        """Take over one line of the file."""
        match line:
            case ["secret", str() as secret, given] if is_sealed(given, "session", secret):
                self.secret = secret
            case ["displayed", str() as name]:
                self.displayed = name
            case ["visitor", str() as digest]:
                self.visitors.append(digest)
            case ["events", [*events]]:
                self.events += [(str(text), bool(ordinary)) for text, ordinary in events]
            case ["returned", [*events]]:
                self.events[:0] = [(str(text), bool(ordinary)) for text, ordinary in events]
            case ["drained"]:
                self.events.clear()

    def lines(self) -> Iterable[Json]:
        yield ["secret", self.secret, _seal(self.secret)]
        if self.displayed is not None:
            yield ["displayed", self.displayed]
        yield from (["visitor", digest] for digest in self.visitors)


def _seal(secret: str) -> str:
    """Return a proof that this account wrote the record: one that came with a repository is not continued."""
    try:
        return seal("session", secret)
    except OSError as error:
        _log.warning("a killed server would lose its session: cannot read or create its key: %s", error)
        return ""


class SessionRecord:
    """The file of one base directory; without a folder, nothing is kept."""

    def __init__(self, folder: Path | None = None, *, resumes: bool = False) -> None:
        self._file = folder / NAME if folder else None
        self._descriptor: int | None = None
        self._size = 0
        self.kept = Kept()
        self.resumed = resumes and self._file is not None and self._read(self._file)
        """Whether a killed server has left facts that hold again."""
        self._queued: Callable[[], Events] = list

    def open(self, secret: str, queued: Callable[[], Events]) -> None:
        """Begin a new file, with what was kept of the old one; `queued` returns the events of the session."""
        if self._file is None:
            return
        self.kept.secret, self._queued = secret, queued
        try:
            self._file.unlink(missing_ok=True)
            self._descriptor = open_inside(self._file.parent, self._file, _APPEND)
        except (OSError, ConfigError) as error:
            _log.warning("a killed server would lose its session: %s: %s", self._file, error)
            return
        for line in (*self.kept.lines(), ["events", queued()]):
            self._append(line)

    def note(self, kind: str, *values: Json) -> None:
        """Record a fact."""
        if self._descriptor is None:
            return
        line = [kind, *values]
        if kind not in _OF_QUEUE:
            self.kept.apply(line)
        self._append(line)
        if self._size > COMPACT_BYTES:
            self._compact()

    def close(self) -> None:
        """Forget everything: the server ends in order."""
        if self._descriptor is not None and self._file is not None:
            os.close(self._descriptor)
            self._descriptor = None
            with suppress(OSError):
                self._file.unlink()

    def _append(self, line: Json) -> None:
        if self._descriptor is not None:
            data = dumps(line).encode() + b"\n"
            with suppress(OSError):  # a full disk costs the record, not the session
                self._size += os.write(self._descriptor, data)

    def _compact(self) -> None:
        """Write the file anew with only what still holds."""
        descriptor, self._descriptor, self._size = self._descriptor, None, 0
        if descriptor is not None:
            os.close(descriptor)
        self.open(self.kept.secret, self._queued)

    def _read(self, file: Path) -> bool:
        try:
            descriptor = open_inside(file.parent, file, os.O_RDONLY)
            with os.fdopen(descriptor, "rb") as stream:
                for line in stream:
                    with suppress(ValueError):  # the last line of a killed process may be half a line
                        self.kept.apply(loads(line))
        except OSError:
            return False
        return bool(self.kept.secret)


MAX_VISITORS = 10_000
"""Visitors that are remembered; beyond it the least recently admitted is dropped."""


class PersonCookies:
    """The visitors of one server, and the sessions that each was admitted to, latest last."""

    def __init__(self, record: SessionRecord | None = None) -> None:
        self._record = record or SessionRecord()
        kept = self._record.kept
        self._admitted: OrderedDict[bytes, dict[str, None]] = OrderedDict(
            (bytes.fromhex(digest), {kept.secret: None}) for digest in kept.visitors
        )

    def admit(self, visitor: str | None, secret: str) -> str:
        """Admit a visitor to a session; return the cookie's value, a new one unless `visitor` is known."""
        if visitor is None or _digest(visitor) not in self._admitted:
            visitor = token_hex(16)
        sessions = self._admitted.setdefault(_digest(visitor), {})
        if secret == self._record.kept.secret and secret not in sessions:
            self._record.note("visitor", _digest(visitor).hex())
        sessions.pop(secret, None)
        sessions[secret] = None
        self._admitted.move_to_end(_digest(visitor))
        while len(self._admitted) > MAX_VISITORS:
            self._admitted.popitem(last=False)
        return visitor

    def may_open(self, visitor: str | None, secret: str) -> bool:
        """Return whether a visitor was admitted to this session."""
        return visitor is not None and secret in self._admitted.get(_digest(visitor), {})

    def latest(self, visitor: str | None) -> list[str]:
        """Return the ids of a visitor's sessions, latest first; some may have ended."""
        return [] if visitor is None else list(reversed(self._admitted.get(_digest(visitor), {})))


def _digest(visitor: str) -> bytes:
    # Looked up by digest, so that timing reveals nothing about the stored values.
    return hashlib.sha256(visitor.encode("utf-8", "replace")).digest()
