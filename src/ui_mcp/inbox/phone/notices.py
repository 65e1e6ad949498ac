"""Notifies the person's other devices of new questions: once for each, without its words and arguments."""

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, Protocol

import anyio
from anyio import to_thread

from ui_mcp.files import PRIVATE, write_atomic
from ui_mcp.inbox.model import Question
from ui_mcp.inbox.phone.devices import NoticeLinks
from ui_mcp.inbox.words import shortened
from ui_mcp.jsontypes import dumps
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.log import logger
from ui_mcp.validation import InvalidDataError, read_json

POLL_SECONDS = 1.0
LONGEST_NAME = 40
_log = logger("phone")

NoticeKind = Literal["permission", "form", "call"]


@dataclass(frozen=True, slots=True)
class Notice:
    """That an agent or host waits, in words that anybody may read on a locked screen."""

    id: str
    kind: NoticeKind
    expires_at: float
    agent: str = ""
    link: str = ""
    """Where the question is, for one use; empty if no other device can open it."""

    @property
    def text(self) -> str:
        """Who waits for what kind of answer."""
        # The name is what a program said about itself: letters only, so that it can be neither a link nor a line.
        name = shortened("".join(one if one.isprintable() else " " for one in self.agent), LONGEST_NAME)
        match self.kind:
            case "permission":
                return f"{name or 'A host'} asks for your permission"
            case "form":
                return f"{name or 'An agent'} has a question"
            case "call":
                return "A call is waiting for your answer"


def notice_of(question: Question) -> Notice:
    """Return the notice of a question."""
    return Notice(question.id, question.kind, question.expires_at, question.agent)


class Channel(Protocol):
    """One way to reach the person."""

    @property
    def name(self) -> str:
        """What the log calls it."""
        ...

    async def send(self, notice: Notice) -> None:
        """Deliver one notice.

        Raises:
            UiMcpError: that failed.
        """
        ...


class Told:
    """The questions of which the person was notified, kept over restarts; settled ones are dropped."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def load(self) -> frozenset[str]:
        try:
            return frozenset(read_json(list[str], self._file.read_bytes()))
        except (OSError, InvalidDataError):
            return frozenset()

    def save(self, ids: Collection[str]) -> None:
        write_atomic(self._file, dumps(sorted(ids)).encode(), mode=PRIVATE)


def unseen(waiting: Sequence[Notice], told: Collection[str]) -> Sequence[Notice]:
    """Return the notices that are new, oldest first; pure."""
    return [one for one in waiting if one.id not in told]


class Notifier:
    """Watches what waits and sends each new notice through every channel; a channel that fails stops no other."""

    def __init__(
        self,
        waiting: Callable[[], Awaitable[Sequence[Notice]]],
        channels: Sequence[Channel],
        told: Told,
        links: Callable[[Notice], str] = lambda _: "",
    ) -> None:
        self._waiting = waiting
        self._channels = channels
        self._told = told
        self._links = links

    async def run(self) -> None:
        """Watch until cancelled."""
        while True:
            try:
                await self.look()
            except Exception:  # noqa: BLE001 - questions stay in the inbox, and the server must not end with this
                _log.exception("cannot look for new questions")
            await anyio.sleep(POLL_SECONDS)

    async def look(self) -> None:
        """Tell of what is new since the last time."""
        told = await to_thread.run_sync(self._told.load)
        waiting = await self._waiting()
        ids = {one.id for one in waiting}
        # Before sending: a server that is killed in between tells once or not at all, never twice.
        if ids != told:
            await to_thread.run_sync(self._told.save, ids)
        async with anyio.create_task_group() as tasks:
            for notice in unseen(waiting, told):
                for channel in self._channels:
                    tasks.start_soon(self._send, channel, notice)

    async def _send(self, channel: Channel, notice: Notice) -> None:
        try:
            link = await to_thread.run_sync(self._links, notice)
            await channel.send(replace(notice, link=link))
        except Exception as error:  # noqa: BLE001 - whatever another service does is its own trouble
            _log.warning("%s was not told of a question: %s", channel.name, error)


def links_at(origin: str, links: NoticeLinks) -> Callable[[Notice], str]:
    """Return a function that makes the link of a notice; without an origin there is none."""

    def link(notice: Notice) -> str:
        # In the fragment: neither a proxy nor a log on the way sees it.
        return f"{origin}/inbox#link={links.new(notice.id, notice.expires_at)}" if origin else ""

    return link
