"""The publisher: what is posted under a topic reaches the apps that subscribed to it, and no web site reads it."""

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import httpx2
import pytest

from ports import free_ports
from servers import running_server
from ui_mcp.ui.http.publisher_routes import bookmarklet
from ui_mcp.ui.publisher import is_favicon
from ui_mcp.ui.states import Running

pytestmark = [pytest.mark.covers("UI-PUB-1", "UI-PUB-2"), pytest.mark.timeout(120)]

LISTEN = "heard = {} return mcp:subscribe('page', function(data) table.insert(heard, data.title) end)"
PICTURE = "data:image/png;base64,AAAA"


@pytest.fixture
def port() -> int:
    return free_ports(1)[0]


@pytest.fixture
async def running(tmp_path: Path, port: int) -> AsyncIterator[Running]:
    async with running_server(tmp_path / "one", publisher__port=port) as running:
        yield running


@pytest.fixture
async def client(port: int) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        yield client


async def lua(running: Running, code: str) -> str:
    return await running.sessions.get("1").run_lua(code)


async def publish(client: httpx2.AsyncClient, listeners: int = 1, **data: object) -> None:
    """Publish until so many listen: servers take a moment to bind or to follow."""
    with anyio.fail_after(60):
        while True:
            try:
                answer = await client.post("/publish/page", json=data)
            except httpx2.ConnectError:
                continue
            if answer.json() == {"listeners": listeners}:
                return


async def test_what_is_published_reaches_the_function(running: Running, client: httpx2.AsyncClient) -> None:
    assert await lua(running, LISTEN) == "true"

    await publish(client, title="A page")

    assert await lua(running, "return heard") == '["A page"]'
    other = await client.post("/publish/other", json={})
    assert other.json() == {"listeners": 0}


async def test_nothing_listens_before_an_app_subscribes(running: Running, client: httpx2.AsyncClient) -> None:
    with pytest.raises(httpx2.ConnectError):
        await client.get("/")


async def test_switched_off_it_never_listens(tmp_path: Path, port: int, client: httpx2.AsyncClient) -> None:
    async with running_server(tmp_path, publisher__port=port, publisher__enabled=False) as running:
        await lua(running, LISTEN)
        with pytest.raises(httpx2.ConnectError):
            await client.get("/")


async def test_wrong_subscriptions_say_why(running: Running) -> None:
    assert (
        await lua(running, "local ok, why = mcp:subscribe('', print) return why")
        == '"topic must be a non-empty string"'
    )
    assert "function" in await lua(running, "local ok, why = mcp:subscribe('t') return why")


async def test_a_failing_function_neither_stops_the_others_nor_the_app(
    running: Running, client: httpx2.AsyncClient
) -> None:
    await lua(running, "mcp:subscribe('page', function() error('boom') end)")
    await lua(running, LISTEN)

    await publish(client, title="kept")

    assert await lua(running, "return heard") == '["kept"]'


async def test_when_the_holder_ends_another_takes_its_place(
    tmp_path: Path, port: int, client: httpx2.AsyncClient
) -> None:
    async with running_server(tmp_path / "two", publisher__port=port) as second:
        async with running_server(tmp_path / "one", publisher__port=port) as first:
            await lua(first, LISTEN)
            await publish(client, title="first")
            await lua(second, LISTEN)
            await publish(client, listeners=2, title="both")

        await publish(client, title="alone")

        assert "alone" in await lua(second, "return heard")


HOSTILE = [
    {"Host": "evil.example"},
    {"Host": "evil.example:{port}"},
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:1"},
    {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"},
    {"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"},
]


@pytest.mark.covers("UI-SEC-2", "UI-SEC-3")
@pytest.mark.parametrize("headers", HOSTILE)
async def test_no_web_site_publishes_or_reads(
    running: Running, client: httpx2.AsyncClient, port: int, headers: dict[str, str]
) -> None:
    await lua(running, LISTEN)
    await publish(client, title="mine")
    sent = {name: value.format(port=port) for name, value in headers.items()}

    posted = await client.post("/publish/page", json={"title": "evil"}, headers=sent)
    read = await client.get("/subscribe/page", headers=sent)

    assert {posted.status_code, read.status_code} <= {403, 421}
    assert "access-control-allow-origin" not in posted.headers
    assert await lua(running, "return heard") == '["mine"]'


async def test_our_own_pages_publish_and_never_read(running: Running, client: httpx2.AsyncClient, port: int) -> None:
    await lua(running, LISTEN)
    await publish(client, title="first")
    page = {"Origin": f"http://localhost:{port}", "Host": f"localhost:{port}", "Sec-Fetch-Site": "same-origin"}

    posted = await client.post("/publish/page", json={"title": "by the person"}, headers=page)
    read = await client.get("/subscribe/page", headers=page)

    assert (posted.json(), read.status_code) == ({"listeners": 1}, 403)


async def test_malformed_messages_are_refused(running: Running, client: httpx2.AsyncClient) -> None:
    await lua(running, LISTEN)
    await publish(client, title="first")

    statuses = [
        (await client.post("/publish/page", content=b"{")).status_code,
        (await client.post("/publish/page", content=b'"' + b"x" * 1_100_000 + b'"')).status_code,
        (await client.post("/publish/a%20b", json={})).status_code,
        (await client.get("/publish/page")).status_code,
        (await client.get("/relay/%3Cb%3E")).status_code,
    ]

    assert statuses == [400, 413, 400, 405, 404]


async def test_the_pages_name_the_topics_and_run_only_their_own_script(
    running: Running, client: httpx2.AsyncClient
) -> None:
    await lua(running, f"mcp:subscribe('jobs', print, {{favicon = '{PICTURE}'}})")
    await lua(running, LISTEN)
    await publish(client, title="first")
    site = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}

    index, relay = await client.get("/", headers=site), await client.get("/relay/jobs", headers=site)

    assert PICTURE in index.text
    assert "relay%2Fjobs" in index.text
    assert "Send this page to jobs?" in relay.text
    for page in (index, relay):
        policy = page.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy


def test_only_small_pictures_are_favicons() -> None:
    assert is_favicon(PICTURE)
    assert not any(map(is_favicon, ["", "javascript:1", "data:text/html;base64,AA", PICTURE + '">', PICTURE * 9000]))


def test_a_bookmarklet_is_one_address() -> None:
    assert bookmarklet("jobs", 1).startswith("javascript:%28%28%29%3D%3E")
    assert not set(bookmarklet("jobs", 1)) & set("\"'<> ")
