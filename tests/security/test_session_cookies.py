"""Session ids in addresses are no credential: pages open for browsers that are known, or bring a one-time code."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin

from integration.lineclient import LineClient
from servers import running_server
from ui_mcp.ui.sessions.session import Session
from ui_mcp.ui.states import Running

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
HTML = {"Accept": "text/html"}


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[Running]:
    """A server that asks for a token."""
    async with running_server(tmp_path, server__require_token=True) as running:
        yield running


@pytest.fixture
def session(running: Running) -> Session:
    return running.sessions.get("1")


def browser(running: Running) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(base_url=running.url, headers=HTML, timeout=60)


async def opens(running: Running, name: str, cookies: httpx2.Cookies) -> bool:
    """Say whether a page with these cookies gets its socket."""
    url = f"ws{running.url.removeprefix('http')}/ws/{name}"
    headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}
    try:
        async with connect(url, origin=Origin(running.url), additional_headers=headers, open_timeout=60):
            return True
    except InvalidStatus:
        return False


@pytest.mark.covers("UI-VISIT-1")
async def test_an_address_alone_opens_no_session(running: Running, session: Session) -> None:
    names = (session.secret, session.vended)
    paths = [f"/{name}/{rest}" for name in names for rest in ("", "variables", "variables.json", "anything")]
    async with browser(running) as visitor:
        visitor.cookies.set(f"ui-session-{running.url.rpartition(':')[2]}", session.secret)
        visitor.cookies.set(f"ui-visitor-{running.url.rpartition(':')[2]}", session.secret)
        secret = {"Authorization": f"Bearer {session.secret}"}
        answers = [
            await visitor.get(f"{path}{query}", headers=headers)
            for path in ("/", "/chat", "/variables", *paths)
            for query in ("", f"?token={session.secret}", f"?code={session.secret}")
            for headers in ({}, secret)
        ]

        assert {answer.status_code for answer in answers} <= {
            303,
            307,
            401,
            403,
            404,
        }  # /chat leads to the person's page
        assert not any("set-cookie" in answer.headers for answer in answers)
        assert not any([await opens(running, name, visitor.cookies) for name in names])


@pytest.mark.covers("UI-VISIT-1", "UI-SEC-4")
async def test_a_code_lets_one_browser_in_once_and_leaves_the_address_at_once(
    running: Running, session: Session
) -> None:
    path = f"/{session.secret}/variables?deep=1&code={running.mint_code(session.secret)}"
    async with browser(running) as first, browser(running) as second:
        came = await first.get(path)
        late = await second.get(path)

        assert (came.status_code, came.headers["location"]) == (303, f"/{session.secret}/variables?deep=1")
        assert came.headers["cache-control"] == "no-store"
        assert session.secret not in came.headers["set-cookie"]
        assert (late.status_code, "set-cookie" in late.headers) == (303, False)
        assert [(await first.get(way)).status_code for way in ("/", came.headers["location"])] == [200, 200]
        assert [(await second.get(way)).status_code for way in ("/", came.headers["location"])] == [403, 404]
        assert await opens(running, session.secret, first.cookies)
        assert await opens(running, "1", first.cookies)
        assert not await opens(running, session.secret, second.cookies)


@pytest.mark.covers("UI-VISIT-1")
async def test_a_code_is_good_for_its_own_session_alone(running: Running, session: Session) -> None:
    other = await running.sessions.create()
    async with browser(running) as visitor:
        await visitor.get(f"/{session.secret}/?code={running.mint_code(other.secret)}")

        assert (await visitor.get(f"/{other.secret}/")).status_code == 200
        assert (await visitor.get(f"/{session.secret}/")).status_code == 403
        assert not await opens(running, session.secret, visitor.cookies)


@pytest.mark.covers("UI-VISIT-1")
async def test_a_code_leads_to_no_other_host(running: Running, session: Session) -> None:
    for path in ("//evil.example/", "/\\evil.example/", "/%2Fevil.example/"):
        async with browser(running) as visitor:
            answer = await visitor.get(f"{running.url}{path}?code={running.mint_code(session.secret)}")
        location = answer.headers["location"]

        assert location.startswith("/")
        assert location[1:2] not in {"/", "\\"}


@pytest.mark.covers("UI-VISIT-1")
async def test_an_apps_own_code_parameter_is_left_alone(tmp_path: Path) -> None:
    async with running_server(tmp_path) as running, browser(running) as visitor:
        assert (await visitor.get("/?code=4/0AX4XfWh")).status_code == 200


@pytest.mark.covers("UI-VISIT-2")
@pytest.mark.parametrize("rest", ["", "anything", "variables", "?conserve=true", "notes?conserve=true"])
async def test_while_all_share_session_1_its_number_is_the_start_page(tmp_path: Path, rest: str) -> None:
    async with running_server(tmp_path) as running, browser(running) as visitor:
        answer = await visitor.get(f"/1/{rest}")

        assert (answer.status_code, "ui-visitor" in answer.headers["set-cookie"]) == (200, True)
        assert await opens(running, "1", visitor.cookies)
        assert (await visitor.get("/1/variables.json")).status_code == 200


@pytest.mark.covers("UI-VISIT-1")
async def test_where_each_has_a_session_another_visitors_stays_closed(tmp_path: Path) -> None:
    async with (
        running_server(tmp_path, session__root="new") as running,
        browser(running) as one,
        browser(running) as other,
    ):
        first = (await one.get("/")).headers["location"]
        second = (await other.get("/")).headers["location"]

        assert first != second
        assert ((await one.get(first)).status_code, (await other.get(first)).status_code) == (200, 403)
        assert ((await one.get("/1/")).status_code, (await one.get("/3/")).status_code) == (404, 404)
        assert not await opens(running, first.strip("/"), other.cookies)


@pytest.mark.covers("UI-VISIT-2")
def test_the_last_port_is_tried_first(tmp_path: Path) -> None:
    home = str(tmp_path / "home")
    (tmp_path / "home").mkdir()
    addresses = []
    for _ in range(2):
        with LineClient(cwd=tmp_path, HOME=home) as agent:
            addresses.append(agent.call("ui_start"))
    with LineClient(cwd=tmp_path / "home", HOME=home) as agent:
        addresses.append(agent.call("ui_start"))

    assert addresses[0] == addresses[1]
    assert addresses[2] != addresses[1]
