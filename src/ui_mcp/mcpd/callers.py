"""Answers what a mounted server asks us while it works: roots ourselves, the rest by the client whose call it is."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ui_mcp.errors import UpstreamError
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.toolkit.tool import Call

REFUSED = -1
"""The code for a sampling request that nobody answers."""
_FORWARDED = {"sampling/createMessage": "sampling", "elicitation/create": "elicitation"}


class Callers:
    """The calls one server works on."""

    def __init__(self, roots: Sequence[str] = ()) -> None:
        self._roots = roots
        self._open: dict[int, Call] = {}

    @property
    def capabilities(self) -> JsonObject:
        """What the server is told we can do."""
        forwarded: JsonObject = {"sampling": {}, "elicitation": {}}
        return {**forwarded, "roots": {"listChanged": False}} if self._roots else forwarded

    @contextmanager
    def calling(self, call: Call) -> Iterator[None]:
        """Let the caller be asked for as long as the block runs."""
        self._open[id(call)] = call
        try:
            yield
        finally:
            self._open.pop(id(call), None)

    async def answer(self, method: str, params: JsonObject) -> JsonObject:
        """Answer a request of the server.

        Raises:
            UpstreamError: we do not know the method, or nobody who is calling can answer it.
        """
        if method == "ping":
            return {}
        if method == "roots/list" and self._roots:
            return {"roots": [{"uri": uri} for uri in self._roots]}
        if method not in _FORWARDED:
            raise UpstreamError(f"Method not found: {method}")
        caller = self._able(_FORWARDED[method])
        if caller is not None and caller.ask_client is not None:
            return await caller.ask_client(method, params)
        if method == "elicitation/create":
            return {"action": "decline"}
        raise UpstreamError("No client that is calling this server can sample", rpc_code=REFUSED)

    async def answered(self, request: Json) -> JsonObject:
        """Answer a request that came inside a result of the modern era."""
        if not isinstance(request, dict) or not isinstance(request.get("method"), str):
            raise UpstreamError("The server's question could not be read")
        return await self.answer(request["method"], request.get("params") or {})

    def _able(self, capability: str) -> Call | None:
        """Return the latest caller who declared the capability and can be asked."""
        able = (call for call in reversed(self._open.values()) if call.ask_client and capability in call.capabilities)
        return next(able, None)


def can_answer(call: Call, requests: JsonObject) -> bool:
    """Say whether a client of the modern era can answer all of these itself."""
    methods = [one.get("method") if isinstance(one, dict) else None for one in requests.values()]
    return call.era == "modern" and all(_FORWARDED.get(str(method)) in call.capabilities for method in methods)
