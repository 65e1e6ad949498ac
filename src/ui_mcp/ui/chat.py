"""Opens the chat of the current base directory on first use, and closes it when the directory changes."""

from collections.abc import Callable
from dataclasses import dataclass, field

import anyio
from anyio.abc import TaskGroup, TaskStatus

from ui_mcp.chat.announcer import NewMessages
from ui_mcp.chat.identity import AccessTokens, Authenticator, principal
from ui_mcp.chat.service import Chat, limits_of, open_chat, store_url
from ui_mcp.chat.tools import OpenChat
from ui_mcp.errors import ChatError
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.ui.states import Configured, Running

# Also the time until a failed open is retried; the server runs without a chat meanwhile.
_OPEN_TIMEOUT = 2.0


@dataclass(frozen=True, slots=True)
class _Open:
    url: str
    chat: Chat
    end: anyio.Event = field(default_factory=anyio.Event)


@dataclass(frozen=True, slots=True)
class _Failed:
    url: str
    when: float
    error: ChatError


class Chats:
    """At most one open chat, owned by the server's task group."""

    def __init__(
        self,
        configured: Callable[[], Configured | Running],
        announcements: Announcements,
        tasks: TaskGroup,
        on_new_messages: Callable[[NewMessages], object],
    ) -> None:
        self._configured = configured
        self._announcements = announcements
        self._tasks = tasks
        self._open: _Open | None = None
        self._lock = anyio.Lock()
        self._failed: _Failed | None = None
        self._on_new_messages = on_new_messages

    async def current(self) -> Chat:
        """Return the chat of the configured directory.

        Raises:
            NotConfiguredError: there is no directory.
            ChatError: the store cannot be opened.
        """
        state = self._configured()
        url = store_url(state.config, state.workspace)
        async with self._lock:
            if self._open is None or self._open.url != url:
                self.close()
                self._open = await self._open_store(url, state)
            return self._open.chat

    async def _open_store(self, url: str, state: Configured | Running) -> _Open:
        failed = self._failed
        if failed and failed.url == url and anyio.current_time() < failed.when + _OPEN_TIMEOUT:
            raise failed.error  # callers that waited for the failed attempt do not each repeat it
        try:
            opened: _Open = await self._tasks.start(self._run, url, state)
        except ChatError as error:
            self._failed = _Failed(url, anyio.current_time(), error)
            raise
        self._failed = None
        return opened

    async def context(self) -> OpenChat:
        """Return the chat with its authenticator; callers without a token of their own are the agent."""
        chat = await self.current()
        return OpenChat(chat, Authenticator(AccessTokens(chat.store), principal("agent", "agent")))

    def cancel_waiters(self) -> None:
        """Cancel blocked chat reads."""
        if self._open is not None:
            self._open.chat.tail.cancel_waiters()

    def close(self) -> None:
        """Let the open chat end, without waiting."""
        if self._open is not None:
            self._open.end.set()
            self._open = None

    async def _run(self, url: str, state: Configured | Running, *, task_status: TaskStatus[_Open]) -> None:
        async with open_chat(
            url,
            limits=limits_of(state.config),
            announcements=self._announcements,
            on_new_messages=self._on_new_messages,
            since=state.since if isinstance(state, Running) else None,
            poll=state.config.storage.poll_ms / 1000,
            connect_timeout=_OPEN_TIMEOUT,
        ) as chat:
            opened = _Open(url, chat)
            task_status.started(opened)
            await opened.end.wait()
