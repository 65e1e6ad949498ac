"""What others learn of a session: the queue of events for the agent, announced resources, the agent's progress.

One queue per session, used only on the event loop: between checking the queue and registering as a waiter there is no
await, so no event is missed.
"""

from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from math import isfinite, isnan
from time import monotonic
from typing import Literal, NamedTuple

from anyio import Event as Signal
from anyio import move_on_after

from ui_mcp.errors import SessionGoneError
from ui_mcp.jsontypes import Json, JsonObject, dumps, loads
from ui_mcp.wire import Op

MAX_EVENTS = 10_000
MAX_BYTES = 16 * 1024 * 1024
DEFAULT_WAIT = 30.0
MIN_WAIT = 1.0
MAX_WAIT = 120.0
Change = Literal["pushed", "waiting", "ended", "drained"]


def clamp_wait(text: str | float | None) -> float:
    """Return the seconds to wait: 30 when absent or not a number, else between 1 and 120."""
    try:
        seconds = float(text) if text is not None else DEFAULT_WAIT
    except ValueError:
        return DEFAULT_WAIT
    return min(max(seconds, MIN_WAIT), MAX_WAIT) if not isnan(seconds) else DEFAULT_WAIT


def as_array(events: Iterable[str]) -> str:
    """Return events, each of them JSON text, as one JSON array."""
    return "[" + ",".join(events) + "]"


def with_events(state: str, events: list[str]) -> str:
    """Add queued events to a state in JSON as `_events`; a state that is no object is put under `value`."""
    if not events:
        return state
    rest = state.lstrip()[1:] if state.lstrip().startswith("{") else "}" if state == "null" else f'"value":{state}}}'
    comma = "" if rest.lstrip().startswith("}") else ","
    return f'{{"_events":{as_array(events)}{comma}{rest}'


class Queued(NamedTuple):
    """One queued event."""

    text: str
    ordinary: bool = True
    """Whether it may be dropped when the queue is full; events of the server may not."""


class EventQueue:
    """Events in push order; a drain takes all of them, and each batch goes to exactly one waiter.

    When it is full, the oldest ordinary events are dropped, and the next batch begins with their number.
    """

    def __init__(self, on_change: Callable[[Change], None] | None = None) -> None:
        self._events: deque[Queued] = deque()
        self._bytes = 0
        self._dropped = 0
        self._waiters: deque[Signal] = deque()
        self._on_change = on_change or (lambda _: None)
        self._last_wait = monotonic()
        self._closed = False
        self.record: Callable[..., None] = lambda _kind, *_values: None
        """Records every change of the queue, so that a killed server does not lose it."""
        self.on_push: Callable[[Iterable[str]], None] = lambda _: None
        """Called with the events of each push, for hosts that accept pushed messages."""

    def __len__(self) -> int:
        return len(self._events)

    @property
    def polling(self) -> bool:
        """Whether a caller is waiting on this queue."""
        return bool(self._waiters)

    @property
    def wait_time(self) -> float:
        """Seconds since the last wait ended; 0 while a caller waits."""
        return 0.0 if self._waiters else monotonic() - self._last_wait

    def texts(self) -> list[str]:
        """Return the queued events as JSON texts, without draining."""
        return [*self._report(), *(event.text for event in self._events)]

    def peek(self) -> list[Json]:
        """Return the queued events without draining."""
        return [loads(text) for text in self.texts()]

    def push(self, *events: str) -> None:
        """Append events of apps as JSON texts, drop the oldest if there are too many, and wake the longest waiter."""
        self._append([Queued(event) for event in events])
        self._drop_excess()
        self._pushed(events)

    def push_system(self, *events: str) -> None:
        """Append events of the server, which are never dropped."""
        self._append([Queued(event, ordinary=False) for event in events])
        self._pushed(events)

    def queued(self) -> list[tuple[str, bool]]:
        """Return the events, and of each whether it may be dropped."""
        return [(event.text, event.ordinary) for event in self._events]

    def restore(self, events: Iterable[tuple[str, bool]]) -> None:
        """Append what a killed server had queued."""
        self._append([Queued(*event) for event in events])

    def drain(self) -> list[str]:
        """Remove and return all events."""
        return [event.text for event in self._take()]

    def give_back(self, events: list[str]) -> None:
        """Return undelivered events to the front of the queue, in order."""
        if not events or self._closed:
            return
        self.record("returned", [(event, True) for event in events])
        self._events.extendleft(Queued(event) for event in reversed(events))
        self._bytes += sum(len(event) for event in events)
        self._drop_excess()
        self._wake()
        self._on_change("pushed")

    @asynccontextmanager
    async def taken(self, seconds: float) -> AsyncIterator[list[str]]:
        """Wait up to `seconds` for events and take them; they are put back if the body fails.

        Raises:
            SessionGoneError: the session ended.
        """
        events = await self._next(seconds)
        try:
            yield events
        except BaseException:
            self.give_back(events)
            raise

    def close(self) -> None:
        """Release every waiter; the first gets the remaining events, the others `SessionGoneError`."""
        self._closed = True
        for signal in self._waiters:
            signal.set()

    async def _next(self, seconds: float) -> list[str]:
        self._require_open()
        # Callers that already wait come first.
        if self._events and not self._waiters:
            return self.drain()
        events = await self._block(seconds)
        if not events:
            self._require_open()
        return events

    async def _block(self, seconds: float) -> list[str]:
        signal = Signal()
        self._waiters.append(signal)
        self._on_change("waiting")
        try:
            with move_on_after(seconds):
                await signal.wait()
            return self.drain() if signal.is_set() else []
        finally:
            self._waiters.remove(signal)
            self._last_wait = monotonic()
            self._wake()  # if this waiter was cancelled after being woken, the next one gets the batch
            self._on_change("ended")

    def _append(self, events: list[Queued]) -> None:
        self.record("events", [tuple(event) for event in events])
        self._events.extend(events)
        self._bytes += sum(len(event.text) for event in events)

    def _pushed(self, events: Iterable[str]) -> None:
        self._wake()
        self._on_change("pushed")
        self.on_push(events)

    def _drop_excess(self) -> None:
        kept: list[Queued] = []
        while self._events and (len(self._events) + len(kept) > MAX_EVENTS or self._bytes > MAX_BYTES):
            event = self._events.popleft()
            if event.ordinary:
                self._bytes -= len(event.text)
                self._dropped += 1
            else:
                kept.append(event)
        self._events.extendleft(reversed(kept))

    def _report(self) -> list[str]:
        facts = {"count": self._dropped, "app": "ui-mcp", "event": "events_dropped"}
        return [dumps(facts)] if self._dropped else []

    def _take(self) -> list[Queued]:
        events = [Queued(text, ordinary=False) for text in self._report()] + list(self._events)
        self._events.clear()
        self._bytes = self._dropped = 0
        if events:
            self.record("drained")
            self._on_change("drained")
        return events

    def _require_open(self) -> None:
        if self._closed:
            raise SessionGoneError("No active session")

    def _wake(self) -> None:
        if self._events and self._waiters:
            self._waiters[0].set()


MAX_STEPS = 200
MAX_APPS = 200
MAX_TEXT = 300
_STATES = frozenset({"pending", "in_progress", "completed"})


class AgentProgress:
    """The latest announcement of a session; its `version` grows with each, so that pages can wait for the next."""

    def __init__(self) -> None:
        self.version = 0
        self._todos: list[JsonObject] = []
        self._apps: dict[str, JsonObject] = {}
        self._changed = Signal()
        self._closed = False

    def close(self) -> None:
        """Release every waiter; nothing waits any more."""
        self._closed = True
        self._changed.set()

    def update(self, facts: Json) -> None:
        """Take an announcement of app code, which may contain anything."""
        if not isinstance(facts, dict):
            return
        if "todos" in facts:
            todos = facts["todos"]
            self._todos = [_step(one) for one in todos[:MAX_STEPS]] if isinstance(todos, list) else []
        elif "app" in facts:
            self._set_app(_text(facts["app"]), facts.get("progress"), _text(facts.get("stage")))
        self.version += 1
        if not self._closed:
            self._changed.set()
            self._changed = Signal()

    def as_json(self) -> JsonObject:
        return {"version": self.version, "todos": self._todos, "apps": dict(self._apps)}

    async def wait(self, after: int, seconds: float) -> JsonObject:
        """Return the announcements as soon as they are newer than `after`, at the latest after some seconds."""
        if after == self.version:
            with move_on_after(seconds):
                await self._changed.wait()
        return self.as_json()

    def _set_app(self, name: str, progress: Json, stage: str) -> None:
        self._apps.pop(name, None)
        done = min(max(progress, 0), 100) if type(progress) in {int, float} and isfinite(progress) else None
        if (done is not None or stage) and len(self._apps) < MAX_APPS:
            self._apps[name] = {"progress": done, "stage": stage}


def _step(given: Json) -> JsonObject:
    step = given if isinstance(given, dict) else {}
    status = step.get("status")
    return {
        "content": _text(step.get("content")),
        "status": status if status in _STATES else "pending",
        "active": _text(step.get("activeForm")),
    }


def _text(given: Json) -> str:
    return given[:MAX_TEXT] if isinstance(given, str) else ""


READ_ONLY = frozenset({Op.CHECK, Op.STATE, Op.VARIABLES, Op.REFRESH, Op.OPEN, Op.CLOSE})
"""Operations that cannot change an app's state."""


class ResourceChanges:
    """Announces changes of one session's resources; those of session 1 also have names without an id."""

    def __init__(self, vended: str, announce: Callable[[str], None]) -> None:
        self._vended = vended
        self._announce = announce

    def after(self, op: Op) -> None:
        """Announce what an operation may have changed."""
        if op in {Op.OPEN, Op.CLOSE}:
            self.variables()
        if op not in READ_ONLY:
            self.state()

    def variables(self) -> None:
        self._announce_for_first("variables")

    def events(self) -> None:
        """Announce the event queue and the state, which contains it."""
        self._announce_for_first("events")
        self.state()

    def state(self) -> None:
        self._announce_for_first("state")
        self._announce(f"ui://state/{self._vended}")

    def _announce_for_first(self, name: str) -> None:
        if self._vended == "1":
            self._announce(f"ui://{name}")
