"""MCP client through which the orchestrator reads people's messages: always subscribed, read by cursor."""

import re
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import anyio

from ui_mcp.agent.orchestrator import InboxPage
from ui_mcp.errors import AgentError, UiMcpError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger
from ui_mcp.mcp_client.client import McpClient
from ui_mcp.toolkit.tool import Call

INBOX = "ui://chat/inbox"
FIRST_WAIT = 0.2
LONGEST_WAIT = 10.0
_log = logger("agent.inbox")

Open = Callable[[Callable[[str], None]], AbstractAsyncContextManager[McpClient]]
"""Connects to the chat server; the argument is called with the URI of each changed resource."""


_ADDRESSED = re.compile(r"(?:\s*@[A-Za-z][\w-]*(?=[\s,:]|$)[,:]?)+")


def is_for(name: str, text: str) -> bool:
    """Return whether an agent takes a message: one that begins with `@NAME` is for the agents that it names."""
    found = _ADDRESSED.match(text)
    named = [word.strip(" ,:\n").casefold() for word in found[0].split("@")[1:]] if found else []
    return not named or name.casefold() in named


class McpInbox:
    """The inbox of one conversation; notifications only trigger reads, so that a lost one loses no message."""

    def __init__(self, connect: Open, conversation: str = "default", name: str | None = None) -> None:
        """Prepare to read; an agent with a `name` leaves out what is addressed to others."""
        self._name = name
        self._connect = connect
        self._conversation = conversation
        self._uri = INBOX if conversation == "default" else f"{INBOX}/{conversation}"
        self._server: McpClient | None = None
        self._news = anyio.Event()

    async def run(self) -> None:
        """Stay connected and subscribed until cancelled; reconnects with exponential back-off."""
        wait = FIRST_WAIT
        while True:
            try:
                async with self._connect(self._on_updated) as server:
                    await server.subscribe(self._uri)
                    wait = FIRST_WAIT
                    self._server = server
                    self._news.set()  # read messages that arrived while disconnected
                    await server.lost.wait()
            except UiMcpError as error:
                _log.warning("the chat cannot be reached: %s", error.message)
            self._server = None
            await anyio.sleep(wait)
            wait = min(wait * 2, LONGEST_WAIT)

    async def read(self, after: str | None, limit: int) -> InboxPage:
        """Return messages of people after a cursor.

        Raises:
            AgentError: the chat is not connected, or refused the read.
        """
        if self._server is None:
            raise AgentError("The chat is not connected")
        arguments: JsonObject = {"authors": ["user"], "limit": limit, "conversation": self._conversation}
        if after is not None:
            arguments["after_id"] = after
        result = await self._server.call("chat_read_since", arguments, Call())
        if result.is_error or result.structured is None:
            raise AgentError(f"The chat refused to be read: {result.content}")
        page = result.structured
        messages = [one for one in page["messages"] if self._name is None or is_for(self._name, one["content"])]
        return InboxPage(messages, page["last_id"], page["has_more"])

    async def hint(self, seconds: float) -> None:
        """Return after the next notification, at the latest after `seconds`."""
        with anyio.move_on_after(seconds):
            await self._news.wait()
        self._news = anyio.Event()

    def _on_updated(self, uri: str) -> None:
        if uri == self._uri:
            self._news.set()
