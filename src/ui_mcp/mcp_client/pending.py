"""A request that waits for its response: progress, timeout and outcome."""

import asyncio
from collections import deque

from ui_mcp.errors import UpstreamError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.mcp_client.transport import RequestTimeout


class PendingRequest:
    """A request without a response yet; the sender awaits it, the reader of the connection wakes it."""

    __slots__ = ("_future", "_loop", "_news", "_outcome", "_quiet_until", "_timeout", "_timer")

    def __init__(self, timeout: RequestTimeout | None) -> None:
        self._loop = asyncio.get_running_loop()
        self._future: asyncio.Future[None] = self._loop.create_future()
        self._news: deque[JsonObject] = deque()
        self._outcome: JsonObject | UpstreamError | None = None
        self._timeout = timeout
        self._quiet_until = 0.0
        self._timer: asyncio.TimerHandle | None = None
        if timeout is not None:
            self._quiet_until = self._loop.time() + timeout.seconds
            self._timer = self._loop.call_later(timeout.seconds, self._check)

    @property
    def is_settled(self) -> bool:
        return self._outcome is not None

    def set_result(self, outcome: JsonObject | UpstreamError) -> None:
        """Store the response; only the first one counts."""
        if self._outcome is None:
            self._outcome = outcome
            self._wake()

    def on_progress(self, params: JsonObject) -> None:
        if self._timeout is not None:
            self._quiet_until = self._loop.time() + self._timeout.seconds
            self._news.append(params)
            self._wake()

    async def result(self) -> JsonObject:
        """Wait for the response and return its result.

        Raises:
            UpstreamError: the server refused, disconnected or timed out.
        """
        try:
            while True:
                await self._future
                while self._news and self._timeout is not None:
                    params = self._news.popleft()
                    await self._timeout.progress(*_progress(params))
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
        # Progress only moves `_quiet_until`: restarting the timer for each notification would cost more.
        left = self._quiet_until - self._loop.time()
        if left > 0:
            self._timer = self._loop.call_later(left, self._check)
        elif self._timeout is not None:
            self.set_result(UpstreamError(f"no answer within {self._timeout.seconds:g} s", silent=True))


def _progress(params: JsonObject) -> tuple[float, float | None, str | None]:
    """Return done, total and message of a progress notification; values of a wrong type are dropped."""
    done, total, message = params.get("progress"), params.get("total"), params.get("message")
    return (
        done if isinstance(done, int | float) else 0,
        total if isinstance(total, int | float) else None,
        message if isinstance(message, str) else None,
    )
