"""The scripted agent: an MCP client of the running server that notes whatever it does in the feed."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import anyio

from ui_mcp.app.tour.feed import Entry, Feed, Turn
from ui_mcp.errors import UiMcpError
from ui_mcp.jsontypes import Json, JsonObject, dumps, loads
from ui_mcp.mcp_client.parsing import text_of
from ui_mcp.toolkit.tool import Call, ToolResult

APP = "trip"
SERVER = "ui-mcp"
"""Where events come from that are not of an app."""
VIEW = "viewdefs/Trip.DEFAULT.html"
PARTS = Path(__file__).with_name("trip")
WAIT_SECONDS = 20
PERFORM_MS = 60_000
_SHOWN = 400


class Server(Protocol):
    """The connected MCP server."""

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult: ...


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the tour."""

    order: int
    """Steps run in this order; leave gaps for others."""
    title: str
    run: Callable[["TourAgent"], Awaitable[None]]


class TourAgent:
    """Talks to the server for one run; `pace` stretches the pauses, 0 leaves them out."""

    def __init__(self, server: Server, feed: Feed, pace: float) -> None:
        self._server = server
        self._feed = feed
        self._pace = pace
        self.is_repeated = feed.run > 1
        """Whether an earlier run has left its traces."""

    async def call(self, tool: str, arguments: JsonObject | None = None, *, shown: Json = None) -> str:
        """Call a tool and return its text; `shown` stands for long arguments in the feed.

        Raises:
            UiMcpError: the tool failed.
        """
        arguments = arguments or {}
        note = dumps(shown if shown is not None else arguments)
        entry = self._feed.add(Entry("call", tool, self._feed.step, note, state="running"))
        try:
            result = await self._server.call(tool, arguments, Call())
        except UiMcpError as error:
            self._answered(entry, error.message, "failed")
            raise
        text = text_of(result)
        self._answered(entry, text, "failed" if result.is_error else "done")
        if result.is_error:
            raise UiMcpError(reason_of(text))
        return text

    def _answered(self, entry: Entry, text: str, state: Literal["done", "failed"]) -> None:
        entry.result, entry.state = text[:_SHOWN], state
        self._feed.changed()

    async def perform(self, *actions: JsonObject, **options: Json) -> str:
        """Operate the page, on a busy machine too."""
        shown = {"actions": list(actions), **options}
        return await self.call("ui_perform", {**shown, "timeoutMs": PERFORM_MS}, shown=shown)

    async def say(self, text: str, *, seconds: float = 2.0) -> None:
        """Post a message to the person, and give them time to read it."""
        self._feed.add(Entry("say", text, self._feed.step))
        await self._server.call("chat_assistant_post", {"content": text}, Call())
        await self.pause(seconds)

    async def edit(self, *changes: JsonObject, seconds: float = 2.2, **options: Json) -> JsonObject:
        """Change files of the app, show it and what was written, and give the person time to look."""
        written = written_by(changes)
        for path, text in written.items():
            self._feed.add(Entry("file", f"apps/{APP}/{path}", self._feed.step, text))
        shown = {"app": APP, "changes": list(written), **options}
        answer: JsonObject = loads(
            await self.call("ui_edit", {"app": APP, "changes": list(changes), **options}, shown=shown)
        )
        await self.pause(seconds)
        return answer

    async def next_event(self, name: str, turn: Turn = "app") -> JsonObject:
        """Wait for an event of the app or the server, however long the person takes."""
        self._feed.wait_for(turn)
        while True:
            for event in loads(await self.call("ui_wait", {"timeout": WAIT_SECONDS})):
                if event.get("app") in {APP, SERVER} and event.get("event") == name:
                    self._feed.wait_for("agent")
                    return dict(event)
            self._drop_last_call()

    async def event_unless_passed(self, name: str, turn: Turn) -> JsonObject | None:
        """Wait like `next_event`; return `None` when the person would rather go on."""
        found: list[JsonObject] = []
        self._feed.wait_for(turn)

        async def pass_on(waiting: anyio.CancelScope) -> None:
            await self._feed.passed()
            waiting.cancel()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(pass_on, tasks.cancel_scope)
            found.append(await self.next_event(name, turn))
            tasks.cancel_scope.cancel()
        if found:
            return found[0]
        self._drop_last_call()
        self._feed.wait_for("agent")
        return None

    def _drop_last_call(self) -> None:
        """Forget a wait that ended without an event; the next one takes its place in the feed."""
        self._feed.entries.pop()
        self._feed.changed()

    def waits_for(self, turn: Turn) -> None:
        """Tell the page whose turn it is."""
        self._feed.wait_for(turn)

    async def pause(self, seconds: float) -> None:
        """Leave the person time to see what happened."""
        await anyio.sleep(seconds * self._pace)


def reason_of(text: str) -> str:
    """Return the first line of why a call failed, which may be in JSON; pure."""
    with suppress(ValueError, LookupError, TypeError):  # it is in plain words
        text = str(loads(text)["error"]["message"])
    return text.partition("\n")[0]


def written_by(changes: Sequence[JsonObject]) -> dict[str, str]:
    """Return what the changes write, by file; pure."""
    texts: dict[str, list[str]] = {}
    for change in changes:
        texts.setdefault(str(change["path"]), []).append(str(change.get("text") or change.get("new") or "").strip("\n"))
    return {path: "\n".join(filter(None, written)) for path, written in texts.items()}


def part(name: str) -> str:
    """Return a part of the app that the tour builds."""
    return (PARTS / name).read_text(encoding="utf-8")


def before(path: str, place: str, name: str) -> JsonObject:
    """Return the change that puts a part before the text `place` of a file."""
    return {"path": path, "old": place, "new": f"{part(name)}{place}"}
