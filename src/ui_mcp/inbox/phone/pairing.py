"""Pairing a phone: a one-time code, as a link and as a QR code for the page and for a terminal."""

import io

import segno

from ui_mcp.inbox.phone.devices import Devices
from ui_mcp.jsontypes import JsonObject
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.person import CODE_SECONDS


@dataclass(frozen=True, slots=True)
class Pairing:
    """What the person needs to pair one phone."""

    code: str
    link: str

    def to_json(self) -> JsonObject:
        return {"code": self.code, "link": self.link, "qr": self._svg(), "seconds": int(CODE_SECONDS)}

    def _svg(self) -> str:
        """Return the QR code as an image, dark on light with its quiet zone, whatever the theme."""
        return segno.make(self.link, error="m", micro=False).svg_data_uri(scale=4, dark="#000", light="#fff")

    def for_terminal(self) -> str:
        """Return the QR code as lines of block characters."""
        drawn = io.StringIO()
        segno.make(self.link, error="l", micro=False).terminal(out=drawn, compact=True)
        return drawn.getvalue()


def new_pairing(devices: Devices, origin: str) -> Pairing:
    """Make a code that pairs one phone at `origin`, once."""
    code = devices.new_code()
    return Pairing(code, f"{origin}/inbox#code={code}")
