"""Requests of this server to a client: sampling, elicitation and roots."""

from collections.abc import Awaitable, Callable
from dataclasses import field

import anyio

from ui_mcp.jsonrpc.messages import RpcError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.lazy_dataclass import dataclass

CONNECTION_CLOSED = -32000
REQUEST_TIMEOUT = -32001
TIMEOUT_SECONDS = 300.0
SendMessage = Callable[[JsonObject], Awaitable[None]]


@dataclass(slots=True)
class _Waiting:
    done: anyio.Event = field(default_factory=anyio.Event)
    answer: JsonObject = field(default_factory=dict)


class ClientRequests:
    """The pending requests of this server to one client of the handshake era."""

    def __init__(self) -> None:
        self._waiting: dict[str, _Waiting] = {}
        self._next = 0

    async def ask(self, method: str, params: JsonObject | None, send: SendMessage) -> JsonObject:
        """Send a request to the client and return its result.

        Raises:
            RpcError: the client refused, disconnected or timed out.
        """
        self._next += 1
        key = f"ui-mcp-{self._next}"
        waiting = self._waiting[key] = _Waiting()
        try:
            await send({"jsonrpc": "2.0", "id": key, "method": method, **({"params": params} if params else {})})
            with anyio.fail_after(TIMEOUT_SECONDS):
                await waiting.done.wait()
        except TimeoutError:
            raise RpcError(REQUEST_TIMEOUT, f"The client did not answer {method}") from None
        finally:
            self._waiting.pop(key, None)
        return _result(waiting.answer)

    def resolve(self, message: JsonObject) -> None:
        """Pass a response to its waiting request; a response without one is dropped."""
        waiting = self._waiting.get(str(message.get("id")))
        if waiting is not None:
            waiting.answer = message
            waiting.done.set()

    def cancel_all(self) -> None:
        """Fail every pending request: the client has disconnected."""
        for waiting in self._waiting.values():
            waiting.answer = {"error": {"code": CONNECTION_CLOSED, "message": "Connection closed"}}
            waiting.done.set()


def _result(answer: JsonObject) -> JsonObject:
    problem = answer.get("error")
    if isinstance(problem, dict):
        code = problem.get("code")
        raise RpcError(code if isinstance(code, int) else 0, str(problem.get("message", "")), problem.get("data"))
    result = answer.get("result")
    return result if isinstance(result, dict) else {}
