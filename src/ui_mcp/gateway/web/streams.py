"""Event streams of the page."""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator

import anyio
from anyio.abc import TaskGroup, TaskStatus

from ui_mcp.agent.conversation import Conversation
from ui_mcp.errors import NotFoundError
from ui_mcp.ids import secret_id
from ui_mcp.isolation import Boundary
from ui_mcp.jsontypes import JsonObject, dumps
from ui_mcp.webserver.responses import event_text

Named = tuple[str, JsonObject]
_OVER = {"done", "error", "denied", "aborted"}


class NluiEvents:
    """Follows a conversation until the turn that answers a message said meanwhile has ended."""

    def __init__(self, session_id: str, conversation_id: str, goes_on: Callable[[], bool]) -> None:
        """Make one before the message is said; `goes_on` tells whether another turn follows the one that ended."""
        self._session = session_id
        self._conversation = conversation_id
        self._goes_on = goes_on
        self._tools: dict[str, str] = {}
        """Names of the calls whose result is still to come, by item."""
        self._seen: set[str] = set()
        self.taken = False
        """Whether the message has reached the conversation; a turn that ends before is another one's."""
        self.done = False

    def opening(self) -> Named:
        """Return the first event."""
        return "session", {"session_id": self._session, "conversation_id": self._conversation}

    def of(self, frame: JsonObject) -> Iterator[Named]:
        """Translate one frame of the conversation."""
        match frame["type"]:
            case "assistant_delta":
                yield "content_delta", {"delta": frame["text"]}
            case "usage":
                given, made = frame["input_tokens"], frame["output_tokens"]
                total = given + made
                yield "usage", {"prompt_tokens": given, "completion_tokens": made, "total_tokens": total}
            case "error":
                self.done = True
                yield "error", {"error": frame["message"], "message": frame["message"]}
                yield "done", {"conversation_id": self._conversation}
            case "ui_state_delta":
                for op in frame["ops"]:
                    yield from self._appended(op["item"]) if op["op"] == "append" else self._updated(op)

    def replay(self, items: Iterable[JsonObject]) -> Iterator[Named]:
        """Translate a message that was taken before now and what followed it, up to the next one that had a turn."""
        self.taken = True
        ended = False
        for item in items:
            match item["kind"]:
                case "end_turn":  # not yet the end: a message that came too late for this turn is answered in the next
                    ended = True
                    self._seen.add(item["id"])
                case "user_message" if ended:
                    yield from self._end()
                    return
                case _:
                    yield from self._appended(item)
                    yield from self._result(item["id"], item)
        if not self._goes_on():
            yield from self._end()

    def _appended(self, item: JsonObject) -> Iterator[Named]:
        if item["id"] in self._seen:
            return
        self._seen.add(item["id"])
        match item["kind"]:
            case "user_message":
                self.taken = True
            case "tool":
                self._tools[item["id"]] = item["name"]
                yield (
                    "tool_call",
                    {"id": item["call_id"], "name": item["name"], "arguments": dumps(item.get("args", {}))},
                )
            case "approval" if item["status"] == "pending":
                yield (
                    "tool_confirm",
                    {
                        "session_id": self._session,
                        "id": item["call_id"],
                        "name": item["tool"],
                        "arguments": dumps(item.get("args", {})),
                        "approval_id": item["approval_id"],
                        "digest": item["digest"],
                        "request": item.get("request"),
                        "expires_at": item.get("expires_at"),
                    },
                )
            case "assistant_markdown":
                yield "content", {"text": item["md"]}
            case "notice":
                yield "error", {"error": item["text"], "message": item["text"]}
            case "end_turn" if self.taken and not self._goes_on():
                yield from self._end()

    def _updated(self, op: JsonObject) -> Iterator[Named]:
        yield from self._result(op["id"], op["set"])
        # A rewind closes the open turn, and one that had not begun leaves no item that says so.
        if op["set"].get("superseded") and self.taken and not self._goes_on():
            yield from self._end()

    def _result(self, item: str, values: JsonObject) -> Iterator[Named]:
        if item in self._tools and values.get("status") in _OVER and values.get("content"):
            content = values["content"]
            told = {"id": item.removeprefix("t:"), "name": self._tools.pop(item)}
            yield "tool_result", told | {"result": content["result"], "is_error": content["is_error"]}

    def _end(self) -> Iterator[Named]:
        if not self.done:
            self.done = True
            yield "done", {"conversation_id": self._conversation}


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
