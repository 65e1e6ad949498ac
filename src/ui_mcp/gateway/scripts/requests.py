"""Answers the requests of a script: calls under policy, searches, questions to a person, the time."""

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from ui_mcp.errors import DeniedError, NotFoundError, UiMcpError, UpstreamError
from ui_mcp.gateway.enforcement import UNCERTAIN
from ui_mcp.gateway.internal_source import PERSON
from ui_mcp.gateway.policy import Verdict
from ui_mcp.gateway.results import StoredResult
from ui_mcp.gateway.scripts.store import StepState
from ui_mcp.gateway.scripts.stubs import stub
from ui_mcp.gateway.scripts.worker import Request
from ui_mcp.gateway.search.index import Hit
from ui_mcp.gateway.source import Entry
from ui_mcp.jsontypes import Json, JsonObject, loads
from ui_mcp.toolkit.tool import Call, Media, Relayed, Text, ToolResult

_IDEMPOTENT_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE", "QUERY", "PUT", "DELETE"})
_INTERRUPTED = "was interrupted while it ran; whether it took effect is unknown, so it is not run again"


class ScriptDeniedError(DeniedError):
    """A person denied a call and wants the whole script to stop."""


class Gate(Protocol):
    """What a script needs of the policy enforcer."""

    def verdict(self, entry: Entry, arguments: JsonObject, call: Call) -> Verdict: ...

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult: ...

    async def ask_and_wait(self, entry: Entry, arguments: JsonObject, call: Call, verdict: Verdict) -> ToolResult: ...


@dataclass(frozen=True, slots=True)
class Services:
    """What scripts use of the gateway."""

    gate: Gate
    entry: Callable[[str], Awaitable[Entry]]
    search: Callable[[str, str, int], Awaitable[list[Hit]]]
    read_result: Callable[[str, str], Awaitable[StoredResult]]
    now: Callable[[], float] = time.time


@dataclass(frozen=True, slots=True)
class Requests:
    """Answers the requests of one script."""

    services: Services
    run_id: str
    principal: str

    async def answer(
        self, request: Request, interrupted: StepState | None, begin: Callable[[StepState], Awaitable[None]]
    ) -> JsonObject:
        """Return `{value}` or `{error}`; `begin` is awaited before anything is sent, `interrupted` is from a crash.

        Raises:
            ScriptDeniedError: a person denied a call and wants the script to stop.
        """
        try:
            match request.op:
                case "call":
                    return await self._call(request, interrupted, begin)
                case "search":
                    return {"value": await self._search(request.payload)}
                case "ask":
                    return await self._ask(request, begin)
                case _:
                    return {"value": self.services.now()}
        except DeniedError as error:
            if error.details.get("decision") == "deny_abort":
                raise ScriptDeniedError(error.message) from error
            return _failed(error.message, denied=True)
        except UpstreamError as error:
            return _failed(error.message, uncertain=bool(error.details.get("uncertain")))
        except UiMcpError as error:
            return _failed(error.message)

    async def _call(
        self, request: Request, interrupted: StepState | None, begin: Callable[[StepState], Awaitable[None]]
    ) -> JsonObject:
        name, arguments = request.payload["tool"], request.payload["arguments"]
        entry = await self.services.entry(name)
        if interrupted == "sending" and not is_idempotent(entry):
            return _failed(f"{name} {_INTERRUPTED}", uncertain=True)
        gate, caller = self.services.gate, self._caller(request)
        while True:
            verdict = gate.verdict(entry, arguments, caller)
            await begin("asking" if verdict.decision == "ask" else "sending")
            # Rules may change while the journal is written; what is journalled must be what happens.
            if gate.verdict(entry, arguments, caller).decision == verdict.decision:
                break
        if verdict.decision == "ask":
            result = await gate.ask_and_wait(entry, arguments, caller, verdict)
        else:
            result = await gate.call(name, arguments, caller)
        return await self._answer_of(result)

    async def _ask(self, request: Request, begin: Callable[[StepState], Awaitable[None]]) -> JsonObject:
        await begin("asking")
        arguments = {"question": request.payload["question"], "answer": ""}
        verdict = Verdict("ask", "a script asks you; approve, or edit the answer")
        gate, caller = self.services.gate, self._caller(request)
        try:
            return await self._answer_of(await gate.ask_and_wait(PERSON, arguments, caller, verdict))
        except DeniedError as error:
            if error.details.get("decision") == "deny_abort":
                raise
            return {"value": {"approved": False, "answer": error.details.get("reason", "")}}

    async def _search(self, payload: Json) -> list[Json]:
        limit = max(1, min(int(payload["limit"]), 30))
        hits = await self.services.search(payload["query"], self.principal, limit)
        return [{"name": hit.entry.name, "stub": stub(hit.entry)} for hit in hits]

    def _caller(self, request: Request) -> Call:
        # Unique for each step, so that equal calls get an approval each, and the same one after a crash.
        return Call(self.principal, agent=f"script step {request.key}", call_id=self.run_id)

    async def _answer_of(self, result: ToolResult) -> JsonObject:
        if result.is_error:
            text = "\n".join(part.text for part in result.content if isinstance(part, Text))
            return _failed(text or "the call failed", uncertain=UNCERTAIN in (result.meta or {}))
        return {"value": await self._value(result)}

    async def _value(self, result: ToolResult) -> Json:
        if result.structured is not None:
            return await self._whole(result.structured)
        parts = [_part(part.block) if isinstance(part, Relayed) else part for part in result.content]
        texts = [part.text for part in parts if isinstance(part, Text)]
        if len(texts) == len(parts):
            text = "\n".join(texts)
            try:
                return loads(text)
            except ValueError:
                return text
        return [_shown(part) for part in parts]

    async def _whole(self, shown: JsonObject) -> Json:
        """Return a result that the gateway cut, in full; only models need it cut."""
        handle = shown.get("handle")
        if "truncated" not in shown or not isinstance(handle, str):
            return shown
        try:
            value = (await self.services.read_result(handle, self.principal)).json()
        except (NotFoundError, ValueError):
            return shown
        return value if isinstance(value, dict) else {"result": value}


def is_idempotent(entry: Entry) -> bool:
    """Return whether a call may be repeated when its first outcome is unknown."""
    hints = entry.tool.annotations
    if hints.read_only or hints.idempotent:
        return True
    return entry.kind == "target" and entry.method in _IDEMPOTENT_METHODS


def _part(block: JsonObject) -> Text | JsonObject:
    return Text(str(block.get("text", ""))) if block.get("type") == "text" else block


def _shown(part: Text | Media | JsonObject) -> Json:
    match part:
        case Text(text):
            return text
        case Media(kind, data, mime_type):
            return {"type": kind, "mimeType": mime_type, "bytes": len(data)}
        case _:
            return part


def _failed(message: str, *, denied: bool = False, uncertain: bool = False) -> JsonObject:
    return {"error": {"message": message, "denied": denied, "uncertain": uncertain}}
