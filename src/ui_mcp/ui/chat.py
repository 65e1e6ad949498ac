"""Opens the chat of the base directory in use, on first need; another directory closes the earlier one."""

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

# The server runs without a chat meanwhile, and the next caller tries again.
_PATIENCE_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class _Kept:
    url: str
    chat: Chat
    end: anyio.Event = field(default_factory=anyio.Event)


@dataclass(frozen=True, slots=True)
class _Failed:
    url: str
    when: float
    error: ChatError


class Chats:
    """At most one open chat, owned by the host's task group."""

    def __init__(
        self,
        configured: Callable[[], Configured | Running],
        announcements: Announcements,
        tasks: TaskGroup,
        heard: Callable[[NewMessages], object],
    ) -> None:
        self._configured = configured
        self._announcements = announcements
        self._tasks = tasks
        self._kept: _Kept | None = None
        self._lock = anyio.Lock()
        self._failed: _Failed | None = None
        self._heard = heard

    async def current(self) -> Chat:
        """Return the chat of the configured directory.

        Raises:
            NotConfiguredError: there is no directory.
            ChatError: the store cannot be opened.
        """
        state = self._configured()
        url = store_url(state.config, state.workspace)
        async with self._lock:
            if self._kept is None or self._kept.url != url:
                self.close()
                self._kept = await self._opened(url, state)
            return self._kept.chat

    async def _opened(self, url: str, state: Configured | Running) -> _Kept:
        failed = self._failed
        if failed and failed.url == url and anyio.current_time() < failed.when + _PATIENCE_SECONDS:
            raise failed.error  # those who queued behind a failed try do not each wait for one of their own
        try:
            kept: _Kept = await self._tasks.start(self._keep, url, state)
        except ChatError as error:
            self._failed = _Failed(url, anyio.current_time(), error)
            raise
        self._failed = None
        return kept

    async def desk(self) -> OpenChat:
        """Return the chat with its callers: whoever talks to the ui server is the agent."""
        chat = await self.current()
        return OpenChat(chat, Authenticator(AccessTokens(chat.store), principal("agent", "agent")))

    def cancel_waiters(self) -> None:
        """Send home who waits for messages."""
        if self._kept is not None:
            self._kept.chat.tail.cancel_waiters()

    def close(self) -> None:
        """Let the open chat end."""
        if self._kept is not None:
            self._kept.end.set()
            self._kept = None

    async def _keep(self, url: str, state: Configured | Running, *, task_status: TaskStatus[_Kept]) -> None:
        async with open_chat(
            url,
            limits=limits_of(state.config),
            announcements=self._announcements,
            heard=self._heard,
            since=state.since if isinstance(state, Running) else None,
            poll=state.config.storage.poll_ms / 1000,
            patience=_PATIENCE_SECONDS,
        ) as chat:
            kept = _Kept(url, chat)
            task_status.started(kept)
            await kept.end.wait()
