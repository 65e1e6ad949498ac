"""Recordings of the JavaFX demo; each ends where it began, so that it can be played again."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal

from introspection.demos import Demo, debian_cell, javafx_demo
from recordings.recording import Played, Steps
from ui_mcp.introspection.perform import play
from ui_mcp.introspection.recording.recorded_target import start, stop

STEP_SECONDS = 30.0


def click(css: str) -> dict[str, Any]:
    return {"type": "click", "target": {"css": css}}


SHOWN: dict[str, list[dict[str, Any]]] = {
    "dialog": [click("#modal"), click("#yes"), click("#later")],
    "fields": [
        {"type": "setText", "target": {"css": "#name"}, "text": "Ada"},
        {"type": "setChecked", "target": {"css": "#news"}, "checked": True},
        {"type": "setText", "target": {"css": "#name"}, "text": ""},
        {"type": "setChecked", "target": {"css": "#news"}, "checked": False},
    ],
    "buttons": [click("#add"), click("#add"), click("#remove"), click("#remove")],
    "window": [click("#window"), click("#close-aside")],
}


class Program:
    """One thing to do in the demo; `changed` plays it while a dialog is in the way."""

    def __init__(self, portal: BlockingPortal, demo: Demo, name: str) -> None:
        self.name = f"javafx {name}"
        self._portal, self._demo, self._shown = portal, demo, SHOWN[name]

    def record(self) -> Steps:
        return self._portal.call(self._record)

    def play(self, steps: Steps, *, changed: bool = False) -> Played:
        return self._portal.call(self._play, steps, changed)

    async def _record(self) -> Steps:
        await start(self._demo.target)
        for action in self._shown:
            result = await self._demo.do(action)
            assert result.error is None, (self.name, action, result.error)
        return list((await stop(self._demo.target)).steps)

    async def _play(self, steps: Steps, changed: bool) -> Played:
        if changed:
            await self._demo.click("#modal")
        failure = await play(self._demo.target, steps, STEP_SECONDS)
        if changed:
            await self._demo.click("#yes")
        if failure is None:
            return Played(ok=True)
        return Played(ok=False, does=str(failure.json()["does"]), why=failure.error.message)


@contextmanager
def programs(names: tuple[str, ...] = tuple(SHOWN)) -> Iterator[list[Program]]:
    with (
        TemporaryDirectory() as folder,
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(javafx_demo(debian_cell(), Path(folder))) as demo,
    ):
        yield [Program(portal, demo, name) for name in names]
