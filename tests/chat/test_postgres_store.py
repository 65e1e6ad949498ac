"""What is special about PostgreSQL: connections end, and transactions overlap."""

import logging
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import anyio
import psycopg
import pytest

from ui_mcp.chat import tail
from ui_mcp.chat.identity import principal
from ui_mcp.chat.message import DEFAULT_CONVERSATION, Draft
from ui_mcp.chat.postgres_store import SCHEMA
from ui_mcp.chat.service import open_chat, open_store
from ui_mcp.chat.store import Post, Query
from ui_mcp.cli.doctor import project
from ui_mcp.cli.doctor.findings import Health
from ui_mcp.config import Config
from ui_mcp.errors import ChatError
from ui_mcp.storage.postgres import prepare_with_retry
from ui_mcp.toolkit.announcements import Announcement, Announcements
from ui_mcp.validation import read
from ui_mcp.workspace import Workspace

HUMAN = principal("human", "human")


@pytest.mark.covers("R-ST-6", "R-NO-5")
async def test_a_post_is_announced_although_every_connection_was_cut(
    postgres_url: Callable[[], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tail, "IDLE_SECONDS", 3600.0)  # it must not be found by a look that comes anyway
    url = postgres_url()
    bus, announced = Announcements(), anyio.Event()

    def hear(announcement: Announcement) -> None:
        announced.set()

    async with open_chat(url, announcements=bus), open_chat(url) as elsewhere:
        bus.listen(hear)
        with psycopg.connect(url, autocommit=True) as admin:
            admin.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")
        with anyio.fail_after(60):
            while True:  # the first tries may meet a connection that is gone; the client id makes repeating safe
                with suppress(ChatError):
                    await elsewhere.post(HUMAN, "user", DEFAULT_CONVERSATION, [Draft("after the cut", client_id="1")])
                    break
            await announced.wait()


@pytest.mark.covers("R-ST-6", "R-IN-5")
async def test_a_writer_that_has_not_committed_holds_back_the_next_one(postgres_url: Callable[[], str]) -> None:
    url = postgres_url()
    held_back = "SELECT count(*) FROM pg_stat_activity WHERE %s = ANY(pg_blocking_pids(pid))"
    async with open_store(url) as store:
        await store.append(Post(DEFAULT_CONVERSATION, "user", "human", (Draft("first"),)))
        done: list[str] = []
        with psycopg.connect(url, autocommit=True) as admin, psycopg.connect(url) as slow:
            slow.execute("SELECT head FROM chat_conversations WHERE name = 'default' FOR UPDATE")

            async def second() -> None:
                await store.append(Post(DEFAULT_CONVERSATION, "user", "human", (Draft("third"),)))
                done.append("third")

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(second)
                with anyio.fail_after(30):
                    while not done and admin.execute(held_back, (slow.info.backend_pid,)).fetchone() == (0,):
                        await anyio.sleep(0.01)
                seen = [message.content for message in (await store.since(Query(DEFAULT_CONVERSATION))).messages]
                slow.execute("UPDATE chat_conversations SET head = head + 3600000000000")  # its clock is ahead
                slow.execute(
                    "INSERT INTO chat_messages SELECT 'default', head, 0, 'user', 'slow', 'text/plain', 'second', "
                    "NULL, 6 FROM chat_conversations WHERE name = 'default'"
                )
                slow.commit()
        stored = [message.content for message in (await store.since(Query(DEFAULT_CONVERSATION))).messages]

    assert (seen, stored, done) == (["first"], ["first", "second", "third"], ["third"])


@pytest.mark.covers("R-ST-3", "CHAT-OPEN-1")
async def test_several_servers_that_start_at_once_on_a_fresh_database_all_come_up(
    postgres_url: Callable[[], str],
) -> None:
    url = postgres_url()
    seen: list[int] = []

    async def start(n: int) -> None:
        async with open_store(url) as store:
            await store.append(Post(DEFAULT_CONVERSATION, "user", "human", (Draft(f"{n}"),)))
            seen.append(n)

    async with anyio.create_task_group() as tasks:
        for n in range(8):
            tasks.start_soon(start, n)
    with psycopg.connect(url) as admin:
        versions = admin.execute("SELECT version FROM chat_schema").fetchall()

    assert sorted(seen) == list(range(8))
    assert versions == [(1,)]


@pytest.mark.covers("CHAT-OPEN-1")
async def test_a_server_waits_for_a_database_that_takes_no_connections_yet(
    postgres_url: Callable[[], str], postgres_server: str, caplog: pytest.LogCaptureFixture
) -> None:
    url = postgres_url()
    name = psycopg.conninfo.conninfo_to_dict(url)["dbname"]
    asked = anyio.Event()

    class Asked(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            asked.set()

    logging.getLogger("ui_mcp.storage").addHandler(handler := Asked())
    with psycopg.connect(postgres_server.format("postgres"), autocommit=True) as admin:
        admin.execute(f"ALTER DATABASE {name} CONNECTION LIMIT 0".encode())
        admin.execute("CREATE ROLE plain LOGIN")  # a superuser would pass the limit
        admin.execute(f"GRANT ALL ON DATABASE {name} TO plain".encode())
        admin.execute(f"ALTER DATABASE {name} OWNER TO plain".encode())

        async def allow() -> None:
            await asked.wait()
            admin.execute(f"ALTER DATABASE {name} CONNECTION LIMIT 20".encode())

        with anyio.fail_after(60):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(allow)
                async with open_store(url.replace("chat@", "plain:secret@")) as store:
                    heads = await store.heads()
    logging.getLogger("ui_mcp.storage").removeHandler(handler)

    assert heads == {}
    assert "trying again" in caplog.text
    assert f"postgresql://plain@/{name}" in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.covers("CHAT-OPEN-1")
async def test_a_database_that_never_comes_is_named_without_its_password(tmp_path: Path) -> None:
    url = f"postgresql://me:hunter2@/chat?host={tmp_path}&password=hunter3"

    with pytest.raises(ChatError) as failed:
        await prepare_with_retry(url, SCHEMA, connect_timeout=0.3)

    assert f"postgresql://me@/chat?host={tmp_path}" in failed.value.message
    assert "hunter" not in failed.value.message


@pytest.mark.covers("R-ST-3")
async def test_a_newer_database_is_refused(postgres_url: Callable[[], str]) -> None:
    url = postgres_url()
    async with open_store(url):
        pass
    with psycopg.connect(url, autocommit=True) as admin:
        admin.execute("UPDATE chat_schema SET version = 99")

    with pytest.raises(ChatError, match="newer ui-mcp"):
        async with open_store(url):
            pass


@pytest.mark.covers("R-IN-2")
async def test_the_database_itself_refuses_to_change_a_message(postgres_url: Callable[[], str]) -> None:
    url = postgres_url()
    async with open_store(url) as store:
        await store.append(Post(DEFAULT_CONVERSATION, "user", "human", (Draft("final"),)))
    with psycopg.connect(url, autocommit=True) as admin:
        for statement in (b"UPDATE chat_messages SET content = 'x'", b"DELETE FROM chat_messages"):
            with pytest.raises(psycopg.errors.RaiseException, match="final"):
                admin.execute(statement)


@pytest.mark.covers("UI-CLI-10")
async def test_the_doctor_asks_the_database_itself_and_changes_nothing(
    postgres_url: Callable[[], str], tmp_path: Path
) -> None:
    url = postgres_url()
    config = read(Config, {"storage": {"url": url}})

    (found,) = await project.stores(Workspace.at(tmp_path / "ui"), config)

    assert (found.health, found.text.startswith("PostgreSQL ")) == (Health.OK, True)
    with psycopg.connect(url) as connection:
        tables = connection.execute("select count(*) from pg_tables where schemaname = 'public'").fetchone()
    assert tables == (0,)
