import random
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import pytest
from anyio import fail_after
from anyio.lowlevel import checkpoint
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.frames import Frame, Opcode
from websockets.typing import Origin

from servers import running_server
from ui_mcp.jsontypes import Json, dumps, loads
from ui_mcp.testing.browser import WATCH, Browser, Socket, open_socket
from ui_mcp.ui.sessions.session import Session
from ui_mcp.ui.states import Running
from ui_mcp.wire import FELL_BEHIND, SESSION_ENDED

APP = """
Note = session:prototype("Note", { title = "draft", presses = 0 })
function Note:press() self.presses = self.presses + 1 end
function Note:add(text) self.presses = self.presses + 1; self.added[self.presses] = text end
function Note:fail() error("no way") end
if not session.reloading then note = Note:new({added = {}}) end
"""
VIEW = (
    '<template><div><input ui-value="title"><b ui-value="presses"></b>'
    '<button ui-action="press()">+</button><button ui-action="fail()">x</button>'
    '<input ui-value="add(_)?access=action"></div></template>'
)


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[Running]:
    folder = tmp_path / ".claude/ui/apps/note"
    (folder / "viewdefs").mkdir(parents=True)
    (folder / "app.lua").write_text(APP)
    async with running_server(tmp_path) as running:
        session = running.sessions.get("1")
        await session.display("note")
        await running.sessions.upload_viewdef("Note.DEFAULT", VIEW)
        yield running


@pytest.fixture
def session(running: Running) -> Session:
    return running.sessions.get("1")


def page_url(running: Running) -> str:
    return f"{running.url}/"


def socket_url(running: Running, name: str | None = None) -> str:
    return f"ws{running.url.removeprefix('http')}/ws/{name or running.sessions.get('1').secret}"


def visitor(running: Running) -> dict[str, str]:
    """Return the header of a visitor that has been let in to session 1."""
    known = running.sessions.visitors.admit(None, running.sessions.get("1").secret)
    return {"Cookie": f"ui-visitor-{running.url.rpartition(':')[2]}={known}"}


async def send_and_hear(socket: ClientConnection, frame: str) -> None:
    await socket.send(frame)
    await socket.recv()


async def read_to_the_end(socket: ClientConnection) -> None:
    while True:
        await socket.recv()


@pytest.mark.covers("UI-WIRE-9", "UI-HTTP-4", "UI-WIRE-7")
async def test_a_click_changes_the_page_through_a_real_socket(running: Running) -> None:
    async with open_socket(page_url(running)) as browser:
        assert browser.value("title") == "draft"
        await browser.click("press()")

        await browser.until(lambda: browser.value("presses") == 1)


@pytest.mark.covers("UI-WIRE-9")
async def test_the_address_of_the_socket_can_ask_for_the_page(running: Running) -> None:
    asked = f"{socket_url(running)}?page=p&watch=%2Fapp%2Fnote"
    async with connect(asked, additional_headers=visitor(running), origin=Origin(running.url)) as socket:
        frame = await socket.recv()

    assert "draft" in str(frame)


def both_arrived(browser: Browser) -> bool:
    return (browser.value("presses"), browser.value("title")) == (1, "from the second")


def begins_with(browser: Browser, text: str) -> bool:
    return str(browser.value("title")).startswith(text)


@pytest.mark.covers("UI-WIRE-14", "UI-VAR-3")
async def test_two_tabs_see_each_other_and_an_action_runs_once(running: Running, session: Session) -> None:
    async with open_socket(page_url(running)) as first, open_socket(page_url(running)) as second:
        assert (running.sessions.pages, len(session.pages)) == (2, 2)
        await first.click("press()")
        await second.type("title", "from the second")
        for browser in (first, second):
            await browser.until(partial(both_arrived, browser))


@pytest.mark.covers("UI-WIRE-13", "UI-VAR-3", "UI-VAR-23")
async def test_closing_one_tab_leaves_the_other_alone(running: Running) -> None:
    async with open_socket(page_url(running)) as stays:
        async with open_socket(page_url(running)) as goes:
            await goes.click("press()")
            await stays.until(lambda: stays.value("presses") == 1)
        await stays.click("press()")

        await stays.until(lambda: stays.value("presses") == 2)


@pytest.mark.covers("UI-WIRE-11")
async def test_a_reconnected_page_shows_the_present_state(running: Running) -> None:
    async with open_socket(page_url(running)) as browser:
        await browser.click("press()")
        await browser.type("title", "typed")
        await browser.until(lambda: browser.value("presses") == 1)
    for _ in range(5):
        async with open_socket(page_url(running)) as browser:
            assert (browser.value("title"), browser.value("presses")) == ("typed", 1)


@pytest.mark.covers("UI-WIRE-3", "UI-WIRE-2", "UI-ROB-1")
@pytest.mark.parametrize(
    "frame",
    [
        "",
        "not json",
        "[]",
        "{}",
        "null",
        "7",
        '"x"',
        '{"type":"nonsense","data":{}}',
        '{"messages":[{"type":"update","data":{"varId":99,"value":1}}]}',
        '{"userEvent":true,"messages":[[999,0]]}',
        '{"userEvent":true,"messages":[[1]]}',
        '{"messages":7}',
        "[[[[]]]]",
        "\x00",
    ],
)
async def test_a_malformed_frame_leaves_the_connection_open(running: Running, frame: str) -> None:
    async with open_socket(page_url(running)) as browser:
        await browser.send_text(frame)
        await browser.click("press()")

        await browser.until(lambda: browser.value("presses") == 1)


@pytest.mark.covers("UI-BIND-8", "UI-VAR-17")
async def test_a_failing_action_is_an_error_at_its_element(running: Running) -> None:
    async with open_socket(page_url(running)) as browser:
        await browser.click("fail()")

        await browser.until(lambda: "no way" in (browser.app.error("fail()") or ""))
    assert "no way" in (running.workspace.log / "lua-err.log").read_text()


@pytest.mark.covers("UI-WIRE-1", "UI-SES-3")
@pytest.mark.parametrize("name", ["1", "2", "0" * 32])
async def test_a_session_nobody_may_name_is_404_before_the_upgrade(running: Running, name: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with connect(socket_url(running, name), origin=Origin(running.url)):
            pass
    assert refused.value.response.status_code == 404


@pytest.mark.covers("UI-SES-3", "UI-SES-4")
async def test_the_counted_id_works_with_the_cookie(running: Running, session: Session) -> None:
    port = running.url.rpartition(":")[2]
    headers = {"Cookie": f"ui-visitor-{port}={running.sessions.visitors.admit(None, session.secret)}"}
    async with connect(socket_url(running, "1"), origin=Origin(running.url), additional_headers=headers) as socket:
        await socket.send('{"type":"watch","data":{"varId":1,"expand":true}}')
        with fail_after(60):
            assert "Note.DEFAULT" in str(await socket.recv())


@pytest.mark.covers("UI-SES-6", "UI-WIRE-13")
async def test_ending_the_session_tells_the_page_and_closes_it(running: Running, session: Session) -> None:
    async with connect(socket_url(running), origin=Origin(running.url), additional_headers=visitor(running)) as socket:
        await socket.send('{"type":"watch","data":{"varId":1,"expand":true}}')
        with fail_after(60):
            await socket.recv()  # what the page shows: now it is really there
            await running.sessions.destroy(session)
            notice: Json = loads(await socket.recv())
            with pytest.raises(ConnectionClosed) as closed:
                await socket.recv()
    assert "session_ended" in notice["data"]["properties"]["notice"]
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == SESSION_ENDED


@pytest.mark.covers("UI-WIRE-15")
async def test_a_page_of_an_ended_session_is_closed_with_the_reason_however_long(
    running: Running, session: Session
) -> None:
    await session.end("wegen Überfüllung geschlossen: " + "ü" * 200)

    async with connect(socket_url(running), origin=Origin(running.url), additional_headers=visitor(running)) as socket:
        with pytest.raises(ConnectionClosed) as closed, fail_after(60):
            await socket.recv()

    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == SESSION_ENDED
    assert closed.value.rcvd.reason.startswith("wegen Überfüllung geschlossen: üüü")


@pytest.mark.slow
@pytest.mark.covers("UI-ROB-4", "UI-WIRE-11")
async def test_a_tab_that_stops_reading_delays_nobody_and_is_closed(running: Running, session: Session) -> None:
    async with (
        # Without pings of its own: on a slow machine the sleeper would give up before the server does.
        connect(
            socket_url(running),
            origin=Origin(running.url),
            additional_headers=visitor(running),
            max_queue=1,
            max_size=None,
            ping_interval=None,
        ) as sleeper,
        open_socket(page_url(running)) as reader,
    ):
        await sleeper.send('{"type":"watch","data":{"varId":1,"expand":true}}')
        pages = list(session.pages._connections.values())
        for connection in pages:
            connection.outbox._limit = 4_000_000
        with fail_after(60):
            for number in range(40):
                await session.run_lua(f"note.title = '{number}' .. string.rep('x', 1000000)")
                await reader.until(partial(begins_with, reader, f"{number}x"))
                reader.page.frames.clear()
                if any(connection.closed for connection in pages):
                    break  # before the server's own pings find no answer
            with pytest.raises(ConnectionClosed) as closed:
                await read_to_the_end(sleeper)
        await reader.click("press()")
        await reader.until(lambda: reader.value("presses") == 1)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == FELL_BEHIND


@pytest.mark.covers("UI-SEC-7", "UI-ROB-1")
async def test_an_oversize_frame_closes_that_page_only(running: Running) -> None:
    async with open_socket(page_url(running)) as other:
        async with connect(
            socket_url(running), origin=Origin(running.url), additional_headers=visitor(running)
        ) as socket:
            with pytest.raises(ConnectionClosed) as closed, fail_after(60):
                await send_and_hear(socket, "x" * (17 * 1024 * 1024))
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1009
        await other.click("press()")
        await other.until(lambda: other.value("presses") == 1)


async def test_a_large_value_arrives_whole(running: Running, session: Session) -> None:
    async with open_socket(page_url(running)) as browser:
        await browser.type("title", "ü" * 2_000_000)
        await browser.click("press()")
        await browser.until(lambda: browser.value("presses") == 1)

    assert loads(await session.run_lua("return #note.title")) == 4_000_000
    assert dumps(await session.state_json())


def in_some_form(payload: bytes, chance: random.Random) -> list[bytes]:
    """Return one message as a client may send it: whole, in parts with a ping between, or cut anywhere on the wire."""
    form = chance.choice(["whole", "whole", "whole", "parts", "cut", "binary"])
    if form == "parts":
        at = chance.randrange(len(payload))
        first = Frame(Opcode.TEXT, payload[:at], fin=False).serialize(mask=True)
        ping = Frame(Opcode.PING, b"?").serialize(mask=True)
        return [first, ping, Frame(Opcode.CONT, payload[at:]).serialize(mask=True)]
    data = Frame(Opcode.BINARY if form == "binary" else Opcode.TEXT, payload).serialize(mask=True)
    if form == "cut":
        at = chance.randrange(1, len(data))
        return [data[:at], data[at:]]
    return [data]


@pytest.mark.covers("UI-WIRE-9")
@pytest.mark.parametrize("seed", range(4))
async def test_messages_of_every_form_arrive_once_and_in_order(running: Running, session: Session, seed: int) -> None:
    chance = random.Random(seed)
    texts = [f"{number} {'x' * chance.choice([0, 3, 90, 400, 70_000])}" for number in range(150)]
    async with connect(socket_url(running), origin=running.url, additional_headers=visitor(running)) as socket:  # type: ignore[arg-type]
        browser = Browser(Socket(socket))
        await browser.send(WATCH, user=False)
        await browser.until(lambda: browser.value("presses") == 0)
        view = browser.find("presses")
        position = view.binding("add(_)", actions=True).position
        for text in texts:
            for piece in in_some_form(dumps([view.number, position, text]).encode(), chance):
                socket.transport.write(piece)
                if chance.random() < 0.7:
                    await checkpoint()
        await browser.until(lambda: browser.value("presses") == len(texts))

    assert await session.run_lua("return table.concat(note.added, '|')") == dumps("|".join(texts))


@pytest.mark.covers("UI-WIRE-13", "UI-ROB-1")
@pytest.mark.parametrize("anyio_backend", [("asyncio", {"use_uvloop": True})], ids=["uvloop"])
async def test_frames_for_a_page_that_has_just_gone_fail_nothing(
    running: Running, session: Session, caplog: pytest.LogCaptureFixture
) -> None:
    async with open_socket(page_url(running)) as stays:
        async with connect(socket_url(running), origin=running.url, additional_headers=visitor(running)) as goes:  # type: ignore[arg-type]
            await send_and_hear(goes, '{"type":"watch","data":{"varId":1,"expand":true}}')
            goes.transport.abort()
            with fail_after(60):
                while len(session.pages) == 2:
                    session.pages.notify("info", "to all", "test")
                    await checkpoint()
        await stays.click("press()")
        await stays.until(lambda: stays.value("presses") == 1)

    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == []
