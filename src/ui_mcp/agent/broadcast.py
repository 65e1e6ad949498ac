"""Hands what happens in a conversation to whoever watches it; a watcher that does not keep up is let go."""

from collections.abc import Iterator
from contextlib import contextmanager

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from ui_mcp.jsontypes import JsonObject

BACKLOG = 1024


class Broadcast:
    """Frames to any number of watchers, never blocking who sends."""

    def __init__(self) -> None:
        self._watchers: set[MemoryObjectSendStream[JsonObject]] = set()

    def send(self, frame: JsonObject) -> None:
        """Tell every watcher."""
        for watcher in list(self._watchers):
            try:
                watcher.send_nowait(frame)
            except (anyio.WouldBlock, anyio.BrokenResourceError):
                self._watchers.discard(watcher)
                watcher.close()

    @contextmanager
    def watched(self) -> Iterator[MemoryObjectReceiveStream[JsonObject]]:
        """Give the frames from now on; they end for a watcher that fell too far behind."""
        send, receive = anyio.create_memory_object_stream[JsonObject](BACKLOG)
        self._watchers.add(send)
        try:
            with receive:
                yield receive
        finally:
            self._watchers.discard(send)
            send.close()
