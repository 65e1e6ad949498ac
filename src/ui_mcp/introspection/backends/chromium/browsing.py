"""Operations on a browser: history, tabs, and those on one of its pages."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

import anyio

from ui_mcp.errors import UiActionFailedError, UiArgumentError
from ui_mcp.introspection.backend import BrowserRequest, ScreenshotRequest
from ui_mcp.introspection.backends.chromium.devtools import DevToolsError
from ui_mcp.introspection.backends.chromium.launch import complete_url
from ui_mcp.introspection.backends.chromium.page import DialogOpenError, DrivenPage
from ui_mcp.introspection.backends.chromium.page_operations import OPERATIONS, operate
from ui_mcp.introspection.backends.chromium.screenshots import take_screenshot

LOAD_SECONDS = 20.0


class Pages(Protocol):
    """The pages of a browser; the last one has the focus."""

    def allowed(self) -> Sequence[DrivenPage]: ...

    def focus(self, driven: DrivenPage) -> None: ...

    async def open(self, url: str) -> None: ...

    async def mark_changes(self, before: bytes, after: bytes) -> bytes: ...


async def browse(pages: Pages, request: BrowserRequest) -> str | bytes:
    """Perform an operation and return its answer.

    Raises:
        UiActionFailedError: the browser refused it.
        UiArgumentError: there is no such operation or tab, or an argument is missing.
    """
    if request.op in OPERATIONS:
        return await operate(_tab(pages, request), request)
    if request.op not in _TAB_OPERATIONS:
        raise UiArgumentError(f"No operation {request.op!r}; there are: {', '.join([*_TAB_OPERATIONS, *OPERATIONS])}")
    return await _TAB_OPERATIONS[request.op](pages, request)


async def load(driven: DrivenPage, what: str, work: Callable[[], Awaitable[object]]) -> None:
    """Run `work`, which loads a document; a native dialog that opens meanwhile ends the wait.

    Raises:
        UiActionFailedError: the document cannot be loaded.
    """
    try:
        with anyio.fail_after(LOAD_SECONDS):
            await driven.unless_dialog(work())
    except DialogOpenError:
        return
    except TimeoutError as error:
        problem = f"Cannot open {what}\nNothing came within {LOAD_SECONDS:g} s."
        raise UiActionFailedError(problem, reason="NAVIGATION") from error
    except DevToolsError as error:
        raise UiActionFailedError(f"Cannot open {what}\n{error}", reason="NAVIGATION") from error


def _tab(pages: Pages, request: BrowserRequest) -> DrivenPage:
    found = pages.allowed()
    if request.tab is None:
        return found[-1]
    for driven in found:
        if driven.number == request.tab:
            return driven
    raise UiArgumentError(f"No tab {request.tab}; there are: {', '.join(str(driven.number) for driven in found)}")


async def _navigate(pages: Pages, request: BrowserRequest) -> str:
    url, driven = _url(request), _tab(pages, request)
    await load(driven, url, lambda: driven.tab.goto(url))
    return await _tabs(pages, request)


async def _back(pages: Pages, request: BrowserRequest) -> str:
    return await _travel(pages, request, -1)


async def _forward(pages: Pages, request: BrowserRequest) -> str:
    return await _travel(pages, request, 1)


async def _travel(pages: Pages, request: BrowserRequest, steps: int) -> str:
    driven = _tab(pages, request)
    moved: list[bool] = []

    async def travel() -> None:
        moved.append(await driven.tab.travel(steps))

    await load(driven, "the page of the history", travel)
    if moved == [False]:
        raise UiActionFailedError("The history of this tab has no such page", reason="NO_HISTORY")
    return await _tabs(pages, request)


async def _reload(pages: Pages, request: BrowserRequest) -> str:
    driven = _tab(pages, request)
    await load(driven, driven.tab.url, driven.tab.reload)
    return await _tabs(pages, request)


async def _new_tab(pages: Pages, request: BrowserRequest) -> str:
    await pages.open(_url(request) if request.url else "about:blank")
    return await _tabs(pages, request)


async def _select_tab(pages: Pages, request: BrowserRequest) -> str:
    driven = _tab(pages, request)
    await driven.tab.session.send("Page.bringToFront")
    pages.focus(driven)
    return await _tabs(pages, request)


async def _close_tab(pages: Pages, request: BrowserRequest) -> str:
    if len(pages.allowed()) == 1:
        raise UiActionFailedError("This is the only tab\nNavigate it elsewhere instead.", reason="LAST_TAB")
    await _tab(pages, request).tab.close()
    return await _tabs(pages, request)


async def _tabs(pages: Pages, _: BrowserRequest) -> str:
    found = pages.allowed()
    lines = [
        f"tab {driven.number} {driven.tab.url} {await driven.title()}" + (" (focused)" if driven is found[-1] else "")
        for driven in sorted(found, key=lambda driven: driven.number)
    ]
    return "\n".join(lines)


async def _compare(pages: Pages, request: BrowserRequest) -> bytes:
    driven = _tab(pages, request)
    before = driven.picture
    if before is None:
        raise UiActionFailedError("There is no earlier picture of this tab\nTake one with ui_screenshot first.")
    return await pages.mark_changes(before, await take_screenshot(driven, ScreenshotRequest()))


def _url(request: BrowserRequest) -> str:
    if not request.url:
        raise UiArgumentError(f"{request.op} needs `url`")
    return request.url if request.url == "about:blank" else complete_url(request.url)


_TAB_OPERATIONS: dict[str, Callable[[Pages, BrowserRequest], Awaitable[str | bytes]]] = {
    "navigate": _navigate,
    "back": _back,
    "forward": _forward,
    "reload": _reload,
    "tabs": _tabs,
    "new_tab": _new_tab,
    "select_tab": _select_tab,
    "close_tab": _close_tab,
    "compare": _compare,
}
