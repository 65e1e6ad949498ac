"""Answers `ui_perform`: runs actions in order, waits for the UI to settle, says what happened."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import anyio

from ui_mcp.errors import IntrospectError, UiActionFailedError, UiTimeoutError
from ui_mcp.introspection import budget
from ui_mcp.introspection.arguments import Action
from ui_mcp.introspection.contract import Ask, error_json, tokens
from ui_mcp.introspection.diff import compare
from ui_mcp.introspection.target import Target
from ui_mcp.introspection.tree import Capture
from ui_mcp.jsontypes import JsonObject

Observe = Literal["diff", "outline"]

OBSERVED_TOKENS = 10_000

"""What an observation may take; the rest is had by its cursor."""

_OBSERVED = Ask(stage="all", sections=frozenset({"virtualization"}))


@dataclass(frozen=True, slots=True)
class Performance:
    """A series of actions and how to treat it."""

    actions: Sequence[Action]
    await_idle: bool = True
    timeout_ms: int = 5000
    observe: Observe | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of the actions; `error` is the failure that stopped them."""

    results: tuple[JsonObject, ...]
    error: IntrospectError | None = None
    observed: str | None = None

    def json(self) -> JsonObject:
        """Write the outcome as the contract does."""
        written: JsonObject = {"results": list(self.results)}
        if self.error is not None:
            written |= error_json(self.error)
        if self.observed is not None:
            written["observed"] = self.observed
        return written


async def perform(target: Target, performance: Performance) -> Outcome:
    """Run the actions; the first failure stops them."""
    before = await target.capture(_OBSERVED) if performance.observe == "diff" else None
    results: list[JsonObject] = []
    error: IntrospectError | None = None
    async with target.turn():
        try:
            with anyio.fail_after(performance.timeout_ms / 1000):
                error = await _run(target, performance, results)
        except TimeoutError:
            error = UiTimeoutError(
                f"The actions took longer than {performance.timeout_ms} ms",
                timeoutMs=performance.timeout_ms,
                ran=[entry["type"] for entry in results],
                index=len(results),
            )
    observed = await _observed(target, performance, before) if not isinstance(error, UiTimeoutError) else None
    return Outcome(tuple(results), error, observed)


async def _run(target: Target, performance: Performance, results: list[JsonObject]) -> IntrospectError | None:
    for index, action in enumerate(performance.actions):
        try:
            await target.act(action.wire())
        except IntrospectError as error:
            results.append({"ok": False, "type": action.type})
            ref = action.target.ref().json() if action.target else None
            if isinstance(error, UiActionFailedError) or error.code == "MCP_UI_STALE_REF":
                error.details = {"index": index, "type": action.type, "ref": ref, **error.details}
            return error
        results.append({"ok": True, "type": action.type})
        if performance.await_idle:
            await target.backend.idle()
    return None


async def _observed(target: Target, performance: Performance, before: Capture | None) -> str | None:
    if performance.observe is None:
        return None
    try:
        after = await target.capture(_OBSERVED)
    except IntrospectError as error:
        return f"{error.code}: {error.message}"
    changes = compare(before, after).text() if before is not None else None
    if changes is not None and tokens(changes) <= OBSERVED_TOKENS:
        return changes
    return budget.text_page(after, OBSERVED_TOKENS)
