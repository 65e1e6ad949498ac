from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from anyio import connect_tcp, fail_after
from anyio.lowlevel import checkpoint

from servers import running_server
from ui_mcp.jsontypes import Json, loads
from ui_mcp.testing.browser import open_page
from ui_mcp.ui.sessions.session import Session
from ui_mcp.ui.states import Running


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[Running]:
    async with running_server(tmp_path) as running:
        yield running


@pytest.fixture
def session(running: Running) -> Session:
    return running.sessions.get("1")


async def get(running: Running, path: str, *, accept: str = "*/*", ui: bool = False) -> tuple[int, str, str]:
    port = int(running.url.rpartition(":")[2]) if ui else running.mcp_port
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAccept: {accept}\r\nConnection: close\r\n\r\n"
    data = b""
    async with await connect_tcp("127.0.0.1", port) as stream:
        await stream.send(request.encode())
        with fail_after(60):
            async for chunk in stream:
                data += chunk
    head, _, body = data.decode().partition("\r\n\r\n")
    kind = next((line[14:] for line in head.split("\r\n") if line.lower().startswith("content-type: ")), "")
    return int(head.split()[1]), kind, body


async def get_json(running: Running, path: str, *, accept: str = "*/*", ui: bool = False) -> Json:
    status, kind, body = await get(running, path, accept=accept, ui=ui)
    assert (status, kind) == (200, "application/json")
    return loads(body)


@pytest.mark.covers("UI-HTTP-7", "UI-RES-1", "UI-RES-2")
async def test_state_is_what_the_app_shows_with_queued_events(running: Running, session: Session) -> None:
    assert await get_json(running, "/state") is None
    await session.run_lua("mcp.value = {type = 'Shop', goods = {1, 2}, _secret = 1}")
    assert await get_json(running, "/state") == {"goods": [1, 2], "type": "Shop"}
    await session.run_lua("mcp.pushState({n = 1})")

    assert await get_json(running, "/state") == {"goods": [1, 2], "type": "Shop", "_events": [{"n": 1}]}
    assert len(session.events) == 1


@pytest.mark.covers("UI-HTTP-7", "UI-JSON-2")
async def test_a_state_of_its_own_wins_and_cycles_are_marked(running: Running, session: Session) -> None:
    await session.run_lua("mcp.value = {a = 1} mcp.state = {b = 2} mcp.state.me = mcp.state")

    state = await get_json(running, "/state")

    assert state["b"] == 2
    assert "cycle" in state["me"]["non-json"]


@pytest.mark.covers("UI-HTTP-7", "UI-HTTP-14")
@pytest.mark.parametrize("path", ["/state", "/variables", "/variables.json", "/wait"])
async def test_an_unknown_session_is_404(running: Running, path: str) -> None:
    status, _, body = await get(running, f"{path}?sessionId=7")

    assert (status, body.strip()) == (404, "No active session")


@pytest.mark.covers("UI-HTTP-8", "UI-HTTP-13", "UI-RES-3", "UI-VAR-4")
async def test_variables_are_listed_parents_first_with_unique_ids(running: Running, session: Session) -> None:
    await running.sessions.upload_viewdef("Shop.DEFAULT", '<template><b ui-value="name"></b></template>')
    await session.run_lua("mcp.value = {type = 'Shop', name = 'Corner'}")
    async with open_page(session), open_page(session):
        variables = await get_json(running, "/variables.json")

    ids = [variable["id"] for variable in variables]
    assert len(set(ids)) == len(ids)
    assert variables[0]["id"] == 1
    assert all(variable["parentId"] in [0, *ids[:at]] for at, variable in enumerate(variables))
    names = {"id", "parentId", "type", "path", "value", "properties", "childIds"}
    assert all(names <= variable.keys() for variable in variables)
    assert [variable["value"] for variable in variables if variable["path"] == "name"] == ["Corner", "Corner"]
    children = {child for variable in variables for child in variable["childIds"]}
    assert children == {variable["id"] for variable in variables if variable["parentId"] != 0}


@pytest.mark.covers("UI-HTTP-8")
async def test_variables_are_a_page_for_people_and_data_for_programs(running: Running) -> None:
    status, kind, body = await get(running, "/variables", accept="text/html")

    assert (status, kind) == (200, "text/html; charset=utf-8")
    assert "<html" in body
    assert await get_json(running, "/variables", accept="application/json") == await get_json(
        running, "/variables.json"
    )


@pytest.mark.covers("UI-HTTP-3")
async def test_the_ui_port_shows_variables_to_visitors_and_not_to_who_knows_an_address(running: Running) -> None:
    secret = running.sessions.get("1").secret
    paths = ("/variables.json", "/1/variables.json", f"/{secret}/variables.json")
    async with httpx2.AsyncClient(base_url=running.url) as visitor:
        before = [(await visitor.get(path)).status_code for path in paths]
        await visitor.get("/")
        after = [isinstance((await visitor.get(path)).json(), list) for path in paths]

    assert (before, after) == ([404, 404, 404], [True, True, True])


@pytest.mark.covers("UI-WAIT-9", "UI-MCPG-3")
async def test_a_page_bound_to_pollingevents_follows_the_waiters(running: Running, session: Session) -> None:
    await running.sessions.upload_viewdef("Lamp.DEFAULT", '<template><b ui-value="lit()"></b></template>')
    await session.run_lua("mcp.value = {type = 'Lamp', lit = function() return mcp:pollingEvents() end}")
    async with open_page(session) as browser:
        assert browser.value("lit()") is False
        async with await connect_tcp("127.0.0.1", running.mcp_port) as stream:
            await stream.send(f"GET /wait HTTP/1.1\r\nHost: 127.0.0.1:{running.mcp_port}\r\n\r\n".encode())
            await browser.until(lambda: browser.value("lit()") is True)
        await browser.until(lambda: browser.value("lit()") is False)
        with fail_after(60):
            while session.events.polling:
                await checkpoint()


@pytest.mark.covers("UI-HTTP-13")
async def test_compute_times_are_taken_only_while_somebody_looks(running: Running, session: Session) -> None:
    await running.sessions.upload_viewdef("Shop.DEFAULT", '<template><b ui-value="name"></b></template>')
    await session.run_lua("mcp.value = {type = 'Shop', name = 'Corner'}")

    async def compute_time() -> float | None:
        [found] = [one for one in await get_json(running, "/variables.json") if one["path"] == "name"]
        taken: float | None = found["computeTime"]
        return taken

    async with open_page(session):
        await session.run_lua("mcp.value.name = 'Market'")
        assert await compute_time() is None
        await session.run_lua("mcp.value.name = 'Mall'")

        assert (await compute_time() or 0) > 0


@pytest.mark.covers("UI-WAIT-11")
async def test_a_head_request_takes_no_events(running: Running, session: Session) -> None:
    session.events.push('{"n":1}')
    async with httpx2.AsyncClient(timeout=60) as client:
        answer = await client.head(f"http://127.0.0.1:{running.mcp_port}/wait?timeout=1")

    assert answer.status_code == 405
    assert len(session.events) == 1


@pytest.mark.covers("UI-WAIT-9")
async def test_a_page_that_shows_the_queue_follows_when_events_are_taken(running: Running, session: Session) -> None:
    await running.sessions.upload_viewdef("Bell.DEFAULT", '<template><b ui-value="waiting()"></b></template>')
    await session.run_lua("mcp.value = {type = 'Bell', waiting = function() return mcp.pendingEventCount() end}")
    async with open_page(session) as browser:
        await session.run_lua("mcp.pushState({n = 1}) mcp.pushState({n = 2})")
        await browser.until(lambda: browser.value("waiting()") == 2)

        async with httpx2.AsyncClient(timeout=60) as agent:
            taken = await agent.get(f"http://127.0.0.1:{running.mcp_port}/wait?timeout=1")

        assert taken.json() == [{"n": 1}, {"n": 2}]
        await browser.until(lambda: browser.value("waiting()") == 0)
