"""One request that waits for its answer; progress is handed on in the order it came, before the answer."""

import asyncio
from collections import deque

from ui_mcp.errors import UpstreamError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.mcpd.channel import Patience


class Pending:
    """Woken by the reader of the connection, awaited by whoever sent the request."""

    __slots__ = ("_future", "_loop", "_news", "_outcome", "_patience", "_quiet_until", "_timer")

    def __init__(self, patience: Patience | None) -> None:
        self._loop = asyncio.get_running_loop()
        self._future: asyncio.Future[None] = self._loop.create_future()
        self._news: deque[JsonObject] = deque()
        self._outcome: JsonObject | UpstreamError | None = None
        self._patience = patience
        self._quiet_until = 0.0
        self._timer: asyncio.TimerHandle | None = None
        if patience is not None:
            self._quiet_until = self._loop.time() + patience.seconds
            self._timer = self._loop.call_later(patience.seconds, self._check)

    @property
    def is_settled(self) -> bool:
        """Whether the answer is there."""
        return self._outcome is not None

    def settle(self, outcome: JsonObject | UpstreamError) -> None:
        """Take the answer; the first one counts."""
        if self._outcome is None:
            self._outcome = outcome
            self._wake()

    def progressed(self, params: JsonObject) -> None:
        """Take a progress notification."""
        if self._patience is not None:
            self._quiet_until = self._loop.time() + self._patience.seconds
            self._news.append(params)
            self._wake()

    async def result(self) -> JsonObject:
        """Wait for the answer.

        Raises:
            UpstreamError: the server refused, is gone, or was silent for too long.
        """
        try:
            while True:
                await self._future
                while self._news and self._patience is not None:
                    params = self._news.popleft()
                    await self._patience.progress(*_progress(params))
                if self._outcome is not None:
                    break
                self._future = self._loop.create_future()
        finally:
            if self._timer is not None:
                self._timer.cancel()
        if isinstance(self._outcome, UpstreamError):
            raise self._outcome
        return self._outcome

    def _wake(self) -> None:
        if not self._future.done():
            self._future.set_result(None)

    def _check(self) -> None:
        left = self._quiet_until - self._loop.time()
        if left > 0:
            self._timer = self._loop.call_later(left, self._check)
        elif self._patience is not None:
            self.settle(UpstreamError(f"no answer within {self._patience.seconds:g} s", silent=True))


def _progress(params: JsonObject) -> tuple[float, float | None, str | None]:
    """Read how far a request has come; what a server put there instead of numbers and text is left out."""
    done, total, message = params.get("progress"), params.get("total"), params.get("message")
    return (
        done if isinstance(done, int | float) else 0,
        total if isinstance(total, int | float) else None,
        message if isinstance(message, str) else None,
    )
