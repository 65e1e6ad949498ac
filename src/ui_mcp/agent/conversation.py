"""One conversation with its agent, and the broadcast of its changes to clients."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict

import anyio
from anyio.abc import TaskStatus
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from ui_mcp.agent.journal import Journal, NewEvent
from ui_mcp.agent.journal_writer import JournalWriter
from ui_mcp.agent.loop import Loop
from ui_mcp.agent.model import Retrying, Usage
from ui_mcp.agent.orchestrator import Inbox, Orchestrator, PollSettings
from ui_mcp.agent.sampler import Deltas
from ui_mcp.agent.timeline import Delta, RunState, run_state
from ui_mcp.errors import AgentError, NotFoundError
from ui_mcp.jsontypes import JsonObject

BACKLOG = 1024


class Broadcast:
    """Sends frames to any number of watchers without blocking; drops watchers that fall behind."""

    def __init__(self) -> None:
        self._watchers: set[MemoryObjectSendStream[JsonObject]] = set()

    def send(self, frame: JsonObject) -> None:
        for watcher in list(self._watchers):
            try:
                watcher.send_nowait(frame)
            except (anyio.WouldBlock, anyio.BrokenResourceError):
                self._watchers.discard(watcher)
                watcher.close()

    @contextmanager
    def watched(self) -> Iterator[MemoryObjectReceiveStream[JsonObject]]:
        """Yield a stream of frames from now on; it ends if the watcher is `BACKLOG` frames behind."""
        send, receive = anyio.create_memory_object_stream[JsonObject](BACKLOG)
        self._watchers.add(send)
        try:
            with receive:
                yield receive
        finally:
            self._watchers.discard(send)
            send.close()


MakeLoop = Callable[[JournalWriter, Deltas], Loop]


class Conversation:
    """A conversation while this process serves it."""

    def __init__(
        self, name: str, journal: Journal, inbox: Inbox, make_loop: MakeLoop, poll: PollSettings = PollSettings()
    ) -> None:
        self.name = name
        self.news = Broadcast()
        self._deltas = Deltas(
            text=self._piece, usage=self._spent, retrying=self._retrying, reasoning=self._thought, sampled=self._sampled
        )
        self._orchestrator = Orchestrator(
            name,
            journal,
            inbox,
            lambda writer: make_loop(writer, self._deltas),
            poll=poll,
            ready=self._ready,
            on_error=self._on_error,
        )
        self._started: Callable[[], None] = lambda: None

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Serve until cancelled; `task_status` is started once the timeline has been read.

        Raises:
            JournalError: the journal cannot be read.
        """
        self._started = task_status.started
        await self._orchestrator.run()

    @property
    def running(self) -> bool:
        """Whether a turn is in progress."""
        return self._orchestrator.state == "running"

    @property
    def writer(self) -> JournalWriter | None:
        """The journal writer; None while another process serves the conversation."""
        return self._orchestrator.journal

    async def resume(self) -> None:
        """Begin a turn without a new message; an answer that was cut off is continued.

        Raises:
            AgentError: another process runs this conversation.
        """
        await self._orchestrator.resume(self.journal)

    @property
    def run_state(self) -> RunState:
        """The agent's state as clients display it."""
        return run_state(self.journal.timeline.state.items, served=True)

    @property
    def goes_on(self) -> bool:
        """Whether a turn is open, or opens because a message arrived too late for the last one."""
        return self.writer is not None and self.writer.progress.turn != 0

    def after(self, message_id: str) -> list[JsonObject] | None:
        """Return a person's message and the visible items after it.

        An empty list if the message is hidden, None if it is not in the timeline yet.
        """
        items = self.writer.timeline.state.items if self.writer else ()
        at = next((number for number, item in enumerate(items) if item["id"] == f"u:{message_id}"), None)
        if at is None:
            return None
        return [] if items[at].get("superseded") else [item for item in items[at:] if not item.get("superseded")]

    @property
    def journal(self) -> JournalWriter:
        """The journal writer.

        Raises:
            AgentError: another process runs this conversation.
        """
        if self._orchestrator.journal is None:
            raise AgentError(f"Conversation {self.name} is being run by another process")
        return self._orchestrator.journal

    def snapshot(self) -> JsonObject:
        """Return the whole state that a client renders."""
        state = self.journal.timeline.state
        return {
            **state.snapshot(self.name),
            "run": self.run_state,
            "usage": self.journal.spent.as_json(),
        }

    def since(self, seq: int) -> list[JsonObject]:
        """Return the changes after `seq`, or a full snapshot if `seq` is unknown."""
        if not 0 < seq <= self.journal.timeline.seq:
            return [self.snapshot()]
        return [self._frame(delta) for delta in self.journal.deltas[seq:]]

    def stop(self) -> bool:
        """Stop the current turn; return whether there was one."""
        return self._orchestrator.stop_turn()

    async def rewind(self, item: str, *, is_cut: bool = False) -> None:
        """Hide an item and everything after it; the journal keeps them.

        If it is a person's message, their next one is another version of it, unless it `is_cut`.
        """
        await self._orchestrator.end_turn()
        await self.journal.write(NewEvent("rewind", {"from_item": item, **({"is_cut": True} if is_cut else {})}))

    async def show_version(self, item: str) -> None:
        """Return to what was visible when a person's message, now replaced by another version, was last visible.

        Raises:
            NotFoundError: the item is not such a message.
        """
        asked = self.journal.timeline.item(item)
        if asked is None or asked["kind"] != "user_message":
            raise NotFoundError(f"{item} is not a message of a person in {self.name}")
        await self._orchestrator.end_turn()
        await self.journal.write(NewEvent("version_shown", {"item": item}))

    async def again(self, item: str) -> None:
        """Repeat a person's message: hide it with everything after it, and add it again as new.

        Raises:
            NotFoundError: the item is not a message of a person.
        """
        asked = next((one for one in self.journal.timeline.state.items if one["id"] == item), None)
        if asked is None or asked["kind"] != "user_message":
            raise NotFoundError(f"{item} is not a message of a person in {self.name}")
        await self._orchestrator.end_turn()
        # A new id, because the timeline ignores items whose id it already has.
        new_id = {"message_id": f"{asked['message_id']}~{self.journal.timeline.seq}"}
        said = {key: asked[key] for key in ("mime", "text")} | new_id
        await self.journal.write(NewEvent("rewind", {"from_item": item}), NewEvent("user_text", said))
        self._orchestrator.wake()

    def _ready(self, writer: JournalWriter) -> None:
        writer.follow(self._changed)
        self._started()

    def _changed(self, delta: Delta) -> None:
        self.news.send(self._frame(delta))

    def _frame(self, delta: Delta) -> JsonObject:
        ops = [op.as_json() for op in delta.ops]
        return {"type": "ui_state_delta", "state_id": self.name, "seq": delta.seq, "ops": ops}

    def _on_error(self, message: str) -> None:
        # Not written to the journal, which has just failed: only clients connected now see it.
        self.news.send({"type": "error", "message": f"The answer has to wait. {message}"})

    def _piece(self, text: str) -> None:
        self.news.send({"type": "assistant_delta", "text": text})

    def _retrying(self, retrying: Retrying) -> None:
        self.news.send({"type": "retrying", **asdict(retrying)})

    def _thought(self, text: str) -> None:
        self.news.send({"type": "reasoning_delta", "text": text})

    def _sampled(self) -> None:
        self.news.send({"type": "sampled"})

    def _spent(self, usage: Usage) -> None:
        # The journal has it a moment later, with the answer.
        self.news.send({"type": "usage", **self.journal.spent.plus(asdict(usage)).as_json()})
