"""The states of the server; each has only the data that exists in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from time import time
from typing import TYPE_CHECKING

from ui_mcp.config import Config
from ui_mcp.jsontypes import JsonObject
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.workspace import Workspace

if TYPE_CHECKING:
    # Importing the session modules, which only `ui_start` needs, would delay the server's first answer.
    from ui_mcp.ui.sessions.registry import SessionRegistry


@dataclass(frozen=True, slots=True)
class Unconfigured:
    """Start-up configuration failed; `ui_configure` is needed."""

    given: str
    reason: str


@dataclass(frozen=True, slots=True)
class Configured:
    """There is a usable base directory; nothing listens yet."""

    workspace: Workspace
    config: Config
    install_problem: str | None = None
    """Why the automatic installation failed, or None; bundled files are used instead."""
    pending: tuple[str, ...] = ()
    """Settings of the directory that are not in effect because the person has not agreed to them."""
    protected: tuple[str, ...] = ()
    """Files of other base directories that this process used, which app code of this one may not access."""


@dataclass(frozen=True, slots=True)
class Running:
    workspace: Workspace
    config: Config
    sessions: SessionRegistry
    url: str
    """Address of the UI without a trailing slash."""
    mcp_port: int
    mint_token: Callable[[str], str] = lambda _: ""
    """Creates a one-time token for one WebSocket of the session with this secret id."""
    mint_code: Callable[[str], str] = lambda _: ""
    """Creates a one-time code that admits one browser to the session with this secret id."""
    person_url: str = ""
    """Address of the person's page; it grants no access by itself."""
    connections: Callable[[], int] = lambda: 0
    """Returns how many connections to the listeners are open, those of pages included."""
    since: float = field(default_factory=time)
    """Unix time of the start; later messages count as new, whenever the chat is opened."""
    pending: tuple[str, ...] = ()
    """Settings of the directory that are not in effect because the person has not agreed to them."""

    @property
    def local_url(self) -> str:
        """The address for a browser on this machine, with a one-time code if pages require one."""
        return self.entry_url if self.config.server.require_token else self._local_address

    @property
    def entry_url(self) -> str:
        """An address on this machine that admits one browser, once."""
        return f"{self._local_address}/?code={self.mint_code(self.sessions.get('1').secret)}"

    def entry_to(self, secret: str) -> str:
        """Return an address on this machine that admits one browser to one session, once."""
        return f"{self._local_address}/{secret}/?code={self.mint_code(secret)}"

    @property
    def _local_address(self) -> str:
        return self.config.server.local_url(int(self.url.rpartition(":")[2]))


State = Unconfigured | Configured | Running


def pending_status(pending: tuple[str, ...]) -> JsonObject:
    """Return the status fields for settings that the person has not agreed to yet."""
    return {"not_in_effect": [*pending], "hint": "the person can run: ui-mcp trust"} if pending else {}
