"""Runs actions and scenarios."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import anyio
from pydantic import BeforeValidator, Field

from ui_mcp.errors import IntrospectError, UiActionFailedError, UiArgumentError, UiTimeoutError
from ui_mcp.introspection import budget
from ui_mcp.introspection.arguments import Action, Request, Selector
from ui_mcp.introspection.contract import CaptureRequest, error_json, tokens
from ui_mcp.introspection.diff import compare
from ui_mcp.introspection.target import Target, until
from ui_mcp.introspection.tree import Capture, Node
from ui_mcp.jsontypes import Json, JsonObject, dumps
from ui_mcp.toolkit.tool import Text, ToolResult

Observe = Literal["diff", "outline"]

OBSERVED_TOKENS = 10_000
"""What an observation may take; the rest is had by its cursor."""

_OBSERVED = CaptureRequest(stage="all", sections=frozenset({"virtualization"}))


@dataclass(frozen=True, slots=True)
class ActionBatch:
    """A series of actions and how to treat it."""

    actions: Sequence[Action]
    await_idle: bool = True
    timeout_ms: int = 5000
    observe: Observe | None = None


@dataclass(frozen=True, slots=True)
class BatchResult:
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


async def perform(target: Target, performance: ActionBatch) -> BatchResult:
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
    return BatchResult(tuple(results), error, observed)


async def _run(target: Target, performance: ActionBatch, results: list[JsonObject]) -> IntrospectError | None:
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


async def _observed(target: Target, performance: ActionBatch, before: Capture | None) -> str | None:
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


SECONDS = 3.0


def _as_selector(value: Json) -> Json:
    return {"text": value} if isinstance(value, str) else value


AnySelector = Annotated[Selector, BeforeValidator(_as_selector)]


class Expectation(Request):
    """What must be there, within a few seconds."""

    selector: AnySelector = Field(description="css, text and predicate, or a bare text.")
    text: str | None = Field(None, description="Text that one of the matches must contain.")
    count: int | None = Field(
        None, ge=0, description="How many matches there must be; 0 = none. Default: at least one."
    )

    def holds(self, found: Sequence[Node]) -> bool:
        """Decide."""
        if self.text is not None:
            wanted = self.text.casefold()
            said = [(node.record.get("l") or "") + "\n" + (node.record.get("vt") or "") for node in found]
            found = [node for node, text in zip(found, said, strict=True) if wanted in text.casefold()]
        return bool(found) if self.count is None else len(found) == self.count


@dataclass(frozen=True, slots=True)
class Failure:
    """The step that failed and why."""

    step: int
    given: JsonObject
    error: IntrospectError

    def json(self) -> JsonObject:
        """Write the failure."""
        return {"ok": False, "step": self.step, "given": self.given, **error_json(self.error)}


async def play(target: Target, steps: Sequence[JsonObject], seconds: float = SECONDS) -> Failure | None:
    """Run the steps in order; None when all went well."""
    for number, step in enumerate(steps):
        try:
            await _step(target, step, seconds)
        except IntrospectError as error:
            return Failure(number, step, error)
    return None


async def _step(target: Target, step: JsonObject, seconds: float) -> None:
    if "expect" in step:
        expected = _read(Expectation, step["expect"])
        await until(target, expected.selector, seconds, expected.holds)
        return
    action = dict(step)
    for part in ("target", "from", "to"):
        if part in action:
            action[part] = await _resolved(target, action[part], seconds)
    outcome = await perform(target, ActionBatch([_read(Action, action)], timeout_ms=10_000))
    if outcome.error is not None:
        raise outcome.error


async def _resolved(target: Target, given: Json, seconds: float) -> Json:
    """Turn a selector into the uid of its first visible match; a reference stays."""
    if not (isinstance(given, dict) and given.keys() & {"css", "text", "predicate"}):
        return given
    try:
        # Components are hidden until they have been loaded, so what is hidden may show in a moment.
        found = await until(target, _read(Selector, given), seconds, lambda nodes: bool(_visible(nodes)))
    except UiTimeoutError as error:
        if not error.details.get("matches"):
            raise
        raise UiActionFailedError(f"What {given} means is hidden", reason="NOT_VISIBLE") from error
    return _visible(found)[0].uid


def _visible(found: Sequence[Node]) -> list[Node]:
    return [node for node in found if node.record.get("v") is not False and node.record.get("w") is not False]


def _read(model: type[Any], given: Json) -> Any:
    try:
        return model.model_validate(given)
    except ValueError as error:
        raise UiArgumentError(f"The step is wrong: {error}") from error


def batch_result(outcome: BatchResult) -> ToolResult:
    """Write what became of a series of actions."""
    answer = outcome.json()
    return ToolResult((Text(dumps(answer)),), structured=answer, is_error=outcome.error is not None)
