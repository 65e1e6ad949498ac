"""Servers that share a database: one writes a session at a time, and facts go where its state goes."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from ui_mcp.errors import SessionElsewhereError
from ui_mcp.ui.state.database import JournalSettings, StateDatabase
from ui_mcp.ui.state.group import SessionGroup, UnsavedFacts, journal_name
from ui_mcp.ui.state.group_store import Facts
from ui_mcp.ui.state.segments import Entry

pytestmark = [pytest.mark.anyio, pytest.mark.covers("STATE-9")]
SECRET = "5" * 32
SESSION = journal_name(SECRET)
FACTS = [["secret", SECRET], ["visitor", "ada"], ["events", []]]


def group_of(database: StateDatabase) -> SessionGroup:
    assert database.group is not None
    return database.group


def entry(seq: int) -> Entry:
    return Entry(seq, 0.0, seq == 1, "[]")


async def silent(database: StateDatabase) -> None:
    """Let the lease of the session end, as after a long silence."""
    await (await database.store()).group.renew(dict(group_of(database)._held), -1)


@pytest.fixture(params=[False, True], ids=["normal", "full"])
async def pair(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[tuple[StateDatabase, StateDatabase]]:
    settings = JournalSettings(
        str(tmp_path / "state.db"), durable=request.param, interval=0, key="the key of the group", lease_seconds=60
    )
    first, second = StateDatabase(settings), StateDatabase(settings)
    await group_of(first).begin(SECRET)
    await first.append(SESSION, [entry(1)], Facts(1, FACTS))
    yield first, second
    await first.close()
    await second.close()


async def test_a_session_of_a_server_that_renews_its_lease_is_not_taken(
    pair: tuple[StateDatabase, StateDatabase],
) -> None:
    with pytest.raises(SessionElsewhereError):
        await group_of(pair[1]).take(SECRET, "ada")


async def test_after_a_takeover_the_last_holder_writes_and_deletes_nothing(
    pair: tuple[StateDatabase, StateDatabase],
) -> None:
    first, second = pair
    lost: list[str] = []
    group_of(first).on_lost = lost.append
    await silent(first)

    assert await group_of(second).take(SECRET, "ada") == FACTS
    await second.append(SESSION, [entry(2)])

    with pytest.raises(SessionElsewhereError):
        await first.append(SESSION, [entry(2), entry(3)], Facts(1, [["secret", "forged"]]))
    await first.forget(SESSION)
    assert lost == [SESSION]
    assert [one.seq for one in await (await second.store()).entries(SESSION)] == [1, 2]
    assert await group_of(second).latest("ada") == SECRET


async def test_one_lost_session_does_not_stop_the_others_of_a_server(
    pair: tuple[StateDatabase, StateDatabase],
) -> None:
    first, second = pair
    await group_of(first).begin("6" * 32)
    await silent(first)
    await group_of(second).take(SECRET)

    with pytest.raises(SessionElsewhereError):
        await first.append(SESSION, [entry(2)])
    await first.append(journal_name("6" * 32), [entry(1)])

    assert len(await (await first.store()).entries(journal_name("6" * 32))) == 1


async def test_only_a_visitor_takes_a_session_and_nobody_one_that_does_not_exist(
    pair: tuple[StateDatabase, StateDatabase],
) -> None:
    first, second = pair
    await group_of(first).release(SECRET)

    assert await group_of(second).take(SECRET, "eve") is None
    assert await group_of(second).take("7" * 32) is None
    assert await group_of(second).latest("eve") is None
    assert await group_of(second).take(SECRET, "ada") == FACTS


async def test_sessions_that_no_server_has_had_for_long_are_deleted(
    pair: tuple[StateDatabase, StateDatabase],
) -> None:
    first, second = pair
    await group_of(second).sweep(3600)
    assert await group_of(second).latest("ada") == SECRET
    await group_of(first).release(SECRET)

    await group_of(second).sweep(-1)

    assert await (await second.store()).entries(SESSION) == []
    assert await group_of(second).take(SECRET) is None


async def test_a_database_of_another_group_is_not_believed(
    pair: tuple[StateDatabase, StateDatabase], tmp_path: Path
) -> None:
    await group_of(pair[0]).release(SECRET)
    stranger = StateDatabase(JournalSettings(str(tmp_path / "state.db"), key="another key", lease_seconds=60))

    assert await group_of(stranger).take(SECRET) is None
    assert await (await stranger.store()).entries(SESSION) == []
    await stranger.close()


def test_facts_that_come_while_others_are_written_are_written_next() -> None:
    facts = UnsavedFacts()
    facts.begin([["secret", "s"], ["events", []]])
    writing = facts.pending()
    assert writing is not None
    facts.append(["displayed", "book"])

    facts.written(*writing)

    assert facts.pending() == (1, Facts(3, (["displayed", "book"],)))
    assert facts.count == 3


def test_facts_that_were_replaced_while_they_were_written_are_written_again() -> None:
    facts = UnsavedFacts()
    facts.begin([["secret", "s"], ["events", ["a"]]])
    writing = facts.pending()
    assert writing is not None
    facts.begin([["secret", "s"], ["events", []]])

    facts.written(*writing)

    assert facts.pending() == (2, Facts(1, (["secret", "s"], ["events", []])))
