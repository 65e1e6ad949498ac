"""How a page is shown: the size of its window, a device, colour scheme, reduced motion."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import anyio

from ui_mcp.errors import UiArgumentError
from ui_mcp.introspection.backends.chromium.devtools import Session
from ui_mcp.introspection.backends.chromium.launch import offer_model_context, open_closed_shadows
from ui_mcp.introspection.backends.chromium.tab import TabSetup
from ui_mcp.jsontypes import JsonObject

VIEWPORT = {"width": 1280, "height": 800}


def our_setup(user_agent: str) -> TabSetup:
    """Return how pages of our own browser begin."""
    return TabSetup(
        page=[("Emulation.setDeviceMetricsOverride", {**VIEWPORT, "deviceScaleFactor": 1, "mobile": False})],
        everywhere=[
            ("Page.addScriptToEvaluateOnNewDocument", {"source": open_closed_shadows()}),
            ("Page.addScriptToEvaluateOnNewDocument", {"source": offer_model_context()}),
            ("Emulation.setUserAgentOverride", {"userAgent": user_agent}),
            ("Emulation.setFocusEmulationEnabled", {"enabled": True}),
        ],
        paused=True,
    )


@dataclass(frozen=True, slots=True)
class Device:
    """A window as devices have it, in CSS pixels."""

    width: int
    height: int
    scale: float = 1.0
    mobile: bool = False


DEVICES = {
    "phone": Device(390, 844, 3.0, mobile=True),
    "tablet": Device(820, 1180, 2.0, mobile=True),
    "laptop": Device(1280, 800),
    "desktop": Device(1920, 1080),
}
MAX_SIDE = 10_000
OPTIONS = ("device", "width", "height", "dark", "reducedMotion", "print")


class Emulation:
    """The options that were set for one page."""

    def __init__(self, session: Session, *, sized: bool) -> None:
        self._session = session
        self._sized = sized
        """Whether the window has a size that we have set."""
        self._options: JsonObject = {}

    async def set(self, options: JsonObject) -> str:
        """Apply the given options and keep the others; null resets one. Return all that are set.

        Raises:
            UiArgumentError: an option is unknown or has an impossible value.
        """
        unknown = [name for name in options if name not in OPTIONS]
        if unknown or not options:
            problem = f"emulate has no option {', '.join(unknown)}" if unknown else "emulate needs options"
            raise UiArgumentError(f"{problem}\nOptions: {', '.join(OPTIONS)}; devices: {', '.join(DEVICES)}.")
        merged = {name: value for name, value in {**self._options, **options}.items() if value is not None}
        device = _device(merged)
        await self._resize(device)
        self._sized = True
        await self._session.send("Emulation.setEmulatedMedia", _media(merged))
        self._options = merged
        return " ".join([f"{device.width}x{device.height}", *(f"{name}={value}" for name, value in merged.items())])

    @asynccontextmanager
    async def window(self, width: int, height: int) -> AsyncIterator[None]:
        """Show the page in a window of another size for a while."""
        device = _device(self._options)
        scale = device.scale if self._sized else 0  # 0 leaves it as it is
        await self._resize(replace(device, width=width, height=height, scale=scale))
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                if self._sized:
                    await self._resize(device)
                else:
                    await self._session.send("Emulation.clearDeviceMetricsOverride")

    async def _resize(self, device: Device) -> None:
        size = {"width": device.width, "height": device.height, "mobile": device.mobile}
        await self._session.send("Emulation.setDeviceMetricsOverride", size | {"deviceScaleFactor": device.scale})
        await self._session.send("Emulation.setTouchEmulationEnabled", {"enabled": device.mobile})


def _device(options: JsonObject) -> Device:
    name = options.get("device", "laptop")
    if name not in DEVICES:
        raise UiArgumentError(f"No device {name!r}; there are: {', '.join(DEVICES)}")
    base = DEVICES[name]
    width, height = options.get("width", base.width), options.get("height", base.height)
    if not all(isinstance(side, int) and 1 <= side <= MAX_SIDE for side in (width, height)):
        raise UiArgumentError(f"width and height are whole numbers from 1 to {MAX_SIDE}")
    return Device(width, height, base.scale, base.mobile)


def _media(options: JsonObject) -> JsonObject:
    dark = options.get("dark")
    scheme = "" if dark is None else "dark" if dark else "light"
    motion = "reduce" if options.get("reducedMotion") else ""
    features = [
        {"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": motion},
    ]  # fmt: skip
    return {"media": "print" if options.get("print") else "", "features": features}
