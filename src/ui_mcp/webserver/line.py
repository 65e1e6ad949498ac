"""The WebSocket of a page: uvicorn's, which also hands a message over and puts one out with no task in between.

A click is answered within a few hundred microseconds; parsing a frame in full, waking a task on its way in and
another on its way out would be a third of that.
"""

from collections.abc import Callable
from typing import cast

from starlette.types import Scope
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request
from websockets.protocol import State

EXTENSION = "ui-mcp.line"
TEXT = 0x81
"""First byte of a frame that is a whole text message."""
MASKED = 0x80
SHORT = 125
"""Longest payload whose length fits into the second byte."""


class Line(WebSocketsSansIOProtocol):
    """Offers itself to the application in the scope's extensions; whatever is not taken at once is queued as usual."""

    take: Callable[[str], bool] | None = None
    """Takes a message as it arrives; False leaves it to `receive`."""
    _between = False

    def handle_connect(self, event: Request) -> None:
        """Begin the application, which finds this line in its scope."""
        super().handle_connect(event)
        if self.handshake_initiated and not self.close_sent:
            cast("dict[str, object]", self.scope["extensions"])[EXTENSION] = self

    def data_received(self, data: bytes) -> None:
        """Hand over what is one short message, and leave everything else to the parser."""
        if self.take is None or not self._at_rest() or (text := short_text(data)) is None or not self.take(text):
            super().data_received(data)
            self._between = between_frames(self.conn.parser)

    def _at_rest(self) -> bool:
        """Whether nothing received_at before that is unfinished: half a frame, a message in parts, one nobody has fetched."""
        return self._between and not self.frames and self.queue.empty() and self.conn.state is State.OPEN

    def put(self, text: str) -> bool:
        """Send a message now; False if the page does not read or is gone."""
        if not self.writable.is_set() or self.close_sent or self.conn.state is not State.OPEN:
            return False
        if self.transport.is_closing():  # the page went without a word, and writing to it would raise
            return False
        data = text.encode()
        if len(data) > SHORT:
            self.conn.send_text(data)
            data = b"".join(self.conn.data_to_send())
        else:
            data = bytes((TEXT, len(data))) + data
        self.transport.write(data)
        return True


def line_of(scope: Scope) -> Line | None:
    """Return the line of a WebSocket, if it runs on one."""
    found = scope.get("extensions", {}).get(EXTENSION)
    return found if isinstance(found, Line) else None


def between_frames(parser: object) -> bool:
    """Whether the parser has seen whole frames only; where it waits says so."""
    while (inner := getattr(parser, "gi_yieldfrom", None)) is not None:
        parser = inner
    return getattr(parser, "__name__", "") == "at_eof"


def short_text(data: bytes) -> str | None:
    """Return the text of a message that is exactly one short masked frame, else None."""
    size = len(data) - 6
    if not 0 <= size <= SHORT or data[0] != TEXT or data[1] != MASKED | size:
        return None
    mask = (data[2:6] * (size // 4 + 1))[:size]
    plain = int.from_bytes(data[6:], "little") ^ int.from_bytes(mask, "little")
    try:
        return plain.to_bytes(size, "little").decode()
    except UnicodeDecodeError:
        return None
