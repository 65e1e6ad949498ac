"""Sessions of streamable HTTP: looked up by id, ended after 30 minutes without use."""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from secrets import token_hex

import anyio

from ui_mcp.mcp_server.connection import ClientConnection
from ui_mcp.mcp_server.server import McpServer

IDLE_SECONDS = 30 * 60.0
MAX_SESSIONS = 1000
_ID = re.compile("([0-9a-f]{8})-[0-9a-f]{32}")


@dataclass(slots=True)
class Session:
    """One client that has sent `initialize`."""

    id: str
    client: ClientConnection
    opened: float
    used: float
    connection: str = ""
    """Address and port from which the client sent `initialize`."""
    uses: int = 0
    busy: int = 0
    stream: anyio.CancelScope | None = None
    """The open notification stream."""


class Sessions:
    """All sessions of one endpoint, the least recently used first."""

    def __init__(self, service: McpServer, clock: Callable[[], float] = time.monotonic) -> None:
        self._service = service
        self._clock = clock
        self._run = token_hex(4)
        """Begins every id, so that an id of an earlier run of this program is recognized."""
        self._by_id: dict[str, Session] = {}

    def __len__(self) -> int:
        return len(self._by_id)

    def find(self, session_id: str) -> Session | None:
        self._end_idle()
        return self._by_id.get(session_id)

    def is_foreign(self, session_id: str) -> bool:
        """Return whether a session belongs to another run of this program, such as the one before a restart."""
        written = _ID.fullmatch(session_id)
        return written is not None and written[1] != self._run

    def open(self, principal: str, connection: str = "") -> Session | None:
        """Create a session, evicting an idle one at the limit; None if all are busy."""
        self._end_idle()
        if len(self._by_id) >= MAX_SESSIONS:
            idle = self._eviction_candidate(principal, connection)
            if idle is None:
                return None
            self.end(idle)
        session_id = f"{self._run}-{token_hex(16)}"
        client = ClientConnection(self._service, principal=principal, session_id=session_id)
        now = self._clock()
        session = self._by_id[session_id] = Session(session_id, client, now, now, connection)
        return session

    def end(self, session: Session) -> None:
        """End a session and cancel its requests."""
        self._by_id.pop(session.id, None)
        if session.stream is not None:
            session.stream.cancel()
        session.client.close()

    def end_all(self) -> None:
        for session in list(self._by_id.values()):
            self.end(session)

    @contextmanager
    def using(self, session: Session) -> Iterator[None]:
        """Keep a session from being ended as idle while the block runs."""
        session.busy += 1
        session.uses += 1
        try:
            yield
        finally:
            session.busy -= 1
            session.used = self._clock()
            if self._by_id.pop(session.id, None) is not None:
                self._by_id[session.id] = session  # now the most recently used

    def _eviction_candidate(self, principal: str, connection: str) -> Session | None:
        """Return the idle session to evict: the caller's own first, then the one in use for the shortest time.

        The number of uses counts last: a flood of clients can use its sessions often, but not for long.
        """
        idle = (session for session in self._by_id.values() if not session.busy)
        return min(
            idle,
            key=lambda one: (
                not connection or one.connection != connection,
                one.client.principal != principal,
                one.used - one.opened,
                one.uses,
            ),
            default=None,
        )

    def _end_idle(self) -> None:
        limit = self._clock() - IDLE_SECONDS
        for session in list(self._by_id.values()):
            if session.used > limit:  # ordered by last use: the rest is younger
                break
            if not session.busy:
                self.end(session)
