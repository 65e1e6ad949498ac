"""Runs batches of actions, and scenarios of actions and expectations."""

import os
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

import anyio

from ui_mcp.errors import IntrospectError, UiActionFailedError, UiArgumentError, UiNodeNotFoundError, UiTimeoutError
from ui_mcp.introspection import budget
from ui_mcp.introspection.arguments import Action, ActionNode, Request, Selector
from ui_mcp.introspection.contract import CaptureRequest, Mode, error_json, tokens
from ui_mcp.introspection.diff import compare
from ui_mcp.introspection.outline import cut, row_uids
from ui_mcp.introspection.recording.recorded_target import noting
from ui_mcp.introspection.recording.recorder import VARIABLE
from ui_mcp.introspection.selectors import Expectation, chosen
from ui_mcp.introspection.target import Target, until
from ui_mcp.introspection.tree import Capture
from ui_mcp.jsontypes import Json, JsonObject, dumps
from ui_mcp.toolkit.tool import Text, ToolResult
from ui_mcp.validation import InvalidDataError, read, to_json

Observe = Literal["diff", "outline", "brief"]
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
            await _do(target, action, await_idle=batch.await_idle)
        except IntrospectError as error:
            results.append({"ok": False, "type": action.type})
            ref = action.target.ref().json() if action.target else None
            if isinstance(error, UiActionFailedError) or error.code == "MCP_UI_STALE_REF":
                error.details = {"index": index, "type": action.type, "ref": ref, **error.details}
            return error
        results.append({"ok": True, "type": action.type})
    return None


async def _do(target: Target, action: Action, *, await_idle: bool) -> None:
    aimed = await _aimed(target, action)
    async with noting(target, action, aimed):
        await target.act(aimed.wire())
        if await_idle:
            await target.backend.idle()


async def _observe(target: Target, batch: ActionBatch, before: Capture | None) -> str | None:
    if batch.observe is None:
        return None
    try:
        after = await target.capture(_OBSERVATION)
    except IntrospectError as error:
        return f"{error.code}: {error.message}"
    diff = compare(before, after) if before is not None else None
    problems = [f"! {cut(problem, 300)}" for problem in target.problems()]
    if diff is not None and tokens(changes := diff.text()) <= OBSERVED_TOKENS:
        await target.tell(diff.row_uids())
        return "\n".join([changes, *problems])
    await target.tell(uid for node in after.nodes() for uid in row_uids(node))
    view: Mode | None = "brief" if batch.observe == "brief" else None
    return "\n".join([budget.text_page(after, OBSERVED_TOKENS, view=view), *problems])


SECONDS = 3.0


Picture = Callable[[], Awaitable[bytes | None]]
"""Takes a picture of the UI; None if it has none to give."""


@dataclass(frozen=True, slots=True)
class Failure:
    """The step that failed, with its number, its text and the error."""

    step: int
    given: JsonObject
    error: IntrospectError
    before: bytes | None = None
    """Picture before the last action, if pictures are taken."""

    def json(self) -> JsonObject:
        named = {"ok": False, "step": self.step, "does": step_text(self.given), "given": self.given}
        return {**named, **error_json(self.error)}


def step_text(step: JsonObject) -> str:
    """Return a step in words: `click button "Save" in row "Ann"`."""
    if "expect" in step:
        expected = step["expect"] if isinstance(step["expect"], dict) else {}
        wanted = [f'to show "{expected["text"]}"'] if expected.get("text") else []
        wanted += [f"{expected['count']} times"] if expected.get("count") is not None else []
        return " ".join(["expect", _node_text(expected.get("selector")), *wanted])
    words = [str(step.get("type", "?")), *(_node_text(step[part]) for part in ("target", "from", "to") if part in step)]
    words += [f'"{step[part]}"' for part in ("text", "value", "key") if isinstance(step.get(part), str)]
    return " ".join(words)


def _node_text(given: Json) -> str:
    if not isinstance(given, dict):
        return f'"{given}"'
    words = [str(given[part]) for part in ("role", "css", "uid", "path") if given.get(part)]
    words += [f'"{given["text"]}"'] if given.get("text") else []
    words += [f"number {given['nth'] + 1}"] if given.get("nth") else []
    words += [f'in row "{given["row"]}"'] if given.get("row") else []
    return " ".join(words) or dumps(given)


async def play(
    target: Target, steps: Sequence[JsonObject], seconds: float = SECONDS, picture: Picture | None = None
) -> Failure | None:
    """Run the steps in order until one fails; return that failure, or None."""
    before: bytes | None = None
    for number, step in enumerate(steps):
        try:
            if picture is not None and "expect" not in step:
                before = await picture()
            await _step(target, step, seconds)
        except IntrospectError as error:
            return Failure(number, step, error, before)
    return None


async def _step(target: Target, step: JsonObject, seconds: float) -> None:
    if "expect" in step:
        expected = _parse(Expectation, step["expect"])
        await until(target, expected.selector, seconds, expected.holds)
        return
    action = await _with_variable(target, _parse(Action, step))
    result = await perform(target, ActionBatch([action], timeout_ms=10_000))
    if result.error is not None:
        raise result.error


_VARIABLE = re.compile(rf"\$\{{({VARIABLE}\w+)\}}")


async def _with_variable(target: Target, action: Action) -> Action:
    """Return the action with the value of the environment variable that its text names, if it does.

    Raises:
        UiActionFailedError: there is no such variable, or the node would show its value.
    """
    named = _VARIABLE.fullmatch(action.text or "")
    if named is None:
        return action
    async with target.exclusive():
        aimed = await _found(target, action.target)
    ref = aimed.ref() if aimed is not None else None
    if ref is None or not (await target.node(ref)).record.get("k"):
        raise UiActionFailedError(f"{action.text} is typed into password fields only", reason="NOT_MASKED")
    value = os.environ.get(named[1])
    if value is None:
        raise UiActionFailedError(
            f"{named[1]} is not set\nSet it in the environment of the server, or write the text into the step.",
            reason="NO_VALUE",
        )
    return replace(action, text=value)


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
        found = await until(
            target, selector, SECONDS, lambda nodes: chosen(nodes, selector) is not None, exclusive=True
        )
    except UiTimeoutError as error:
        given = to_json(selector)
        if not error.details.get("matches"):
            raise UiNodeNotFoundError(f"Nothing matches {given}\nLook at the UI with ui_get_snapshot.") from error
        raise UiActionFailedError(f"The node that {given} matches is hidden", reason="NOT_VISIBLE") from error
    node = chosen(found, selector)
    assert node is not None  # or the wait would have failed
    return node.uid


def _parse(model: type[R], given: Json) -> R:
    try:
        return read(model, given)
    except InvalidDataError as error:
        raise UiArgumentError(f"Invalid step: {error}") from error


def short_result(result: BatchResult) -> ToolResult:
    """Return what was observed as plain text; the failure as in any batch."""
    return batch_result(result) if result.error is not None else ToolResult((Text(result.observed or "ok"),))


def batch_result(result: BatchResult) -> ToolResult:
    answer = result.json()
    return ToolResult((Text(dumps(answer)),), structured=answer, is_error=result.error is not None)
