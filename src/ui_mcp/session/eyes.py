"""Questions to a page about what it shows, and its answers, beside the frames that make it."""

from collections.abc import Callable

import anyio

from ui_mcp.errors import SessionGoneError, WireError
from ui_mcp.jsontypes import dumps, loads

ANSWER = '{"type":"looked"'
"""How the frame of an answer begins."""


class Eyes:
    """One page's side of looking: each question is a frame, each answer finds its question by number."""

    def __init__(self, send: Callable[[str], None]) -> None:
        self._send = send
        self._waiting: dict[int, anyio.Event] = {}
        self._answers: dict[int, str] = {}
        self._last = 0

    async def ask(self, request: str, prefix: str) -> str:
        """Return the page's answer; the caller limits the time.

        Raises:
            SessionGoneError: the page left before it answered.
        """
        self._last += 1
        number = self._last
        arrived = self._waiting[number] = anyio.Event()
        try:
            self._send(dumps({"type": "look", "data": {"id": number, "prefix": prefix, "request": request}}))
            await arrived.wait()
        finally:
            self._waiting.pop(number, None)
        if number not in self._answers:
            raise SessionGoneError("The page left before it answered")
        return self._answers.pop(number)

    async def reached(self) -> None:
        """Return when the page has shown all that was sent before, and all that it sent itself has arrived.

        Raises:
            SessionGoneError: the page left.
        """
        await self.ask("", "")

    def answered(self, frame: str) -> None:
        """Take an answer frame; one that nobody waits for any more is dropped.

        Raises:
            WireError: the frame is not an answer.
        """
        try:
            data = loads(frame)["data"]
            number, answer = int(data["id"]), str(data["answer"])
        except (ValueError, KeyError, TypeError) as error:
            raise WireError("Not an answer to a look") from error
        if number in self._waiting:
            self._answers[number] = answer
            self._waiting[number].set()

    def close(self) -> None:
        """Tell whoever waits that no answer will come."""
        for arrived in self._waiting.values():
            arrived.set()
