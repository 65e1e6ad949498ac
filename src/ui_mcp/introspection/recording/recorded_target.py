"""Starts and ends the recording of a target, and passes the agent's own actions to it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from ui_mcp.errors import IntrospectError
from ui_mcp.introspection.arguments import Action
from ui_mcp.introspection.backend import Watchable
from ui_mcp.introspection.contract import RECORDED
from ui_mcp.introspection.recording.recorder import Recorder, Recording
from ui_mcp.introspection.target import Target
from ui_mcp.introspection.tree import Capture


async def start(target: Target) -> None:
    """Note from now on what agents do to the UI, and what people do where that can be seen.

    Raises:
        UiNotEnabledError: it is handed over to the person.
    """
    async with target.exclusive():
        stages = (await target.read(RECORDED)).stages
        recorder = Recorder(url=next((str(stage.facts["url"]) for stage in stages if stage.facts.get("url")), ""))
        if isinstance(target.backend, Watchable):
            await target.backend.watch(recorder.noticed, target.redact)
        target.recorder = recorder


async def stop(target: Target) -> Recording:
    """End the recording and return it."""
    async with target.exclusive():
        if target.recorder is None:
            return Recording(())  # another call has ended it
        await _collect(target)
        now = await _now(target)
        if isinstance(target.backend, Watchable):
            await target.backend.watch(None)
        recorder, target.recorder = target.recorder, None
        return recorder.finish(now)


@asynccontextmanager
async def noting(target: Target, action: Action, aimed: Action) -> AsyncIterator[None]:
    """Record an action of the agent, if a recording runs; the caller holds `exclusive`."""
    recorder = target.recorder
    before: Capture | None = None
    if recorder is not None:
        await _collect(target)
        before = await _now(target)
    if recorder is None or before is None:
        yield
        return
    recorder.begin(action, aimed, before)
    try:
        yield
    except BaseException:
        recorder.drop()
        raise
    if (after := await _now(target)) is not None:
        recorder.end(after)


async def _collect(target: Target) -> None:
    if isinstance(target.backend, Watchable):
        with suppress(IntrospectError):
            await target.backend.collect()


async def _now(target: Target) -> Capture | None:
    with suppress(IntrospectError):
        return await target.read(RECORDED)
    return None
