"""The states of the server; each carries what exists in it, so what a state lacks cannot be touched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import time
from typing import TYPE_CHECKING

from ui_mcp.config import Config
from ui_mcp.workspace import Workspace

if TYPE_CHECKING:
    # An agent's first answer must not wait for the session machinery, which only `ui_start` needs.
    from ui_mcp.ui.sessions.registry import SessionRegistry


@dataclass(frozen=True, slots=True)
class Unconfigured:
    """Start-up configuration failed; only `ui_configure` leads out."""

    given: str
    reason: str


@dataclass(frozen=True, slots=True)
class Configured:
    """A usable base directory; nothing listens yet."""

    workspace: Workspace
    config: Config
    install_problem: str | None = None
    """Why the automatic installation failed, if it did; bundled files stand in."""
    pending: tuple[str, ...] = ()
    """Settings of the directory that are not in effect because the person has not agreed to them."""
    protected: tuple[str, ...] = ()
    """Files of other base directories that this process used: app code of this one never gets to them."""


@dataclass(frozen=True, slots=True)
class Running:
    """The UI is being served."""

    workspace: Workspace
    config: Config
    sessions: SessionRegistry
    url: str
    """Address of the UI without a trailing slash."""
    mcp_port: int
    mint_token: Callable[[str], str] = lambda _: ""
    """Makes a one-time token that opens one socket of the session with this secret id."""
    mint_code: Callable[[str], str] = lambda _: ""
    """Makes a one-time code that lets one browser in to the session with this secret id."""
    person_url: str = ""
    """Address of the person's own page, which grants nothing by itself."""
    since: float = field(default_factory=time)
    """When it began, in seconds since 1970; what people write from then on is news, whenever the chat is opened."""
    pending: tuple[str, ...] = ()
    """Settings of the directory that are not in effect because the person has not agreed to them."""

    @property
    def local_url(self) -> str:
        """The same for a browser on this machine: with a one-time code where pages open with no other."""
        return self.entry_url if self.config.server.require_token else self._local_address

    @property
    def entry_url(self) -> str:
        """An address on this machine that lets one browser in, once."""
        return f"{self._local_address}/?code={self.mint_code(self.sessions.get('1').secret)}"

    @property
    def _local_address(self) -> str:
        return self.config.server.local_url(int(self.url.rpartition(":")[2]))


State = Unconfigured | Configured | Running
