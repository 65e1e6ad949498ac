"""uvicorn's WebSocket protocol with a fast path: short messages are received and sent without a task switch.

A click is answered within a few hundred microseconds; the full frame parser and two task switches would take
a third of that.
"""

from collections.abc import Callable
from typing import cast

from starlette.types import Scope
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Request
from websockets.protocol import State

EXTENSION = "ui-mcp.line"
TEXT = 0x81
MASKED = 0x80
SHORT = 125


class Line(WebSocketsSansIOProtocol):
    """WebSocket protocol that the application finds in the scope's extensions; other messages are queued as usual."""

    take: Callable[[str], bool] | None = None
    """Called with each short message as it arrives; False leaves the message to `receive`."""
    _between = False

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if self.handshake_initiated and not self.close_sent:
            cast("dict[str, object]", self.scope["extensions"])[EXTENSION] = self

    def data_received(self, data: bytes) -> None:
        """Pass a single short message to `take`; leave everything else to the parser."""
        if self.take is None or not self._at_rest() or (text := short_text(data)) is None or not self.take(text):
            super().data_received(data)
            self._between = between_frames(self.conn.parser)

    def _at_rest(self) -> bool:
        """Whether all earlier input is consumed: no partial frame, fragmented message or queued message."""
        return self._between and not self.frames and self.queue.empty() and self.conn.state is State.OPEN

    def put(self, text: str) -> bool:
        """Send a message immediately; return False if the page is not reading or is gone."""
        if not self.writable.is_set() or self.close_sent or self.conn.state is not State.OPEN:
            return False
        if self.transport.is_closing():  # the connection was reset, and writing to it would raise
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
    """Return the protocol object of a WebSocket scope, or None."""
    found = scope.get("extensions", {}).get(EXTENSION)
    return found if isinstance(found, Line) else None


def between_frames(parser: object) -> bool:
    """Return whether the parser has seen only whole frames, judged by where its generator is suspended."""
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
