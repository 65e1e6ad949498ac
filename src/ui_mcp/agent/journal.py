"""What an agent has lived through: events, how far it has read its inbox, and who may write. The interface."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from socket import gethostname
from typing import Protocol

from ui_mcp.agent.timeline import StoredEvent
from ui_mcp.ids import secret_id
from ui_mcp.jsontypes import JsonObject


@dataclass(frozen=True, slots=True)
class Happened:
    """An event on its way into the journal, which gives it its id and time."""

    type: str
    data: JsonObject


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to write, until somebody with a higher fence has it."""

    holder: str
    fence: int


@dataclass(frozen=True, slots=True)
class Life:
    """What a list of agents shows of one."""

    agent: str
    first_text: str
    """What a person said first."""
    began: str
    ended: str
    """Time of the newest event."""
    events: int


def holder_name() -> str:
    """Return a name for a holder of leases that others on this machine can look after."""
    return f"{gethostname()}:{os.getpid()}:{secret_id()}"


def is_gone(holder: str) -> bool:
    """Say whether a holder surely runs no more: its process was on this machine and is not there."""
    host, _, rest = holder.partition(":")
    pid = rest.partition(":")[0]
    if host != gethostname() or not pid.isdigit():
        return False
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


class Journal(Protocol):
    """An append-only list of events per agent; every write proves that its writer still holds the lease.

    Every method raises JournalError when the place it is kept in fails; nothing has been written then.
    """

    async def take_lease(self, agent: str, holder: str, seconds: float) -> Lease | None:
        """Return the lease if nobody else holds a live one; renewing is taking it again."""
        ...

    async def drop_lease(self, agent: str, lease: Lease) -> None:
        """Let others have it at once."""
        ...

    async def append(self, agent: str, lease: Lease, events: Sequence[Happened]) -> list[StoredEvent]:
        """Store events in one transaction.

        Raises:
            LeaseLostError: somebody else may write now.
        """
        ...

    async def inject(
        self, agent: str, lease: Lease, messages: Sequence[JsonObject], watermark: str
    ) -> list[StoredEvent]:
        """Store inbox messages as `user_text` events and move the watermark in one transaction; known ones are skipped.

        Raises:
            LeaseLostError: somebody else may write now.
        """
        ...

    async def watermark(self, agent: str) -> str | None:
        """Return the id of the last inbox message that was taken."""
        ...

    async def events(self, agent: str, after: int = 0) -> list[StoredEvent]:
        """Return the events after an id, in order."""
        ...

    async def lives(self) -> list[Life]:
        """Return every agent that has lived through something, the newest first."""
        ...

    async def forget(self, agent: str) -> bool:
        """Remove everything about an agent; say whether there was anything."""
        ...

    async def close(self) -> None:
        """Let go of files."""
        ...
