"""Hands a browser from the agent to the person and back; one of them operates it at a time."""

from contextlib import suppress

import anyio

from ui_mcp.errors import UiArgumentError, UiNoStagesError, UiNotEnabledError
from ui_mcp.introspection.backend import Browser, PersonAccess
from ui_mcp.introspection.target import Target
from ui_mcp.jsontypes import JsonObject

MAX_REASON = 500


class HandOver:
    """One browser that waits for the person or is operated by them."""

    def __init__(self, target: Target, browser: PersonAccess, reason: str) -> None:
        self.target = target
        self.browser = browser
        self.reason = reason
        self.is_driven = False
        """Whether a page of the person shows the browser now."""
        self.was_driven = False
        """Whether the person has begun; from then on only they give it back."""
        self.over = anyio.Event()
        self.outcome = ""

    async def wait(self, seconds: float) -> bool:
        """Return whether the browser is given back within this time."""
        with anyio.move_on_after(seconds):
            await self.over.wait()
        return self.over.is_set()


class HandOvers:
    """The present hand-over, and pages of the person that wait for one."""

    def __init__(self) -> None:
        self.current: HandOver | None = None
        self._version = 0
        self._changed = anyio.Event()

    async def offer(self, target: Target, reason: str) -> HandOver:
        """Take the browser from the agent and offer it to the person.

        Raises:
            UiNotEnabledError: another browser is handed over, or this one is the person's own.
            UiArgumentError: there is no reason to tell the person.
        """
        if self.current is not None:
            raise UiNotEnabledError(f"Target {self.current.target.name!r} is handed over already", reason="HANDED_OVER")
        if not reason.strip():
            raise UiArgumentError("hand_over needs `text`: what the person is to do")
        browser = target.backend.person if isinstance(target.backend, Browser) else None
        if browser is None:
            raise UiNotEnabledError("Only a browser of ui-mcp's own is handed over", reason="NOT_OWN_BROWSER")
        async with target.exclusive():  # an action that runs is finished first
            await browser.begin_private()
            target.hand_over()
        self.current = HandOver(target, browser, reason.strip()[:MAX_REASON])
        self._announce()
        return self.current

    def take(self) -> HandOver:
        """Let a page of the person operate the browser.

        Raises:
            UiNotEnabledError: nothing is handed over, or another page operates it.
        """
        if self.current is None or self.current.is_driven:
            why = "Nothing is handed over" if self.current is None else "Another page of yours operates the browser"
            raise UiNotEnabledError(why, reason="NOT_HANDED_OVER")
        self.current.is_driven = self.current.was_driven = True
        self._announce()
        return self.current

    def leave(self, hand_over: HandOver) -> None:
        """Note that the page of the person was closed; the browser stays theirs until they give it back."""
        hand_over.is_driven = False
        self._announce()

    async def end(self, outcome: str) -> None:
        """Give the browser back to the agent; `outcome` says who did and why."""
        hand_over, self.current = self.current, None
        if hand_over is not None:
            hand_over.outcome = outcome
            try:
                with suppress(UiNoStagesError):  # the browser is gone, and all that was private with it
                    await hand_over.browser.end_private()
            finally:
                hand_over.target.take_back()
                hand_over.over.set()
                self._announce()

    async def after(self, version: int, seconds: float) -> JsonObject:
        """Return what is handed over, as soon as it is newer than `version` or the time is over."""
        if self._version <= version:
            with anyio.move_on_after(seconds):
                await self._changed.wait()
        now = self.current
        shown = None if now is None else {"reason": now.reason, "target": now.target.name, "driven": now.is_driven}
        return {"version": self._version, "hand_over": shown}

    def wake(self) -> None:
        """Let all pages that wait have their answer, because the server stops."""
        self._changed.set()
        self._changed = anyio.Event()

    def _announce(self) -> None:
        self._version += 1
        self.wake()
