"""Sessions that other servers of a group may take over: their records begin here, or with what others have left."""

from secrets import token_hex

from ui_mcp.errors import SessionElsewhereError
from ui_mcp.ui.sessions.record import Kept, SessionRecord, digest_of, kept_from
from ui_mcp.ui.state.group import SessionGroup, UnsavedFacts

MOVED = "it moved here from another server"


class SharedSessions:
    """Takes sessions for this server, so that no other one writes them."""

    def __init__(self, group: SessionGroup) -> None:
        self.group = group

    async def begin(self, record: SessionRecord) -> None:
        """Take the session of a record that this server has kept, or make it that of a new one.

        Raises:
            SessionElsewhereError: another server has it.
            StateStoreError: the database failed.
        """
        facts = await self.group.take(record.kept.secret) if record.resumed else None
        if facts is None:
            await self.begin_new(record)
        else:
            record.kept, record.facts = kept_from(facts), UnsavedFacts()

    async def begin_new(self, record: SessionRecord) -> None:
        """Make a record that of a new session, whatever was kept in it.

        Raises:
            StateStoreError: the database failed.
        """
        record.kept, record.resumed, record.facts = Kept(token_hex(16)), False, UnsavedFacts()
        await self.group.begin(record.kept.secret)

    async def take(self, secret: str, visitor: str) -> Kept | None:
        """Take over a session for one of its visitors and return its facts; None if there is none for them.

        Raises:
            SessionElsewhereError: another server has it.
            StateStoreError: the database failed.
        """
        facts = await self.group.take(secret, digest_of(visitor).hex())
        return None if facts is None else kept_from(facts)

    def continued(self, record: SessionRecord, kept: Kept) -> SessionRecord:
        """Make a new record that of a session that was taken over."""
        record.kept, record.resumed, record.facts, record.reason = kept, True, UnsavedFacts(), MOVED
        return record

    async def begin_first(self, record: SessionRecord) -> None:
        """Do as `begin` for session 1, which every server has: if another has taken it over, with a new one."""
        try:
            await self.begin(record)
        except SessionElsewhereError:
            await self.begin_new(record)
