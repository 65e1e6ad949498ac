"""The pages connected to one session."""

from collections.abc import Awaitable, Callable

from ui_mcp.session.connection import Connection
from ui_mcp.session.notices import Level, notice_frame


class Pages:
    """Connections by number; numbers are never used twice."""

    def __init__(
        self,
        accept: Callable[[Connection, str], Awaitable[None]],
        at_once: Callable[[Connection, str], bool] = lambda _connection, _frame: False,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._accept = accept
        self._at_once = at_once
        self._changed = changed
        self._connections: dict[int, Connection] = {}
        self._last = 0

    def __len__(self) -> int:
        return len(self._connections)

    def add(self, *, driven: bool = False) -> Connection:
        """Return a new connection; nobody sits before a `driven` page."""
        self._last += 1
        connection = self._connections[self._last] = Connection(self._last, self._accept, self._at_once, driven=driven)
        self._changed()
        return connection

    def latest(self) -> Connection | None:
        """Return the page that a person opened last."""
        return next((page for page in reversed(self._connections.values()) if not page.driven), None)

    def driven(self) -> list[Connection]:
        """Return the pages nobody sits before."""
        return [page for page in self._connections.values() if page.driven]

    def remove(self, connection: Connection) -> bool:
        """Forget a connection; False if it was closed before."""
        connection.eyes.close()
        known = self._connections.pop(connection.number, None) is not None
        self._changed()
        return known

    def deliver(self, number: int, frame: str) -> None:
        """Hand a frame to its page, if that is still there."""
        connection = self._connections.get(number)
        if connection is not None:
            connection.outbox.put(frame)

    def tell(self, level: Level, text: str, code: str) -> None:
        """Show a notice in every page."""
        frame = notice_frame(level, text, code)
        for number in self._connections:
            self.deliver(number, frame)

    def close(self, code: int, reason: str) -> None:
        """End every connection after what is on its way."""
        for connection in self._connections.values():
            connection.outbox.close(code, reason)
        self._connections.clear()
        self._changed()
