"""The answer that a model is writing, shared with the processes that show it; it is no part of the journal's events."""

import json
import re
from collections.abc import Awaitable, Callable
from dataclasses import asdict

import anyio

from ui_mcp.agent.model import Retrying
from ui_mcp.agent.sampler import Deltas
from ui_mcp.errors import AgentError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger

PUBLISH_SECONDS = 0.1
MAX_CHARACTERS = 100_000
_log = logger("agent")
_CONTENT = re.compile(r'"content"\s*:\s*"((?:[^"\\]|\\.)*)', re.DOTALL)
_HALF_ESCAPE = re.compile(r"\\u[0-9a-fA-F]{0,3}$")
Publish = Callable[[JsonObject | None], Awaitable[None]]
"""Stores what is shown now; None if there is nothing."""


def posted_text(arguments: str) -> str:
    """Return the text of a message whose JSON has arrived in part."""
    return "\n\n".join(_decoded(found) for found in _CONTENT.findall(arguments))


def _decoded(text: str) -> str:
    # Half of a surrogate pair decodes to a lone surrogate, which UTF-8 cannot write.
    whole: str = json.loads(f'"{_HALF_ESCAPE.sub("", text)}"', strict=False)
    return whole.encode("utf-8", "ignore").decode()


class LiveAnswer:
    """Collects the pieces of an answer and publishes them, a few times a second."""

    def __init__(self, publish: Publish, posts: frozenset[str], *, shows_text: bool) -> None:
        """`posts` are the tools whose messages are shown; with `shows_text` text outside of calls is, too."""
        self._publish = publish
        self._posts = posts
        self._shows_text = shows_text
        self._text = ""
        self._arguments = ""
        self._reasoning = ""
        self._shown: JsonObject | None = None
        self._changed = anyio.Event()

    def deltas(self) -> Deltas:
        return Deltas(
            text=self._said,
            retrying=self._retrying,
            argument=self._argument,
            reasoning=self._thought,
            sampled=self._sampled,
        )

    async def run(self) -> None:
        """Publish every change, until cancelled."""
        await self._write(None)  # an agent that was killed may have left something
        while True:
            await self._changed.wait()
            self._changed = anyio.Event()
            await self._write(self._shown)
            await anyio.sleep(PUBLISH_SECONDS)

    async def _write(self, shown: JsonObject | None) -> None:
        try:
            await self._publish(shown)
        except AgentError as error:
            _log.debug("what the model writes cannot be shown: %s", error.message)

    def _said(self, text: str) -> None:
        self._text += text
        if self._shows_text:
            self._show({"text": self._text[-MAX_CHARACTERS:]})

    def _argument(self, tool: str, piece: str) -> None:
        if tool in self._posts:
            self._arguments += piece
            if len(self._arguments) <= MAX_CHARACTERS and (text := posted_text(self._arguments)):
                self._show({"text": text})

    def _thought(self, text: str) -> None:
        self._reasoning = (self._reasoning + text)[-MAX_CHARACTERS:]
        if not self._text and not self._arguments:
            self._show({"text": "", "reasoning": self._reasoning})

    def _retrying(self, retrying: Retrying) -> None:
        self._show({"retrying": asdict(retrying)})

    def _sampled(self) -> None:
        """The answer is whole, or will never be: the journal has it, or says why not."""
        self._text = self._arguments = self._reasoning = ""
        self._show(None)

    def _show(self, shown: JsonObject | None) -> None:
        self._shown = shown
        self._changed.set()
