"""Waits until a UI shows something, or no longer does."""

from collections.abc import Callable

import anyio

from ui_mcp.errors import UiNoStagesError, UiTimeoutError
from ui_mcp.introspect.requests import Selector
from ui_mcp.introspection.contract import Ask
from ui_mcp.introspection.target import Target
from ui_mcp.introspection.tree import Node

FIRST_PAUSE = 0.03
LONGEST_PAUSE = 0.25


def ask_for(selector: Selector, stage: int | None = None, *, everywhere: bool = True) -> Ask:
    """Return what has to be read to decide about a selector."""
    return Ask(
        stage=stage if stage is not None else "all" if everywhere else "focused",
        sections=frozenset({"bounds", "virtualization"}),
        css=selector.css,
        # A css selector may mean a part inside a control; text is said once, by the control.
        internals=selector.css is not None,
    )


async def until(target: Target, selector: Selector, seconds: float, done: Callable[[list[Node]], bool]) -> list[Node]:
    """Look again and again until `done` accepts what the selector means.

    Raises:
        UiTimeoutError: it did not come about in time; says what was there last.
    """
    found: list[Node] = []
    pause = FIRST_PAUSE
    with anyio.move_on_after(seconds):
        while True:
            try:
                found = await target.find(selector, ask_for(selector))
            except UiNoStagesError:
                found = []
            if done(found):
                return found
            await anyio.sleep(pause)
            pause = min(LONGEST_PAUSE, pause * 1.5)
    raise UiTimeoutError(
        f"It did not come about within {seconds:g} s; the selector means {len(found)} nodes now",
        timeoutMs=int(seconds * 1000),
        matches=len(found),
    )
