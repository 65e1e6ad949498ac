"""The interface of UI backends: read a UI, act on it, take screenshots."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from ui_mcp.introspection.contract import CaptureRequest, Ref
from ui_mcp.jsontypes import JsonObject


@dataclass(frozen=True, slots=True)
class ScreenshotRequest:
    stage: int | None = None
    ref: Ref | None = None
    max_width: int | None = None
    annotate: bool = False
    full_page: bool = False
    """The whole page instead of what its window shows; windows that do not scroll are whole anyway."""
    mark: Ref | None = None
    """Draw a box around this node; only browsers do."""


@dataclass(frozen=True, slots=True)
class BrowserRequest:
    """An operation on a browser, with the arguments that it needs."""

    op: str
    url: str | None = None
    tab: int | None = None
    """By the number that the list of tabs shows; None is the focused one."""
    id: str | None = None
    text: str | None = None
    options: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MarkedView:
    """A view of a page as a person has it, and the element in it that is to be marked."""

    url: str
    width: int
    height: int
    left: float
    top: float
    """How far the page is scrolled."""
    dark: bool
    path: str
    """Canonical path of the element; its uid is another one in every page."""

    @classmethod
    def of(cls, described: JsonObject) -> "MarkedView":
        """Return the view that a page script describes for `pointed`."""
        window = described["window"]
        return cls(
            window["url"], round(window["width"]), round(window["height"]), window["x"], window["y"], window["dark"],
            described["path"],
        )  # fmt: skip


@runtime_checkable
class Pointable(Protocol):
    """A backend in which a person can point at an element."""

    async def pointed(self) -> JsonObject:
        """Describe what the person pointed at last: uid, path, style, bindings and the window.

        Raises:
            UiActionFailedError: nothing was pointed at, or it is gone.
        """
        ...


Noticed = Callable[[JsonObject], None]
"""Gets each thing that a person did, as page scripts (web/src/introspect/record.ts) and agents in JVMs tell it."""


@runtime_checkable
class Watchable(Protocol):
    """A backend that can tell what a person does in the UI."""

    async def watch(self, noticed: Noticed | None, redact: Sequence[str] = ()) -> None:
        """Tell from now on what a person does, or with None no longer; never what they type where it is hidden."""
        ...

    async def collect(self) -> None:
        """Tell what has not been reported yet."""
        ...


class PersonAccess(Protocol):
    """The way by which a person operates a browser of ours from their own page."""

    async def begin_private(self) -> None:
        """Note nothing from now on: no requests, messages or problems."""
        ...

    async def end_private(self) -> None:
        """Note again; what was typed and the cookies that were set meanwhile stay out of all answers."""
        ...

    async def show(self, send: Callable[[JsonObject], Awaitable[None]]) -> None:
        """Send pictures of the focused page until cancelled."""
        ...

    async def input(self, event: JsonObject) -> None:
        """Perform one event of the person's mouse or keyboard.

        Raises:
            UiArgumentError: it is no such event.
        """
        ...


@runtime_checkable
class Browser(Protocol):
    """A backend with tabs, history, logs and storage."""

    person: PersonAccess | None
    """None for a browser that is the person's own, which they operate anyway."""
    on_pointed: Callable[[str], object]
    """Called with the words of a person who has pointed at something in an attached browser."""

    async def picture(self, view: MarkedView) -> bytes:
        """Return a PNG of a page, in a tab of its own that is closed again.

        Raises:
            UiActionFailedError: the page cannot be loaded.
            UiNodeNotFoundError: it has no such element.
        """
        ...

    def loss(self) -> str | None:
        """Return why the pages of a browser that is not `alive` are gone; None if they are open without us."""
        ...

    async def browse(self, request: BrowserRequest) -> str | bytes:
        """Perform an operation and return its answer, text or a PNG.

        Raises:
            IntrospectError: it is impossible now, or an argument is wrong.
        """
        ...


class UiBackend(Protocol):
    """A UI that can be read and operated; callers set the time limits, so every call may be cancelled."""

    kind: str
    """`page`, `browser` or `javafx`."""

    async def describe(self) -> str:
        """Return a short name of the UI, for people."""
        ...

    async def capture(self, request: CaptureRequest) -> JsonObject:
        """Read the UI in one pass and return it in the format of contracts/records.schema.json.

        Text of the nodes that `request.redact` selects must not leave the UI; a backend that cannot do that refuses.

        Raises:
            IntrospectError: no window is open, the root no longer exists, the CSS selector is invalid, or the UI
                does not answer.
        """
        ...

    async def at(self, x: float, y: float) -> list[JsonObject]:
        """Return `{uid, path}` of the topmost node at a screen point, followed by its ancestors.

        Raises:
            UiActionFailedError: there is no node at this point (`OFFSCREEN`).
        """
        ...

    async def tell(self, rows: Sequence[str]) -> None:
        """Note that these rows, by uid, were reported to a caller as the last capture read them.

        If another item is in such a row when it is used, the use is refused with `UiStaleRefError`.
        """
        ...

    async def act(self, action: JsonObject) -> None:
        """Perform one action, if a person could perform it now.

        Raises:
            UiActionFailedError: a person could not; the reason is in `details["reason"]`.
            UiNodeNotFoundError: the target does not exist.
            UiStaleRefError: the target is a row that shows another item than was reported to the caller.
        """
        ...

    async def idle(self) -> None:
        """Wait until the effects of all actions are processed and a frame is rendered."""
        ...

    async def screenshot(self, request: ScreenshotRequest) -> bytes:
        """Return a PNG."""
        ...

    async def mark_changes(self, before: bytes, after: bytes) -> bytes:
        """Return one PNG with both side by side and frames around what differs.

        Raises:
            UiActionFailedError: this kind of UI cannot draw it.
        """
        ...

    def problems(self) -> list[str]:
        """Return the errors that the UI reported since the last call."""
        ...

    def alive(self) -> bool:
        """Return whether the UI can still answer; the registry replaces a dead backend on the next use."""
        ...

    async def close(self) -> None:
        """Disconnect; the UI keeps running."""
        ...


@dataclass(frozen=True, slots=True)
class Attachment:
    """A UI that was attached, by a person or with a person's permission."""

    name: str
    kind: str
    title: str
    pid: int = 0
    port: int = 0
    token: str = ""
    url: str = ""


@dataclass(frozen=True, slots=True)
class AttachRequest:
    """What to attach; a backend uses the fields that it needs."""

    kind: str
    folder: Path
    """Where attachments are saved."""
    pid: int | None = None
    match: str | None = None
    """Part of a program's command line, instead of its process id."""
    url: str | None = None
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class Backend:
    """A kind of UI that can be attached: what a module of `backends` offers as `BACKEND`."""

    kind: str
    address: str
    """What names such a UI: `URL` or `PID`."""
    summary: str
    """What the address is, in a few words."""
    attach: Callable[[AttachRequest], Awaitable[Attachment]]
    open: Callable[[Attachment], Awaitable[UiBackend]]
