"""The page a person has open, through its own runtime: no driver, but also no real input."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

from ui_mcp.errors import (
    IntrospectError,
    SessionGoneError,
    UiActionFailedError,
    UiArgumentError,
    UiNodeNotFoundError,
    UiNoStagesError,
)
from ui_mcp.introspection.backend import ScreenshotRequest
from ui_mcp.introspection.contract import CaptureRequest
from ui_mcp.introspection.person_pages import refuse_person_pages
from ui_mcp.jsontypes import JsonObject, dumps, loads

_ERRORS: dict[str, type[IntrospectError]] = {
    kind.code: kind for kind in (UiActionFailedError, UiArgumentError, UiNodeNotFoundError)
}


async def _nothing() -> None:
    """Wait for nothing."""


@dataclass(frozen=True, slots=True)
class OpenPage:
    """A page that answers."""

    ask: Callable[[str], Awaitable[str]]
    url: str
    pid: int
    shown: Callable[[], Awaitable[None]] = _nothing
    """Returns when the page shows what came of everything it has sent."""


class PageBackend:
    """Whichever page of the session was opened last."""

    kind = "page"

    def __init__(self, current: Callable[[], OpenPage | None]) -> None:
        self._current = current
        self._problems: list[str] = []

    async def describe(self) -> str:
        """Name the page."""
        return f"the open page at {self._page().url}"

    async def capture(self, ask: CaptureRequest) -> JsonObject:
        """Read the page."""
        if isinstance(ask.stage, int) and ask.stage != 0 and ask.root is None:
            raise UiArgumentError(f"There is no stage {ask.stage}; valid are 0 to 0")
        seen = await self._call({"op": "capture", "ask": ask.json()})
        self._problems = [str(problem) for problem in seen["problems"]]
        stage = {**seen["stage"], "index": 0, "uid": "page"}
        page = self._page()
        app = {
            "pid": page.pid,
            "javaVersion": None,
            "javafxVersion": None,
            "mainClass": None,
            "debugFlags": ["mcpEnabled"],
            "toolkit": "web",
            "toolkitVersion": None,
            "name": page.url,
        }
        return {"app": app, "focus": seen["focus"], "stages": [stage]}

    async def at(self, x: float, y: float) -> list[JsonObject]:
        """Name what is at a point of the viewport."""
        return list((await self._call({"op": "at", "x": x, "y": y}))["chain"])

    async def act(self, action: JsonObject) -> None:
        """Act as a script can; what needs real input is refused with the way out."""
        answer = await self._call({"op": "act", "action": action})
        if "click" in answer:
            await self._call({"op": "act", "action": {"type": "click", "target": {"uid": answer["click"]}}})

    async def idle(self) -> None:
        """Wait for two frames, and for what the server makes of what the page has just sent."""
        await self._call({"op": "idle"})
        with suppress(SessionGoneError):
            await self._page().shown()

    async def screenshot(self, photo: ScreenshotRequest) -> bytes:
        """Refuse: a page cannot photograph itself."""
        raise UiActionFailedError(
            'A page cannot photograph itself\nUse target "browser".', reason="NEEDS_NATIVE_INPUT", use="browser"
        )

    def problems(self) -> list[str]:
        """Return the bindings that had failed at the last look; the page tells the server of other errors itself."""
        problems, self._problems = self._problems, []
        return problems

    def alive(self) -> bool:
        """Say yes: pages come and go, this stays."""
        return True

    async def close(self) -> None:
        """Let go; the page stays."""

    def _page(self) -> OpenPage:
        page = self._current()
        if page is None:
            raise UiNoStagesError('No page is open\nCall ui_open_browser, or use target "browser".', reason="NO_PAGE")
        refuse_person_pages([page.url])
        return page

    async def _call(self, request: JsonObject) -> JsonObject:
        try:
            answer = loads(await self._page().ask(dumps(request)))
        except SessionGoneError as error:
            raise UiNoStagesError(error.message, reason="GONE") from error
        told = answer.get("error")
        if told is not None:
            raise _ERRORS.get(told["code"], IntrospectError)(told["message"], **told["details"])
        return dict(answer)
