"""What a server must not forget when it is killed: the ids of its sessions, their visitors, apps and queued events.

Each session has a file, appended to without waiting for the disk unless session.journal is full: a killed process loses
nothing of it. It is deleted when the session ends in order.
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
from ui_mcp.ui.state.group import UnsavedFacts

# A start that has no record needs no key.
if TYPE_CHECKING:
    from ui_mcp.account_seal import is_sealed, seal
else:
    is_sealed, seal = lazy("ui_mcp.account_seal:is_sealed"), lazy("ui_mcp.account_seal:seal")

NAME = "session.jsonl"
COMPACT_BYTES = 32 * 1024 * 1024
SLACK = 1000
"""Outdated lines among the facts for other servers beyond which they are written anew."""
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND
_OF_QUEUE = frozenset({"events", "returned", "drained"})
"""Kinds of lines whose sum the queue itself knows."""
Events = list[tuple[str, bool]]
"""JSON text of each event, and whether it may be dropped."""
_log = logger("session")


@dataclass(slots=True)
class Kept:
    """The recorded facts of a session."""

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
        yield from self.facts()

    def facts(self) -> Iterable[Json]:
        """Return the lines after the first."""
        if self.displayed is not None:
            yield ["displayed", self.displayed]
        yield from (["visitor", digest] for digest in self.visitors)


def kept_from(lines: list[Json]) -> Kept:
    """Return the facts in lines of the group's database, which has checked them."""
    kept = Kept(str(lines[0][1]))
    for line in lines[1:]:
        kept.apply(line)
    return kept


def _seal(secret: str) -> str:
    """Return a proof that this account wrote the record: one that came with a repository is not continued."""
    try:
        return seal("session", secret)
    except OSError as error:
        _log.warning("a killed server would lose its session: cannot read or create its key: %s", error)
        return ""


class SessionRecord:
    """The file of one session; without one, nothing is kept."""

    def __init__(self, file: Path | None = None, *, resumes: bool = False, durable: bool = False) -> None:
        """`durable` waits for the disk after each fact."""
        self._file = file
        self._durable = durable
        self._descriptor: int | None = None
        self._size = 0
        self._most_facts = SLACK
        self.kept = Kept()
        self.resumed = resumes and self._file is not None and self._read(self._file)
        """Whether a killed server has left facts that hold again."""
        self.reason = "the server ended unexpectedly"
        """Why a session is continued, for the person."""
        self.facts: UnsavedFacts | None = None
        """The same facts for other servers, if they may take over the session."""
        self.on_fact: Callable[[], None] = lambda: None
        """Called when there are facts to be saved."""
        self._opened = False
        self._queued: Callable[[], Events] = list

    def open(self, secret: str, queued: Callable[[], Events]) -> None:
        """Begin a new file, with what was kept of the old one; `queued` returns the events of the session."""
        self.kept.secret, self._queued, self._opened = secret, queued, True
        if self._file is not None:
            self._begin_file(self._file)
        self._begin_facts()

    def note(self, kind: str, *values: Json) -> None:
        """Record a fact."""
        if not self._opened:
            return
        line = [kind, *values]
        if kind not in _OF_QUEUE:
            self.kept.apply(line)
        self._append(line)
        if self._size > COMPACT_BYTES:
            self._compact()
        self._share(line)

    def close(self) -> None:
        """Forget everything: the server ends in order, or another one has the session."""
        self._opened = False
        if self._descriptor is not None and self._file is not None:
            os.close(self._descriptor)
            self._descriptor = None
            with suppress(OSError):
                self._file.unlink()

    def _share(self, line: Json) -> None:
        if self.facts is None:
            return
        if line == ["drained"] or self.facts.count > self._most_facts:
            self._begin_facts()
        else:
            self.facts.append(line)
            self.on_fact()

    def _begin_facts(self) -> None:
        if self.facts is not None:
            self.facts.begin([["secret", self.kept.secret], *self.kept.facts(), ["events", self._queued()]])
            self._most_facts = 2 * self.facts.count + SLACK
            self.on_fact()

    def _begin_file(self, file: Path) -> None:
        try:
            file.unlink(missing_ok=True)
            self._descriptor = open_inside(file.parent, file, _APPEND)
        except (OSError, ConfigError) as error:
            _log.warning("a killed server would lose its session: %s: %s", file, error)
            return
        for line in (*self.kept.lines(), ["events", self._queued()]):
            self._append(line)

    def _append(self, line: Json) -> None:
        if self._descriptor is not None:
            data = dumps(line).encode() + b"\n"
            with suppress(OSError):  # a full disk costs the record, not the session
                self._size += os.write(self._descriptor, data)
                if self._durable:
                    os.fsync(self._descriptor)

    def _compact(self) -> None:
        """Write the file anew with only what still holds."""
        descriptor, self._descriptor, self._size = self._descriptor, None, 0
        if descriptor is not None:
            os.close(descriptor)
        if self._file is not None:
            self._begin_file(self._file)

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


class SessionRecords:
    """The files of all sessions of a base directory; without a folder, nothing is kept."""

    def __init__(self, folder: Path | None = None, *, resumes: bool = False, durable: bool = False) -> None:
        """`resumes`: sessions that a killed server left are continued, else their records are deleted.

        `durable`: they survive a power cut, too.
        """
        self._folder = folder
        self._durable = durable
        self._resumes = resumes
        self._left = self._find()
        if not resumes:
            for number in self._left:
                with suppress(OSError):
                    self._file(number).unlink()

    def of(self, number: int) -> SessionRecord:
        """Return the record of a session; those that were left are continued once."""
        if self._folder is None:
            return SessionRecord()
        return SessionRecord(
            self._file(number), resumes=self._resumes and number in {1, *self._left}, durable=self._durable
        )

    def left(self) -> list[int]:
        """Return the numbers of further sessions that a killed server left; they are to be continued now."""
        return self._left if self._resumes else []

    def continued(self) -> None:
        """Later sessions are new ones, whatever their numbers."""
        self._resumes, self._left = False, []

    def _file(self, number: int) -> Path:
        assert self._folder is not None
        return self._folder / (NAME if number == 1 else f"session-{number}.jsonl")

    def _find(self) -> list[int]:
        found = self._folder.glob("session-*.jsonl") if self._folder else ()
        names = [file.stem.partition("-")[2] for file in found]
        return sorted(int(name) for name in names if name.isdecimal() and int(name) > 1)


class PersonCookies:
    """The visitors of one server, and the sessions that each was admitted to, latest last."""

    def __init__(self) -> None:
        self.cookie = ""
        """Name of the cookie in a group of servers, whatever their ports; empty: the port decides."""
        self._admitted: OrderedDict[bytes, dict[str, None]] = OrderedDict()
        self._records: dict[str, SessionRecord] = {}
        self._shared: dict[str, str] = {}

    def remember(self, secret: str, record: SessionRecord) -> None:
        """Admit the visitors that a record has kept of a session, and record the next ones."""
        self._records[secret] = record
        for digest in record.kept.visitors:
            self._admitted.setdefault(bytes.fromhex(digest), {})[secret] = None

    def share(self, secret: str, other: str) -> None:
        """Admit to a session all visitors who may open the other one."""
        self._shared[secret] = other

    def has_any(self, secret: str) -> bool:
        """Return whether a visitor was admitted to a session."""
        return secret in self._records and bool(self._records[secret].kept.visitors)

    def forget(self, secret: str) -> None:
        """Forget a session that has ended."""
        self._records.pop(secret, None)
        self._shared.pop(secret, None)

    def admit(self, visitor: str | None, secret: str) -> str:
        """Admit a visitor to a session; return the cookie's value, a new one unless `visitor` is known."""
        if visitor is None or digest_of(visitor) not in self._admitted:
            visitor = token_hex(16)
        elif self.may_open(visitor, secret) and secret in self._shared:
            return visitor  # the session that it came from stays the latest
        sessions = self._admitted.setdefault(digest_of(visitor), {})
        if secret in self._records and secret not in sessions:
            self._records[secret].note("visitor", digest_of(visitor).hex())
        sessions.pop(secret, None)
        sessions[secret] = None
        self._admitted.move_to_end(digest_of(visitor))
        while len(self._admitted) > MAX_VISITORS:
            self._admitted.popitem(last=False)
        return visitor

    def may_open(self, visitor: str | None, secret: str) -> bool:
        """Return whether a visitor was admitted to this session."""
        admitted = {} if visitor is None else self._admitted.get(digest_of(visitor), {})
        return secret in admitted or self._shared.get(secret, "") in admitted

    def latest(self, visitor: str | None) -> list[str]:
        """Return the ids of a visitor's sessions, latest first; some may have ended."""
        return [] if visitor is None else list(reversed(self._admitted.get(digest_of(visitor), {})))


def digest_of(visitor: str) -> bytes:
    """Return what is kept of a cookie's value."""
    # Looked up by digest, so that timing reveals nothing about the stored values.
    return hashlib.sha256(visitor.encode("utf-8", "replace")).digest()
