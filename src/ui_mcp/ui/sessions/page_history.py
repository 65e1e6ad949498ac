"""What pages ask of the history of their session: list, undo, redo, look at a past moment, return to it, fork it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ui_mcp.errors import UiMcpError
from ui_mcp.jsontypes import JsonObject, dumps, loads
from ui_mcp.wire import MessageType

if TYPE_CHECKING:
    from ui_mcp.ui.sessions.history import History
    from ui_mcp.ui.sessions.pages import Connection

Show = Callable[[str, int], Awaitable[str]]
"""Shows a step of the session with this id in another session, and returns the id of that one."""


async def nowhere(_vended: str, _step: int) -> str:
    """Stands in where no other session can be started."""
    raise UiMcpError("This server shows no past moments")


@dataclass(frozen=True, slots=True)
class PageHistory:
    """Answers the pages of one session."""

    vended: str
    history: "History"
    displayed: Callable[[], str | None]
    look: Show
    fork: Show

    async def answer(self, connection: "Connection", frame: str) -> None:
        """Do what a frame asks for, and tell its page the result or the reason."""
        try:
            asked = loads(frame)["data"]
            number, action = int(asked["id"]), str(asked["action"])
        except (ValueError, KeyError, TypeError):
            return
        try:
            result: JsonObject = {"result": await self._do(action, asked, connection.author)}
        except UiMcpError as error:
            result = {"error": error.message}
        except (ValueError, TypeError, KeyError):
            result = {"error": "The request is malformed"}
        connection.outbox.put(dumps({"type": MessageType.HISTORY, "data": {"id": number, **result}}))

    async def _do(self, action: str, asked: JsonObject, author: str) -> JsonObject:
        app = self.displayed() or ""
        step = int(asked["step"]) if asked.get("step") is not None else None
        match action:
            case "list":
                before = asked.get("before")
                found = await self.history.steps(before=None if before is None else int(before), limit=100)
                return {**found, "me": author}
            case "undo":
                return (await self.history.undo(author, step=step, app=app if step is None else "")).as_json()
            case "redo":
                return (await self.history.redo(author, app=app)).as_json()
            case "return" if step is not None:
                return (await self.history.return_to(step, author)).as_json()
            case "look" if step is not None:
                return {"session": await self.look(self.vended, step)}
            case "fork" if step is not None:
                return {"session": await self.fork(self.vended, step)}
            case _:
                raise UiMcpError(f"Unknown action {action}")
