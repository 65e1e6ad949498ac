"""Two servers on one PostgreSQL: one continues the sessions of the other, which then writes nothing more to them."""

import os
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import psycopg
import pytest
from anyio import to_thread

from integration.state_kills.balancer import Balancer
from integration.state_kills.book import Model, Server
from integration.state_kills.writers import Writer, shown
from ports import free_ports
from ui_mcp.http_client import open_client
from ui_mcp.testing.browser import visit

pytestmark = [pytest.mark.slow, pytest.mark.anyio, pytest.mark.covers("STATE-9"), pytest.mark.timeout(300)]
PAGES = 4
LEASE = 2


class Pair:
    """Two servers of one group behind a load balancer, and the browser of four people."""

    def __init__(self, folder: Path, database: str, port: int) -> None:
        key = folder / "group.key"
        key.write_text("a key that only these servers know")
        config = f"""
[server]
allowed_hosts = ["127.0.0.1:{port}"]
allowed_origins = ["http://127.0.0.1:{port}"]
[session]
root = "new"
group_key_file = "{key}"
lease_seconds = {LEASE}
[storage]
url = "{database}"
"""
        for name in ("a", "b"):
            (folder / name).mkdir()
        self.first, self.second = Server(folder / "a", config), Server(folder / "b", config)
        self.balancer = Balancer(port, [self.first.port, self.second.port])
        self.model = Model(PAGES)
        self.cookies: Mapping[str, str] = {}
        self.session = ""
        self._people: list[Writer] = []

    @property
    def url(self) -> str:
        return f"{self.balancer.url}{self.session}/"

    async def open_session(self) -> None:
        self.cookies, self.session = await visit(self.balancer.url)
        self._people = [Writer(page, self.url, self.model, self.cookies) for page in range(PAGES)]

    async def write(self, count: int) -> None:
        """Let four people write until so many more texts are saved."""
        async with anyio.create_task_group() as people:
            for person in self._people:
                people.start_soon(person.run)
            before = len(self.model.saved)
            with anyio.fail_after(60):
                while len(self.model.saved) < before + count:
                    await anyio.sleep(0.01)
            people.cancel_scope.cancel()


@asynccontextmanager
async def running_pair(folder: Path, database: str) -> AsyncIterator[Pair]:
    [port] = free_ports(1)
    pair = Pair(folder, database, port)
    await to_thread.run_sync(pair.first.start)
    await to_thread.run_sync(pair.second.start)
    try:
        async with pair.balancer.running():
            await pair.open_session()
            yield pair
    finally:
        pair.first.process.kill()
        pair.second.process.kill()


@pytest.fixture
async def pair(tmp_path: Path, postgres_url: Callable[[], str]) -> AsyncIterator[Pair]:
    async with running_pair(tmp_path, postgres_url()) as opened:
        yield opened


async def test_another_server_continues_what_a_killed_one_had_saved(pair: Pair) -> None:
    await pair.write(40)

    pair.first.process.kill()
    pair.first.process.wait()

    pair.model.check(await shown(pair.url, pair.cookies))
    await pair.write(20)
    pair.model.check(await shown(pair.url, pair.cookies))


async def test_a_server_that_returns_does_not_take_its_sessions_back(pair: Pair) -> None:
    await pair.write(10)
    pair.first.process.kill()
    pair.first.process.wait()
    pair.model.check(await shown(pair.url, pair.cookies))

    await to_thread.run_sync(pair.first.start)

    async with open_client(cookies=dict(pair.cookies)) as client:
        refused = await client.get(f"{pair.first.url}{pair.session}/", headers={"Accept": "text/html"})
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "2")
    pair.balancer.servers.reverse()
    pair.model.check(await shown(pair.url, pair.cookies))


async def test_a_stranger_does_not_move_a_session(pair: Pair) -> None:
    await pair.write(5)
    pair.first.process.kill()
    pair.first.process.wait()

    cookies, _ = await visit(pair.second.url)

    async with open_client(cookies=cookies) as client:
        found = await client.get(f"{pair.second.url}{pair.session}/", headers={"Accept": "text/html"})
    assert found.status_code == 404
    pair.model.check(await shown(pair.url, pair.cookies))


async def test_the_address_without_a_session_leads_to_the_one_that_the_person_had(pair: Pair) -> None:
    await pair.write(5)
    pair.first.process.kill()
    pair.first.process.wait()

    _, session = await visit(pair.balancer.url, pair.cookies)

    assert session == pair.session


def stored(database: str) -> list[tuple[int, int, str]]:
    """Return the steps of the only session with visitors: its fencing number, the number and the seal of each."""
    with psycopg.connect(database) as connection:
        return connection.execute(
            "SELECT held.fence, step.seq, step.seal FROM state_leases AS held "
            "JOIN state_journal AS step ON step.session = held.session "
            "WHERE held.session IN (SELECT session FROM state_facts WHERE visitor IS NOT NULL) ORDER BY step.seq"
        ).fetchall()


async def first_step_after_takeover(database: str) -> list[tuple[int, int, str]]:
    """Wait until the second server has written the whole state, which replaces all steps of the first one."""
    with anyio.fail_after(60):
        while len(steps := stored(database)) != 1:
            await anyio.sleep(0.05)
    return steps


async def test_a_server_that_was_away_for_too_long_writes_nothing_more(
    tmp_path: Path, postgres_url: Callable[[], str]
) -> None:
    database = postgres_url()
    async with running_pair(tmp_path, database) as pair:
        async with anyio.create_task_group() as people:
            # A page of the first server that does not know of the other one.
            direct = Model(PAGES)
            people.start_soon(Writer(0, f"{pair.first.url}{pair.session}/", direct, pair.cookies).run)
            with anyio.fail_after(60):
                while len(direct.saved) < 10:
                    await anyio.sleep(0.01)
            os.kill(pair.first.process.pid, signal.SIGSTOP)

            pair.balancer.servers = [pair.second.port]
            found = await shown(pair.url, pair.cookies)
            steps = await first_step_after_takeover(database)
            os.kill(pair.first.process.pid, signal.SIGCONT)

            log = tmp_path / "a" / ".ui" / "log" / "mcp.log"
            with anyio.fail_after(60):
                while "another server has taken over" not in log.read_text():
                    await anyio.sleep(0.05)
            people.cancel_scope.cancel()
        # Confirmations may have been on their way when the server was stopped: the other one has what they confirm.
        assert direct.saved <= set(found.partition("|")[0].split())
        assert stored(database) == steps
        after = await shown(pair.url, pair.cookies)
    assert after == found


async def test_a_server_that_stops_in_order_leaves_its_sessions_to_the_others(pair: Pair) -> None:
    await pair.write(10)

    await to_thread.run_sync(pair.first.stop)

    pair.model.check(await shown(pair.url, pair.cookies))
    await pair.write(10)
    pair.model.check(await shown(pair.url, pair.cookies))
