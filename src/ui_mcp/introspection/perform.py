"""Runs batches of actions, and scenarios of actions and expectations."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal, TypeVar

import anyio

from ui_mcp.errors import IntrospectError, UiActionFailedError, UiArgumentError, UiNodeNotFoundError, UiTimeoutError
from ui_mcp.fields import Before, Limit
from ui_mcp.introspection import budget
from ui_mcp.introspection.arguments import Action, ActionNode, Request, Selector
from ui_mcp.introspection.contract import CaptureRequest, error_json, tokens
from ui_mcp.introspection.diff import compare
from ui_mcp.introspection.outline import cut, row_uids
from ui_mcp.introspection.selectors import parts_of, texts_of
from ui_mcp.introspection.target import Target, until
from ui_mcp.introspection.tree import Capture, Node
from ui_mcp.jsontypes import Json, JsonObject, dumps
from ui_mcp.toolkit.tool import Text, ToolResult
from ui_mcp.validation import InvalidDataError, read, to_json

Observe = Literal["diff", "outline"]
R = TypeVar("R", bound=Request)

OBSERVED_TOKENS = 10_000
"""Size limit of an observation; its cursor gives access to the rest."""

_OBSERVATION = CaptureRequest(stage="all", sections=frozenset({"virtualization"}))


@dataclass(frozen=True, slots=True)
class ActionBatch:
    """A series of actions, with its time limit and what to observe afterwards."""

    actions: Sequence[Action]
    await_idle: bool = True
    timeout_ms: int = 5000
    observe: Observe | None = None


@dataclass(frozen=True, slots=True)
class BatchResult:
    """The results of the actions that ran; `error` is the failure that ended the batch."""

    results: tuple[JsonObject, ...]
    error: IntrospectError | None = None
    observed: str | None = None

    def json(self) -> JsonObject:
        """Return the result in the format of the contract."""
        written: JsonObject = {"results": list(self.results)}
        if self.error is not None:
            written |= error_json(self.error)
        if self.observed is not None:
            written["observed"] = self.observed
        return written


async def perform(target: Target, batch: ActionBatch) -> BatchResult:
    """Run the actions in order; the first failure ends the batch."""
    before = await target.capture(_OBSERVATION) if batch.observe == "diff" else None
    results: list[JsonObject] = []
    error: IntrospectError | None = None
    async with target.exclusive():
        try:
            with anyio.fail_after(batch.timeout_ms / 1000):
                error = await _run(target, batch, results)
        except TimeoutError:
            error = UiTimeoutError(
                f"The actions took longer than {batch.timeout_ms} ms",
                timeoutMs=batch.timeout_ms,
                ran=[entry["type"] for entry in results],
                index=len(results),
            )
    # A UI that did not answer in time would not answer this either.
    observed = await _observe(target, batch, before) if not isinstance(error, UiTimeoutError) else None
    return BatchResult(tuple(results), error, observed)


async def _run(target: Target, batch: ActionBatch, results: list[JsonObject]) -> IntrospectError | None:
    for index, action in enumerate(batch.actions):
        try:
            await target.act((await _aimed(target, action)).wire())
        except IntrospectError as error:
            results.append({"ok": False, "type": action.type})
            ref = action.target.ref().json() if action.target else None
            if isinstance(error, UiActionFailedError) or error.code == "MCP_UI_STALE_REF":
                error.details = {"index": index, "type": action.type, "ref": ref, **error.details}
            return error
        results.append({"ok": True, "type": action.type})
        if batch.await_idle:
            await target.backend.idle()
    return None


async def _observe(target: Target, batch: ActionBatch, before: Capture | None) -> str | None:
    if batch.observe is None:
        return None
    try:
        after = await target.capture(_OBSERVATION)
    except IntrospectError as error:
        return f"{error.code}: {error.message}"
    diff = compare(before, after) if before is not None else None
    problems = [f"! {cut(problem, 300)}" for problem in target.backend.problems()]
    if diff is not None and tokens(changes := diff.text()) <= OBSERVED_TOKENS:
        await target.tell(diff.row_uids())
        return "\n".join([changes, *problems])
    await target.tell(uid for node in after.nodes() for uid in row_uids(node))
    return "\n".join([budget.text_page(after, OBSERVED_TOKENS), *problems])


SECONDS = 3.0


def _as_selector(value: Json) -> Json:
    return {"text": value} if isinstance(value, str) else value


AnySelector = Annotated[Selector, Before(_as_selector)]


@dataclass(frozen=True, slots=True)
class Expectation(Request):
    """What must be there, within a few seconds."""

    selector: Annotated[AnySelector, "css, text and predicate, or a bare text."]
    text: Annotated[str | None, "Text that one of the matches must contain."] = None
    count: Annotated[int | None, "How many matches there must be; 0 = none. Default: at least one.", Limit(ge=0)] = None

    def holds(self, found: Sequence[Node]) -> bool:
        if self.text is not None:
            wanted = self.text.casefold()
            found = [node for node in found if any(wanted in text.casefold() for text in _all_texts(node))]
        return bool(found) if self.count is None else len(found) == self.count


@dataclass(frozen=True, slots=True)
class Failure:
    """The step that failed, with its number, its text and the error."""

    step: int
    given: JsonObject
    error: IntrospectError

    def json(self) -> JsonObject:
        return {"ok": False, "step": self.step, "given": self.given, **error_json(self.error)}


async def play(target: Target, steps: Sequence[JsonObject], seconds: float = SECONDS) -> Failure | None:
    """Run the steps in order until one fails; return that failure, or None."""
    for number, step in enumerate(steps):
        try:
            await _step(target, step, seconds)
        except IntrospectError as error:
            return Failure(number, step, error)
    return None


async def _step(target: Target, step: JsonObject, seconds: float) -> None:
    if "expect" in step:
        expected = _parse(Expectation, step["expect"])
        await until(target, expected.selector, seconds, expected.holds)
        return
    result = await perform(target, ActionBatch([_parse(Action, step)], timeout_ms=10_000))
    if result.error is not None:
        raise result.error


async def _aimed(target: Target, action: Action) -> Action:
    """Return the action with uids in place of selectors; the caller holds the lock of the target."""
    return replace(
        action,
        target=await _found(target, action.target),
        from_=await _found(target, action.from_),
        to=await _found(target, action.to),
    )


async def _found(target: Target, given: ActionNode | None) -> ActionNode | None:
    selector = given.selector() if given is not None else None
    return given if selector is None else ActionNode(uid=await _first_visible(target, selector))


async def _first_visible(target: Target, selector: Selector) -> str:
    """Return the uid of the first visible match, one that has exactly the text before others.

    Raises:
        UiNodeNotFoundError: nothing matches within a few seconds.
        UiActionFailedError: only hidden nodes match.
    """
    try:
        # Web components are hidden until they have loaded, so wait until a match is visible.
        found = await until(target, selector, SECONDS, lambda nodes: bool(_only_visible(nodes)), exclusive=True)
    except UiTimeoutError as error:
        given = to_json(selector)
        if not error.details.get("matches"):
            raise UiNodeNotFoundError(f"Nothing matches {given}\nLook at the UI with ui_get_snapshot.") from error
        raise UiActionFailedError(f"The node that {given} matches is hidden", reason="NOT_VISIBLE") from error
    visible = _only_visible(found)
    return next((node for node in visible if selector.text in texts_of(node)), visible[0]).uid


def _all_texts(node: Node) -> list[str]:
    return [text for part in (node, *parts_of(node)) for text in texts_of(part)]


def _only_visible(found: Sequence[Node]) -> list[Node]:
    return [node for node in found if node.record.get("v") is not False and node.record.get("w") is not False]


def _parse(model: type[R], given: Json) -> R:
    try:
        return read(model, given)
    except InvalidDataError as error:
        raise UiArgumentError(f"Invalid step: {error}") from error


def batch_result(result: BatchResult) -> ToolResult:
    answer = result.json()
    return ToolResult((Text(dumps(answer)),), structured=answer, is_error=result.error is not None)
