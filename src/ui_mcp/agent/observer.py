"""Builds the timeline of an agent that runs in another process, from its journal and the chat."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Protocol

import anyio
from anyio import CapacityLimiter, to_thread
from anyio.streams.memory import MemoryObjectReceiveStream

from ui_mcp.agent.conversation import Broadcast
from ui_mcp.agent.journal import RequestKind
from ui_mcp.agent.journal_store import EVENTS, LIVE, SQLITE, SQLITE_DIALECT, JournalStore, decoded, journal_place
from ui_mcp.agent.timeline import Delta, RunState, StoredEvent, Timeline, run_state
from ui_mcp.chat.identity import principal
from ui_mcp.chat.message import Message, conversation_name, id_text, ts_text
from ui_mcp.chat.service import Chat, ReadRequest
from ui_mcp.errors import UiMcpError
from ui_mcp.jsontypes import JsonObject, loads
from ui_mcp.log import logger
from ui_mcp.storage.database import file_of
from ui_mcp.storage.schema import Transaction
from ui_mcp.storage.sqlite import commit_stamp, read_only


class Reader(Protocol):
    """Reads the events that an agent in another process writes."""

    @property
    def served(self) -> bool:
        """Whether a process holds the agent's lease."""
        ...

    @property
    def live(self) -> JsonObject | None:
        """What the model was writing at the last call of `news`."""
        ...

    async def news(self) -> list[StoredEvent]:
        """Return the events since the last call.

        Raises:
            AgentError: the journal cannot be read.
        """
        ...


class FileReader:
    """Reads the events of one agent from a SQLite journal; a missing file has none."""

    def __init__(self, file: Path, agent: str) -> None:
        self._file = file
        self._agent = agent
        self._one_at_a_time = CapacityLimiter(1)
        self._stamp: tuple[int, ...] = ()
        self._last = 0
        self._leased_until = 0.0
        self.live: JsonObject | None = None

    @property
    def served(self) -> bool:
        return self._leased_until > time.time()

    async def news(self) -> list[StoredEvent]:
        return await to_thread.run_sync(self._news, limiter=self._one_at_a_time)

    def _news(self) -> list[StoredEvent]:
        stamp = commit_stamp(self._file)
        if not stamp or stamp == self._stamp:
            return []
        # Opened anew each time: the agent may have replaced the file.
        with read_only(self._file, SQLITE) as found:
            events = self._events(found)
        self._stamp = stamp
        self._last = events[-1].id if events else self._last
        return events

    def _events(self, found: Transaction) -> list[StoredEvent]:
        tables = {name for (name,) in found.execute("SELECT name FROM sqlite_master").fetchall()}
        if "leases" not in tables:
            return []
        # A journal of an older version lacks the table until its agent is started again.
        live = found.execute(LIVE.format_map(SQLITE_DIALECT), (self._agent,)).fetchall() if "live" in tables else []
        self.live = loads(live[0][0]) if live else None
        lease = found.execute("SELECT until FROM leases WHERE agent = ?", (self._agent,)).fetchall()
        self._leased_until = lease[0][0] if lease else 0.0
        rows = found.execute(EVENTS.format_map(SQLITE_DIALECT), (self._agent, self._last)).fetchall()
        return [decoded(row) for row in rows]


class StoreReader:
    """Reads the events of one agent from a PostgreSQL journal."""

    def __init__(self, journal: JournalStore, agent: str) -> None:
        self._journal = journal
        self._agent = agent
        self._last = 0
        self.served = False
        self.live: JsonObject | None = None

    async def news(self) -> list[StoredEvent]:
        self.served = await self._journal.is_served(self._agent)
        self.live = await self._journal.live(self._agent)
        events = await self._journal.events(self._agent, self._last)
        self._last = events[-1].id if events else self._last
        return events


def reader_for(url: str | None, folder: Path, agent: str) -> Reader:
    """Return the reader of an agent's journal, which lies beside the chat at `url`."""
    place = journal_place(url, folder)
    file = file_of(place)
    return FileReader(file, agent) if file is not None else StoreReader(JournalStore(place), agent)


READER = principal("timeline", "observer")


async def ask_agent(chat: Chat, url: str | None, folder: Path, agent: str, kind: RequestKind) -> bool:
    """Ask an agent whose journal lies beside the chat at `url` to stop or to resume; return whether one is served.

    Raises:
        ChatError: the chat cannot be read.
        JournalError: the journal cannot be written.
    """
    place = journal_place(url, folder)
    file = file_of(place)
    if file is not None and not await to_thread.run_sync(file.exists):
        return False
    journal = JournalStore(place)
    try:
        return await journal.ask(agent, kind, await chat.head(READER, agent, of_people=True) or "")
    finally:
        await journal.close()


POLL_SECONDS = 0.25
MAX_MESSAGES = 5_000
_log = logger("timeline")
Frames = MemoryObjectReceiveStream[JsonObject]


class TimelineObserver:
    """The timeline of one conversation, from chat messages and journal; updated only while clients watch it."""

    def __init__(self, conversation: str, chat: Chat, reader: Reader) -> None:
        self.name = f"{conversation}.{token_hex(4)}"
        """Unique per observer, because each observer numbers its changes from 1."""
        self._conversation = conversation
        self._chat = chat
        self._reader = reader
        self._timeline = Timeline()
        self._frames: list[JsonObject] = []
        self._last: str | None = None
        self._read: list[StoredEvent] = []
        """Messages already read, kept if reading the journal fails."""
        self._live: JsonObject | None = None
        self._broadcast = Broadcast()
        self._lock = anyio.Lock()

    @property
    def news(self) -> "TimelineObserver":
        return self

    @property
    def run_state(self) -> RunState:
        return run_state(self._timeline.state.items, served=self._reader.served)

    def snapshot(self) -> JsonObject:
        """Return the whole state that a client renders."""
        state = self._timeline.state
        return {
            **state.snapshot(self.name),
            "run": self.run_state,
        }

    def since(self, seq: int) -> list[JsonObject]:
        """Return the changes after `seq`, or a full snapshot if `seq` is unknown."""
        if not 0 < seq <= self._timeline.seq:
            return [self.snapshot()]
        return [frame for frame in self._frames if frame["seq"] > seq]

    @contextmanager
    def watched(self) -> Iterator[AsyncIterator[JsonObject]]:
        """Yield a stream of the frames from now on; reading it also polls chat and journal."""
        with self._chat.tail.watching(), self._broadcast.watched() as frames:
            yield self._observed(frames)

    async def refresh(self) -> None:
        """Apply what is new in chat and journal, ordered by time.

        Raises:
            UiMcpError: the chat or the journal cannot be read.
        """
        async with self._lock:
            # Read the journal last: it then has everything that the agent did before it posted these messages.
            self._read += [_as_event(message) for message in await self._messages()]
            events, self._read = [*await self._reader.news(), *self._read], []
            for event in sorted(events, key=lambda event: event.ts):
                delta = self._timeline.take(event)
                if delta.ops:
                    self._publish(delta)
            self._show_live(self._reader.live if self.run_state == "running" else None)

    def _show_live(self, live: JsonObject | None) -> None:
        if live != self._live:
            self._live = live
            self._broadcast.send(_live_frame(live))

    async def _observed(self, frames: Frames) -> AsyncIterator[JsonObject]:
        if self._live is not None:  # for those who come in the middle of an answer
            yield _live_frame(self._live)
        while True:
            try:
                yield frames.receive_nowait()
                continue
            except anyio.WouldBlock:
                version = self._chat.tail.version
            except anyio.EndOfStream:
                return
            await self._refresh_or_log()
            if not frames.statistics().current_buffer_used:
                with anyio.move_on_after(POLL_SECONDS):
                    await self._chat.tail.wait_version(version)

    async def _refresh_or_log(self) -> None:
        try:
            await self.refresh()
        except UiMcpError as error:
            _log.warning("Cannot follow the timeline: %s", error.message)

    async def _messages(self) -> list[Message]:
        found: list[Message] = []
        if self._last is None:
            before = id_text(2**63 - 1)
            while len(found) < MAX_MESSAGES:
                window = await self._chat.earlier(READER, self._conversation, before, None)
                found = [*window.messages, *found]
                if not window.cut or not window.messages:
                    break
                before = id_text(found[0].id)
            self._last = id_text(found[-1].id) if found else ""
            return found
        while True:
            page = await self._chat.read(READER, ReadRequest(self._last or None, conversation=self._conversation))
            found += page.messages
            self._last = id_text(page.last) if page.last else self._last
            if not page.has_more:
                return found

    def _publish(self, delta: Delta) -> None:
        ops = [op.as_json() for op in delta.ops]
        frame: JsonObject = {"type": "ui_state_delta", "state_id": self.name, "seq": delta.seq, "ops": ops}
        self._frames.append(frame)
        self._broadcast.send(frame)


def _live_frame(live: JsonObject | None) -> JsonObject:
    """Return the frame that shows what the model is writing, whole, or when its request is sent again."""
    if live is not None and "retrying" in live:
        return {"type": "retrying", **live["retrying"]}
    return {"type": "answering", "text": "", **(live or {})}


class TimelineObservers:
    """Opens one observer per conversation of the current directory."""

    def __init__(self, chat: Callable[[], Awaitable[Chat]], reader: Callable[[str], Reader]) -> None:
        self._chat = chat
        self._reader = reader
        self._open: dict[tuple[int, str], TimelineObserver] = {}

    async def open(self, name: str) -> TimelineObserver:
        """Return the observer of a conversation, up to date.

        Raises:
            ChatError: the name is invalid, or the store cannot be opened.
            NotConfiguredError: the server has no directory.
        """
        chat = await self._chat()
        key = (id(chat), conversation_name(name))
        if key not in self._open:
            # Another chat means that the server switched directories: drop the observers of the old one.
            self._open = {other: seen for other, seen in self._open.items() if other[0] == key[0]}
            self._open[key] = TimelineObserver(name, chat, self._reader(name))
        await self._open[key].refresh()
        return self._open[key]


def _as_event(message: Message) -> StoredEvent:
    said = {"message_id": id_text(message.id), "mime": message.mime, "client_id": message.client_id}
    if message.author == "user":
        return StoredEvent(0, ts_text(message.ts), "user_text", {**said, "text": message.content})
    return StoredEvent(0, ts_text(message.ts), "ui_message", {**said, "md": message.content})
