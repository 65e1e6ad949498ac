"""The set-up of several servers behind one address, with a real HAProxy."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import httpx2
import pytest
from anyio import to_thread

from chat.conftest import postgres_server, postgres_url
from docs.blocks import Block, blocks, together
from integration.state_kills.book import Model, Server
from integration.state_kills.writers import Writer, shown
from needs import missing
from ports import free_ports
from ui_mcp.http_client import open_client
from ui_mcp.testing.browser import visit

__all__ = ["postgres_server", "postgres_url"]
PAGES = 4


def haproxy() -> str:
    found = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")
    if found is None:
        missing("HAProxy (package haproxy)")
    return found


@contextmanager
def balancing(file: Path) -> Iterator[None]:
    process = subprocess.Popen([haproxy(), "-db", "-q", "-f", str(file)])
    try:
        yield
    finally:
        process.kill()
        process.wait()


async def answers(address: str) -> bool:
    """Wait for the load balancer; it takes servers as running until a check fails."""
    async with open_client() as client:
        with anyio.fail_after(60):
            while True:
                try:
                    return (await client.get(address)).status_code < 500
                except (OSError, httpx2.TransportError):
                    await anyio.sleep(0.05)


@pytest.mark.anyio
@pytest.mark.slow
@pytest.mark.covers("STATE-9")
@pytest.mark.timeout(300)
@together("run", *blocks("docs/howto/servers.md"))
async def test_a_load_balancer_finds_the_server_of_a_session_and_another_one_when_it_is_killed(
    given: tuple[Block, ...], tmp_path: Path, postgres_url: Callable[[], str]
) -> None:
    make_key, settings, balancer = (one.code for one in given)
    [port], key = free_ports(1), tmp_path / "ui-mcp.key"
    await to_thread.run_sync(subprocess.check_call, ["sh", "-c", make_key.replace("/etc/ui-mcp.key", str(key))])
    config = settings.replace("/etc/ui-mcp.key", str(key)).replace("postgresql://ui@db.example.com/ui", postgres_url())
    config = config.replace("https://", "http://").replace("apps.example.com", f"127.0.0.1:{port}")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    servers = [Server(tmp_path / name, config) for name in ("one", "two")]
    file = tmp_path / "haproxy.cfg"
    text = balancer.replace("bind :443 ssl crt /etc/haproxy/apps.example.com.pem", f"bind 127.0.0.1:{port}")
    text = text.replace("10.0.0.1:8000", f"127.0.0.1:{servers[0].port}")
    file.write_text(text.replace("10.0.0.2:8000", f"127.0.0.1:{servers[1].port}"))
    for server in servers:
        await to_thread.run_sync(server.start)
    try:
        with balancing(file):
            await _people_go_on(f"http://127.0.0.1:{port}/", servers)
    finally:
        for server in servers:
            server.process.kill()


async def _people_go_on(address: str, servers: list[Server]) -> None:
    assert await answers(f"{address}robots.txt")
    cookies, session = await visit(address)
    url, model = f"{address}{session}/", Model(PAGES)
    people = [Writer(page, url, model, cookies) for page in range(PAGES)]

    await _write(people, model, 20)
    holder = await _holder(servers, session, cookies)
    # A browser that has forgotten which session it had is led to it, whichever server is asked.
    assert {(await visit(address, cookies))[1] for _ in range(4)} == {session}
    holder.process.kill()
    holder.process.wait()
    await _write(people, model, 20)

    model.check(await shown(url, cookies))


async def _write(people: list[Writer], model: Model, count: int) -> None:
    async with anyio.create_task_group() as tasks:
        for person in people:
            tasks.start_soon(person.run)
        before = len(model.saved)
        with anyio.fail_after(120):
            while len(model.saved) < before + count:
                await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()


async def _holder(servers: list[Server], session: str, cookies: dict[str, str]) -> Server:
    """Return the server that has a session; the other one says so."""
    async with open_client(cookies=cookies) as client:
        found = [(await client.get(f"{one.url}{session}/", headers={"Accept": "text/html"})) for one in servers]
    assert sorted(one.status_code for one in found) == [200, 503]
    return servers[0] if found[0].status_code == 200 else servers[1]
