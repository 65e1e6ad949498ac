"""Event streams of the chat API: one per message, recorded so that a client can resume."""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from secrets import token_hex

import anyio
from anyio.abc import TaskGroup, TaskStatus

from ui_mcp.agent.conversation import Conversation
from ui_mcp.errors import NotFoundError
from ui_mcp.isolation import Boundary
from ui_mcp.jsontypes import JsonObject, dumps
from ui_mcp.webserver.responses import event_text

Named = tuple[str, JsonObject]
_FINISHED = {"done", "error", "denied", "aborted"}


class NluiEvents:
    """Translates the frames of a conversation into chat events, until the turn that answers one message ends."""

    def __init__(self, session_id: str, conversation_id: str, goes_on: Callable[[], bool]) -> None:
        """Create it before the message is posted; `goes_on` returns whether another turn follows the one that ended."""
        self._session = session_id
        self._conversation = conversation_id
        self._goes_on = goes_on
        self._tools: dict[str, str] = {}
        """Names of the calls without a result so far, by item id."""
        self._seen: set[str] = set()
        self.taken = False
        """Whether the message has reached the conversation; a turn that ends earlier answers another message."""
        self.done = False

    def opening(self) -> Named:
        """Return the first event of a stream."""
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
            case "retrying":
                yield "retrying", {key: value for key, value in frame.items() if key != "type"}
            case "error":
                self.done = True
                yield "error", {"error": frame["message"], "message": frame["message"]}
                yield "done", {"conversation_id": self._conversation}
            case "ui_state_delta":
                for op in frame["ops"]:
                    yield from self._appended(op["item"]) if op["op"] == "append" else self._updated(op)

    def replay(self, items: Iterable[JsonObject]) -> Iterator[Named]:
        """Translate a message posted earlier and what followed, up to the next message with a turn of its own."""
        self.taken = True
        ended = False
        for item in items:
            match item["kind"]:
                case "end_turn":  # not final: a message that came too late for this turn is answered in the next
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
            case "notice" if item["level"] == "info":
                yield "notice", {"message": item["text"]}
            case "notice":
                yield "error", {"error": item["text"], "message": item["text"]}
            case "end_turn" if self.taken and not self._goes_on():
                yield from self._end()

    def _updated(self, op: JsonObject) -> Iterator[Named]:
        yield from self._result(op["id"], op["set"])
        # A rewind ends the open turn; a turn that had not begun leaves no item that shows it.
        if op["set"].get("superseded") and self.taken and not self._goes_on():
            yield from self._end()

    def _result(self, item: str, values: JsonObject) -> Iterator[Named]:
        if item in self._tools and values.get("status") in _FINISHED and values.get("content"):
            content = values["content"]
            call = {"id": item.removeprefix("t:"), "name": self._tools.pop(item)}
            yield "tool_result", call | {"result": content["result"], "is_error": content["is_error"]}

    def _end(self) -> Iterator[Named]:
        if not self.done:
            self.done = True
            yield "done", {"conversation_id": self._conversation}


MAX_SESSIONS = 200


class ChatSession:
    """One message and the events of its turn; recorded whether or not a client reads them."""

    def __init__(self, conversation: Conversation) -> None:
        self.id = token_hex(16)
        self.conversation = conversation
        self._events = NluiEvents(self.id, conversation.name, lambda: conversation.goes_on)
        self._texts: list[str] = []
        self._ended = False
        self._more = anyio.Event()
        self._recording = anyio.CancelScope()
        self._boundary = Boundary(f"stream of {conversation.name}", self._failed)

    async def run(self, *, task_status: TaskStatus[None]) -> None:
        """Record until the turn has ended; reports as started once no event can be missed."""
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
            self._ended = True
            self._more.set()

    def end(self, reason: str) -> None:
        """Stop before the turn has ended, with an error event that gives the reason."""
        if not self._ended:
            self._failed(reason)
        self._recording.cancel()

    def said(self, message_id: str) -> None:
        """Set the message; one that was posted before is answered from the record of its turn."""
        earlier = self.conversation.after(message_id)
        if earlier is None:
            return
        for event in self._events.replay(earlier):
            self._add(*event)
        if self._events.done:
            self._recording.cancel()

    async def texts(self, after: int = 0) -> AsyncIterator[str]:
        """Yield the events after a number, then those to come until the turn ends."""
        while True:
            more = self._more
            for text in self._texts[after:]:
                after += 1
                yield text
            if self._ended and after >= len(self._texts):
                return
            await more.wait()

    def _failed(self, reason: str) -> None:
        self._add("error", {"error": reason, "message": reason})

    def _add(self, name: str, data: dict[str, object]) -> None:
        self._texts.append(event_text(name, data, str(len(self._texts) + 1)))
        more, self._more = self._more, anyio.Event()
        more.set()


class ChatSessions:
    """The latest sessions by their secret ids; the oldest is dropped when there are too many."""

    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks = tasks
        self._open: dict[str, ChatSession] = {}

    async def begin(self, conversation: Conversation) -> ChatSession:
        """Record the events of a conversation from now on."""
        session = ChatSession(conversation)
        await self._tasks.start(session.run)
        self._open[session.id] = session
        while len(self._open) > MAX_SESSIONS:
            self._open.pop(next(iter(self._open)))
        return session

    def end(self, conversation: str, reason: str) -> None:
        """End all streams of a conversation."""
        for session in self._open.values():
            if session.conversation.name == conversation:
                session.end(reason)

    def get(self, session_id: object) -> ChatSession:
        """Return a session.

        Raises:
            NotFoundError: there is no such session, or it was dropped.
        """
        session = self._open.get(str(session_id))
        if session is None:
            raise NotFoundError("Unknown session_id")
        return session
