"""Kills a process at every step of an agent: never twice at the same, so that the conversation still comes to its end.

A step is the moment before or after something durable or visible happens: a write to the journal or to the questions,
a call sent to an upstream, a post, a read of the inbox.
"""

import os
import signal
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio

from ui_mcp.agent import inbox
from ui_mcp.agent.inbox import McpInbox
from ui_mcp.agent.journal_store import JournalStore
from ui_mcp.chat.service import Chat
from ui_mcp.gateway import mount
from ui_mcp.gateway.approvals.store import ApprovalStore
from ui_mcp.gateway.catalog import Catalog
from ui_mcp.gateway.mount import Mount


class Steps:
    """Knows where the agent is, and where a process has died already."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._log = folder / "died"
        self._died = set(self._log.read_text().splitlines()) if self._log.exists() else set()
        self._victim, _, most = (folder / "victim").read_text().partition(" ")
        self._most = int(most)
        self._times = Counter(name.partition("@")[0] for name in self._died)
        self.mounts: list[Mount] = []
        self.inboxes: list[McpInbox] = []
        self.length = 0
        """Events in the journal."""

    async def at(self, step: str) -> None:
        """Kill the victim if it has not died at this step yet."""
        name = f"{step}@{self.length}"
        if name in self._died or self._times[step] >= self._most:
            return
        self._died.add(name)
        self._times[step] += 1
        prey = await self._prey()
        with self._log.open("a") as log:
            log.write(name + "\n")
        with suppress(ProcessLookupError):  # another kill was faster
            os.kill(prey, signal.SIGKILL)

    async def _prey(self) -> int:
        if self._victim == "agent":
            return os.getpid()
        with anyio.fail_after(120):
            while not (self.is_up() and (living := living_pids(self._folder, self._victim))):
                await anyio.sleep(0.01)
        return living[0]

    def is_up(self) -> bool:
        """Say whether the victim is connected to the agent."""
        if self._victim == "gateway":
            return any(one._usable() is not None for one in self.mounts)
        return any(one._server is not None for one in self.inboxes)


def living_pids(folder: Path, role: str) -> list[int]:
    """Return processes of a role that were not killed yet; each is given out once."""
    found = []
    for file in (folder / "pids").glob(f"{role}.*"):
        file.unlink(missing_ok=True)
        pid = int(file.suffix[1:])
        if Path(f"/proc/{pid}").exists():
            found.append(pid)
    return found


def install(folder: Path) -> None:
    """Put a step before and after everything that matters."""
    steps = Steps(folder)
    mount._LONGEST_WAIT = inbox.LONGEST_WAIT = 0.2  # who died comes back soon

    def around(owner: type, method: str, label: Callable[..., str], after: Callable[[Any], None] | None = None) -> None:
        inner = getattr(owner, method)

        async def outer(self: Any, *args: Any, **kwargs: Any) -> Any:
            step = f"{method} {label(*args)}".strip()
            await steps.at(f"before {step}")
            result = await inner(self, *args, **kwargs)
            await steps.at(f"after {step}")
            if after is not None:
                after(result)
            return result

        setattr(owner, method, outer)

    def register(owner: type, known: list[Any]) -> None:
        inner = owner.run  # type: ignore[attr-defined]

        async def run(self: Any) -> None:
            known.append(self)
            await inner(self)

        owner.run = run  # type: ignore[attr-defined]

    register(Mount, steps.mounts)
    register(McpInbox, steps.inboxes)

    def grown(stored: Any) -> None:
        steps.length = max([steps.length, *(event.id for event in stored)])

    around(JournalStore, "events", lambda *_: "", grown)
    around(JournalStore, "append", lambda _, __, events: "+".join(event.type for event in events), grown)
    around(JournalStore, "inject", lambda *_: "", grown)
    around(ApprovalStore, "add", lambda _: "")
    around(ApprovalStore, "swap", lambda _, row: f"{row.status} {row.execution} {row.delivered}")
    around(Catalog, "call", lambda name, *_: name)
    around(Chat, "post", lambda *_: "")
    around(McpInbox, "read", lambda *_: "")
