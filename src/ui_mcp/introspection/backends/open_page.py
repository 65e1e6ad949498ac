"""Backend for the page that a person has open: uses the page's own script, so it has no real input."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass

from ui_mcp.errors import (
    IntrospectError,
    SessionGoneError,
    UiActionFailedError,
    UiArgumentError,
    UiNodeNotFoundError,
    UiNoStagesError,
    UiStaleRefError,
)
from ui_mcp.introspection.backend import Noticed, ScreenshotRequest
from ui_mcp.introspection.contract import CaptureRequest
from ui_mcp.introspection.person_pages import refuse_person_pages
from ui_mcp.jsontypes import JsonObject, dumps, loads

_ERRORS: dict[str, type[IntrospectError]] = {
    kind.code: kind for kind in (UiActionFailedError, UiArgumentError, UiNodeNotFoundError, UiStaleRefError)
}


async def _no_wait() -> None:
    pass


@dataclass(frozen=True, slots=True)
class OpenPage:
    """A connected page; `ask` sends a JSON request to its script and returns the JSON answer."""

    ask: Callable[[str], Awaitable[str]]
    url: str
    pid: int
    wait_rendered: Callable[[], Awaitable[None]] = _no_wait
    """Waits until the page has rendered the server's replies to everything it sent."""
    acted_in: Callable[[], AbstractContextManager[None]] = nullcontext
    """Held while the page acts for the agent, so that the history does not take that for the person's."""


class PageBackend:
    """The page of the session that was opened last; `current` is asked on every call."""

    kind = "page"

    def __init__(self, current: Callable[[], OpenPage | None]) -> None:
        self._current = current
        self._problems: list[str] = []
        self._noticed: Noticed | None = None

    async def describe(self) -> str:
        return f"the open page at {self._page().url}"

    async def capture(self, request: CaptureRequest) -> JsonObject:
        if isinstance(request.stage, int) and request.stage != 0 and request.root is None:
            raise UiArgumentError(f"There is no stage {request.stage}; valid are 0 to 0")
        captured = await self._call({"op": "capture", "ask": request.json()})
        self._problems = [str(problem) for problem in captured["problems"]]
        stage = {**captured["stage"], "index": 0, "uid": "page"}
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
        return {"app": app, "focus": captured["focus"], "stages": [stage]}

    async def at(self, x: float, y: float) -> list[JsonObject]:
        return list((await self._call({"op": "at", "x": x, "y": y}))["chain"])

    async def tell(self, rows: Sequence[str]) -> None:
        await self._call({"op": "tell", "rows": list(rows)})

    async def act(self, action: JsonObject) -> None:
        """Perform an action by script; the page refuses those that need real input, and names the remedy."""
        with self._page().acted_in():
            answer = await self._call({"op": "act", "action": action})
            # The script answers with the node whose click has the wanted effect.
            if "click" in answer:
                await self._call({"op": "act", "action": {"type": "click", "target": {"uid": answer["click"]}}})

    async def idle(self) -> None:
        """Wait for two frames, and for the server's reply to what the page has just sent."""
        await self._call({"op": "idle"})
        with suppress(SessionGoneError):
            await self._page().wait_rendered()

    async def pointed(self) -> JsonObject:
        return await self._call({"op": "pointed"})

    async def watch(self, noticed: Noticed | None, redact: Sequence[str] = ()) -> None:
        self._noticed = noticed
        await self._call({"op": "record", "on": noticed is not None, "redact": list(redact)})

    async def collect(self) -> None:
        if self._noticed is not None:
            for event in (await self._call({"op": "recorded"}))["events"]:
                self._noticed(event)

    async def screenshot(self, request: ScreenshotRequest) -> bytes:
        raise UiActionFailedError(
            'A page cannot photograph itself\nUse target "browser".', reason="NEEDS_NATIVE_INPUT", use="browser"
        )

    async def mark_changes(self, before: bytes, after: bytes) -> bytes:
        raise UiActionFailedError("Only a browser compares pictures", reason="NEEDS_NATIVE_INPUT", use="browser")

    def problems(self) -> list[str]:
        """Return the failed bindings of the last capture; the page reports other errors to the server itself."""
        problems, self._problems = self._problems, []
        return problems

    def alive(self) -> bool:
        return True  # whichever page is open, also after a reload

    async def close(self) -> None:
        pass

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
        failure = answer.get("error")
        if failure is not None:
            raise _ERRORS.get(failure["code"], IntrospectError)(failure["message"], **failure["details"])
        return dict(answer)
