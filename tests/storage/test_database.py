"""Both databases keep the same promises to the packages that use them."""

import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import anyio
import psycopg
import pytest

from chat.conftest import postgres_server, postgres_url  # noqa: F401 - fixtures
from needs import missing
from stores import opened
from ui_mcp.errors import AgentError, ConfigError
from ui_mcp.storage.database import Database, file_of, open_database
from ui_mcp.storage.schema import Failure, Schema, Transaction


class StoreError(AgentError):
    """The error of the store in these tests."""


def store_error(failure: Failure, message: str, **details: object) -> StoreError:
    return StoreError(message, failure=failure, **details)


TABLE = "CREATE TABLE IF NOT EXISTS things (name TEXT PRIMARY KEY);"
SCHEMA = Schema("test", store_error, [TABLE], added=[("things", "colour", "TEXT DEFAULT 'red'")], lock=1)
ADD = "INSERT INTO things (name) VALUES (?)"
ALL = "SELECT name, colour FROM things ORDER BY name"


@pytest.fixture(params=["sqlite", "postgres"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "store.db")
    make: Callable[[], str] = request.getfixturevalue("postgres_url")
    return make()


@pytest.fixture
def database(place: str) -> Iterator[Database]:
    with closing(open_database(place, SCHEMA, SCHEMA)) as opened:
        yield opened


async def test_a_store_is_opened_again_with_its_rows_and_later_columns(database: Database, place: str) -> None:
    assert await database.change(ADD, ("a",)) == 1

    async with opened(open_database, place, SCHEMA, SCHEMA) as again:
        assert await again.rows(ALL) == [("a", "red")]


async def test_opening_does_not_wait_for_a_long_reader_such_as_a_backup(
    postgres_url: Callable[[], str],  # noqa: F811 - the fixture
) -> None:
    url = postgres_url()
    with closing(open_database(url, SCHEMA, SCHEMA)), psycopg.connect(url) as backup:
        backup.execute("SELECT * FROM things")

        async with opened(open_database, url, SCHEMA, SCHEMA) as again:
            assert await again.rows(ALL) == []


async def test_a_transaction_that_fails_leaves_nothing_and_the_next_one_works(database: Database) -> None:
    def fail(found: Transaction) -> None:
        found.executemany(ADD, [("a",), ("b",)])
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        await database.transaction(fail)
    stored = await database.transaction(lambda found: found.execute(ADD, ("c",)).rowcount)

    assert (stored, await database.rows(ALL)) == (1, [("c", "red")])


async def test_transactions_at_once_fail_alone(database: Database) -> None:
    failed: list[str] = []

    async def add(name: str) -> None:
        try:
            await database.transaction(lambda found: found.execute(ADD, (name,)))
        except StoreError:
            failed.append(name)

    async with anyio.create_task_group() as tasks:
        for name in ("a", "b", "a", "c"):
            tasks.start_soon(add, name)

    assert (failed, [row[0] for row in await database.rows(ALL)]) == (["a"], ["a", "b", "c"])


async def test_an_error_of_the_database_is_the_error_of_the_store(database: Database) -> None:
    with pytest.raises(StoreError, match=r"The test (store|database).* failed: ") as failed:
        await database.rows("SELECT nothing FROM things")

    assert failed.value.details["failure"] == "failed"


async def test_a_connection_that_was_cut_is_made_again(postgres_url: Callable[[], str]) -> None:  # noqa: F811
    url = postgres_url()

    def cut() -> None:
        with psycopg.connect(url, autocommit=True) as admin:
            admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")

    async with opened(open_database, url, SCHEMA, SCHEMA) as database:
        cut()
        assert await database.rows(ALL) == []  # reading is repeated
        cut()
        with pytest.raises(StoreError) as failed:  # whether a change arrived is unknown
            await database.change(ADD, ("a",))
        await database.change(ADD, ("b",))

        assert (failed.value.details["failure"], await database.rows(ALL)) == ("busy", [("b", "red")])


def test_a_missing_driver_is_named_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.delitem(sys.modules, "ui_mcp.storage.postgres", raising=False)

    with pytest.raises(ConfigError, match=r"pip install 'psycopg\[binary\]' psycopg-pool"):
        open_database("postgresql://localhost/x", SCHEMA, SCHEMA)


def test_a_path_and_two_kinds_of_url_name_a_store() -> None:
    assert file_of("/a/b.db") == file_of("sqlite:////a/b.db") == Path("/a/b.db")
    assert file_of("sqlite:///a%20b.db") == Path("a b.db")
    assert file_of("postgresql://host/x") is None
    with pytest.raises(ConfigError, match="neither a path"):
        file_of("redis://host")


async def test_a_store_that_is_opened_on_the_event_loop_fails_its_test(tmp_path: Path) -> None:
    if find_spec("blockbuster") is None:
        missing("blockbuster")
    with pytest.raises(Exception, match="Blocking call to sqlite3"):
        open_database(str(tmp_path / "a.db"), SCHEMA, SCHEMA)
