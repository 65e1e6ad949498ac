"""The interface of UI backends: read a UI, act on it, take screenshots."""

from dataclasses import dataclass
from typing import Literal, Protocol

from ui_mcp.introspection.contract import CaptureRequest, Ref
from ui_mcp.jsontypes import JsonObject


@dataclass(frozen=True, slots=True)
class ScreenshotRequest:
    stage: int | None = None
    ref: Ref | None = None
    max_width: int | None = None
    annotate: bool = False


class UiBackend(Protocol):
    """A UI that can be read and operated; callers set the time limits, so every call may be cancelled."""

    kind: str
    """`page`, `browser` or `javafx`."""

    async def describe(self) -> str:
        """Return a short name of the UI, for people."""
        ...

    async def capture(self, request: CaptureRequest) -> JsonObject:
        """Read the UI in one pass and return it in the format of contracts/records.schema.json.

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

    async def act(self, action: JsonObject) -> None:
        """Perform one action, if a person could perform it now.

        Raises:
            UiActionFailedError: a person could not; the reason is in `details["reason"]`.
            UiNodeNotFoundError: the target does not exist.
        """
        ...

    async def idle(self) -> None:
        """Wait until the effects of all actions are processed and a frame is rendered."""
        ...

    async def screenshot(self, request: ScreenshotRequest) -> bytes:
        """Return a PNG."""
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


Kind = Literal["javafx", "cdp", "url"]


@dataclass(frozen=True, slots=True)
class Attachment:
    """A UI that was attached, by a person or with a person's permission."""

    name: str
    kind: Kind
    title: str
    pid: int = 0
    port: int = 0
    token: str = ""
    url: str = ""
