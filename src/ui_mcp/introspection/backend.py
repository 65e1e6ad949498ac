"""What every kind of UI can do for us: be read, be acted on, be photographed."""

from dataclasses import dataclass
from typing import Literal, Protocol

from ui_mcp.introspection.contract import CaptureRequest, Ref
from ui_mcp.jsontypes import JsonObject


@dataclass(frozen=True, slots=True)
class ScreenshotRequest:
    """What to photograph and how."""

    stage: int | None = None
    ref: Ref | None = None
    max_width: int | None = None
    annotate: bool = False


class UiBackend(Protocol):
    """A UI that can be seen and operated. Every call is bounded by the caller's deadline and may be cancelled."""

    kind: str
    """`page`, `browser` or `javafx`."""

    async def describe(self) -> str:
        """Say in a few words which UI this is."""
        ...

    async def capture(self, ask: CaptureRequest) -> JsonObject:
        """Read the UI in one pass; the answer's shape is contracts/records.schema.json.

        Raises:
            IntrospectError: nothing shows, the root is gone, the css is wrong, the UI does not answer.
        """
        ...

    async def at(self, x: float, y: float) -> list[JsonObject]:
        """Return `{uid, path}` of what is at a screen point: the topmost node first, then everything around it.

        Raises:
            UiActionFailedError: nothing is there (`OFFSCREEN`).
        """
        ...

    async def act(self, action: JsonObject) -> None:
        """Do one action, having checked that a person could do it now.

        Raises:
            UiActionFailedError: `details["reason"]` says why not.
            UiNodeNotFoundError: the target does not resolve.
        """
        ...

    async def idle(self) -> None:
        """Return when everything we submitted has run and a frame has passed."""
        ...

    async def screenshot(self, photo: ScreenshotRequest) -> bytes:
        """Return a PNG."""
        ...

    def problems(self) -> list[str]:
        """Return and forget errors the UI reported since the last call."""
        ...

    def alive(self) -> bool:
        """Say whether the UI can still answer; a dead backend is replaced on the next wish."""
        ...

    async def close(self) -> None:
        """Let go; the UI stays as it is."""
        ...


Kind = Literal["javafx", "cdp", "url"]


@dataclass(frozen=True, slots=True)
class Attachment:
    """Something a person has let us look at."""

    name: str
    kind: Kind
    title: str
    pid: int = 0
    port: int = 0
    token: str = ""
    url: str = ""
