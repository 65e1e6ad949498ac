"""Requests from us to a client of the handshake era, and the answers that come back."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

import anyio
from mcp.shared.exceptions import MCPError

from ui_mcp.jsontypes import JsonObject

CONNECTION_CLOSED = -32000
REQUEST_TIMEOUT = -32001
_PATIENCE = 300.0


@dataclass(slots=True)
class _Waiting:
    done: anyio.Event = field(default_factory=anyio.Event)
    answer: JsonObject = field(default_factory=dict)


class Asks:
    """The open questions of one connection."""

    def __init__(self) -> None:
        self._waiting: dict[str, _Waiting] = {}
        self._next = 0

    async def ask(
        self,
        method: str,
        params: JsonObject | None,
        send: Callable[[JsonObject], Awaitable[None]],
        seconds: float | None = None,
    ) -> JsonObject:
        """Send a request and return its result.

        Raises:
            MCPError: the client refused, left, or took too long.
        """
        self._next += 1
        key = f"ui-mcp-{self._next}"
        waiting = self._waiting[key] = _Waiting()
        try:
            await send({"jsonrpc": "2.0", "id": key, "method": method, **({"params": params} if params else {})})
            with anyio.fail_after(seconds or _PATIENCE):
                await waiting.done.wait()
        except TimeoutError:
            raise MCPError(REQUEST_TIMEOUT, f"The client did not answer {method}") from None
        finally:
            self._waiting.pop(key, None)
        return _unpacked(waiting.answer)

    def answered(self, message: JsonObject) -> None:
        """Take a response; one nobody waits for is dropped."""
        waiting = self._waiting.get(str(message.get("id")))
        if waiting is not None:
            waiting.answer = message
            waiting.done.set()

    def abandon(self) -> None:
        """Wake every waiter: the client is gone."""
        for waiting in self._waiting.values():
            waiting.answer = {"error": {"code": CONNECTION_CLOSED, "message": "Connection closed"}}
            waiting.done.set()


def _unpacked(answer: JsonObject) -> JsonObject:
    problem = answer.get("error")
    if isinstance(problem, dict):
        code = problem.get("code")
        raise MCPError(code if isinstance(code, int) else 0, str(problem.get("message", "")), problem.get("data"))
    result = answer.get("result")
    return result if isinstance(result, dict) else {}
