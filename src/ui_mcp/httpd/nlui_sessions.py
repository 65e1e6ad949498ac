"""Streams of the NLUI chat: each remembers its events, so that a dropped one is taken up where it broke."""

from collections.abc import AsyncIterator

import anyio
from anyio.abc import TaskGroup, TaskStatus

from ui_mcp.agent.conversation import Conversation
from ui_mcp.errors import NotFoundError
from ui_mcp.gateway.web.streams import NluiEvents
from ui_mcp.httpd.events import event_text
from ui_mcp.ids import secret_id
from ui_mcp.isolation import Boundary

MOST = 200


class ChatSession:
    """One message and everything that comes of it; it goes on when nobody listens."""

    def __init__(self, conversation: Conversation) -> None:
        self.id = secret_id()
        self.conversation = conversation
        self._events = NluiEvents(self.id, conversation.name, lambda: conversation.goes_on)
        self._texts: list[str] = []
        self._over = False
        self._more = anyio.Event()
        self._recording = anyio.CancelScope()
        self._boundary = Boundary(f"stream of {conversation.name}", self._failed)

    async def run(self, *, task_status: TaskStatus[None]) -> None:
        """Record until the turn has ended; started once nothing can be missed."""
        events = self._events
        try:
            with self._boundary, self._recording, self.conversation.news.watched() as news:
                self._add(*events.opening())
                task_status.started()
                async for frame in news:
                    for event in events.of(frame):
                        self._add(*event)
                    if events.done:
                        return
        finally:
            self._over = True
            self._more.set()

    def end(self, reason: str) -> None:
        """Stop before the turn has ended, and say why."""
        if not self._over:
            self._failed(reason)
        self._recording.cancel()

    def said(self, message_id: str) -> None:
        """Note which message this is; one that was said before is answered with what came of it then."""
        earlier = self.conversation.after(message_id)
        if earlier is None:
            return
        for event in self._events.replay(earlier):
            self._add(*event)
        if self._events.done:
            self._recording.cancel()

    async def texts(self, after: int = 0) -> AsyncIterator[str]:
        """Yield the events after a number, and then those to come."""
        while True:
            more = self._more
            for text in self._texts[after:]:
                after += 1
                yield text
            if self._over and after >= len(self._texts):
                return
            await more.wait()

    def _failed(self, reason: str) -> None:
        self._add("error", {"error": reason, "message": reason})

    def _add(self, name: str, data: dict[str, object]) -> None:
        self._texts.append(event_text(name, data, str(len(self._texts) + 1)))
        more, self._more = self._more, anyio.Event()
        more.set()


class ChatSessions:
    """The newest sessions, by their secret ids."""

    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks = tasks
        self._open: dict[str, ChatSession] = {}

    async def begin(self, conversation: Conversation) -> ChatSession:
        """Record what happens in a conversation from now on."""
        session = ChatSession(conversation)
        await self._tasks.start(session.run)
        self._open[session.id] = session
        while len(self._open) > MOST:
            self._open.pop(next(iter(self._open)))
        return session

    def end(self, conversation: str, reason: str) -> None:
        """End the streams of a conversation."""
        for session in self._open.values():
            if session.conversation.name == conversation:
                session.end(reason)

    def get(self, session_id: object) -> ChatSession:
        """Return a session.

        Raises:
            NotFoundError: there is none, or it is long over.
        """
        session = self._open.get(str(session_id))
        if session is None:
            raise NotFoundError("Unknown session_id")
        return session
