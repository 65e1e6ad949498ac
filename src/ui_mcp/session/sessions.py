"""The sessions of a running server."""

from ui_mcp.errors import NotFoundError
from ui_mcp.ids import same_secret, secret_id


class Session:
    """One Lua world; so far only its names."""

    def __init__(self, vended: str) -> None:
        self.vended = vended
        self.secret = secret_id()


class Sessions:
    """All sessions by vended and secret id."""

    def __init__(self) -> None:
        self._sessions = [Session("1")]

    @property
    def pages(self) -> int:
        """Number of connected browser pages."""
        return 0

    async def create(self) -> Session:
        """Open another session."""
        session = Session(str(len(self._sessions) + 1))
        self._sessions.append(session)
        return session

    def get(self, given: str) -> Session:
        """Find a session by vended or secret id.

        Raises:
            NotFoundError: there is none.
        """
        for session in self._sessions:
            if given == session.vended or same_secret(given, session.secret):
                return session
        raise NotFoundError(f"session {given} not found", session=given)
