"""The short way of a page's frames: it reads what the parser reads, keeps the order, and is really taken."""

import asyncio
import random
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import pytest
from anyio import Event, create_task_group, fail_after, sleep, wait_all_tasks_blocked
from anyio.lowlevel import checkpoint
from hypothesis import given
from hypothesis import strategies as st
from websockets.asyncio.client import ClientConnection, connect
from websockets.frames import Frame, Opcode
from websockets.protocol import SERVER, Protocol, State

from servers import running_server
from ui_mcp.jsontypes import dumps
from ui_mcp.testing.browser import WATCH, Browser, Socket
from ui_mcp.ui.sessions.pages import Connection
from ui_mcp.ui.states import Running
from ui_mcp.webserver.line import Line, short_text

APP = """
Log = session:prototype("Log", { count = 0 })
function Log:add(text)
    self.count = self.count + 1
    self.all[self.count] = text
end
if not session.reloading then log = session:create(Log, { all = {} }) end
"""
VIEW = '<template><div><b ui-value="count"></b><input ui-value="add(_)?access=action"></div></template>'


@given(
    st.one_of(st.text().map(str.encode), st.binary()),
    st.sampled_from([Opcode.TEXT, Opcode.BINARY, Opcode.CONT]),
    st.booleans(),
)
def test_a_short_frame_reads_as_the_parser_reads_it(payload: bytes, opcode: Opcode, fin: bool) -> None:
    data = Frame(opcode, payload, fin).serialize(mask=True)
    text = short_text(data)
    if opcode is Opcode.TEXT and fin and len(payload) <= 125 and payload.decode("utf-8", "replace").encode() == payload:
        assert text == payload.decode()
    else:
        assert text is None


@given(st.binary(max_size=140))
def test_bytes_that_read_as_a_short_frame_are_exactly_one(data: bytes) -> None:
    text = short_text(data)
    if text is not None:
        parser = Protocol(SERVER, state=State.OPEN)
        parser.receive_data(data)
        assert [
            (frame.opcode, bytes(frame.data)) for frame in parser.events_received() if isinstance(frame, Frame)
        ] == [(Opcode.TEXT, text.encode())]


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[Running]:
    folder = tmp_path / ".claude/ui/apps/log"  # there before the server: a reload would be a turn of its own
    folder.mkdir(parents=True)
    (folder / "app.lua").write_text(APP)
    async with running_server(tmp_path, lua__host="process") as running:
        await running.sessions.get("1").display("log")
        await running.sessions.upload_viewdef("Log.DEFAULT", VIEW)
        yield running


@pytest.fixture
async def line(running: Running) -> AsyncIterator[ClientConnection]:
    url, session = f"ws{running.url.removeprefix('http')}/ws/1", running.sessions.get("1")
    cookie = f"ui-visitor-{running.url.rpartition(':')[2]}={running.sessions.visitors.admit(None, session)}"
    limits = {"compression": None, "max_size": None}
    async with connect(url, origin=running.url, additional_headers={"Cookie": cookie}, **limits) as connection:  # type: ignore[arg-type]
        yield connection


async def watch(line: ClientConnection) -> Browser:
    browser = Browser(Socket(line))
    await browser.send(WATCH, user=False)
    await browser.until(lambda: browser.value("count") == 0)
    return browser


def added(browser: Browser, text: str) -> bytes:
    view = browser.find("count")
    return dumps([view.number, view.binding("add(_)", actions=True).position, text]).encode()


def shows(browser: Browser, count: int) -> bool:
    return browser.value("count") == count


def in_some_form(payload: bytes, chance: random.Random) -> list[bytes]:
    """One message as a client may send it: whole, in parts with a ping between, or cut anywhere on the wire."""
    form = chance.choice(["whole", "whole", "whole", "parts", "cut", "binary"])
    if form == "parts":
        at = chance.randrange(len(payload))
        first = Frame(Opcode.TEXT, payload[:at], fin=False).serialize(mask=True)
        return [
            first,
            Frame(Opcode.PING, b"?").serialize(mask=True),
            Frame(Opcode.CONT, payload[at:]).serialize(mask=True),
        ]
    data = Frame(Opcode.BINARY if form == "binary" else Opcode.TEXT, payload).serialize(mask=True)
    if form == "cut":
        at = chance.randrange(1, len(data))
        return [data[:at], data[at:]]
    return [data]


@pytest.mark.covers("UI-WIRE-9")
@pytest.mark.parametrize("seed", range(4))
async def test_messages_of_every_form_arrive_once_and_in_order(
    running: Running, line: ClientConnection, seed: int
) -> None:
    chance = random.Random(seed)
    browser = await watch(line)
    texts = [f"{number} {'x' * chance.choice([0, 3, 90, 400, 70_000])}" for number in range(150)]
    for text in texts:
        for piece in in_some_form(added(browser, text), chance):
            line.transport.write(piece)
            if chance.random() < 0.7:
                await sleep(0.0005)

    await browser.until(lambda: browser.value("count") == len(texts))
    assert await running.sessions.get("1").run_lua("return table.concat(log.all, '|')") == dumps("|".join(texts))


async def test_what_looks_like_a_frame_inside_another_is_not_one(running: Running, line: ClientConnection) -> None:
    browser = await watch(line)
    hidden = Frame(Opcode.TEXT, added(browser, "not said")).serialize(mask=True)
    outer = Frame(Opcode.BINARY, b" " * 40 + hidden).serialize(mask=False)
    unmasked = bytes((outer[0], outer[1] | 0x80)) + bytes(4) + outer[2:]
    line.transport.write(unmasked[: -len(hidden)])
    await sleep(0.05)
    line.transport.write(hidden)
    await sleep(0.05)
    line.transport.write(Frame(Opcode.TEXT, added(browser, "said")).serialize(mask=True))

    await browser.until(lambda: browser.value("count") == 1)
    assert await running.sessions.get("1").run_lua("return log.all") == '["said"]'


async def test_nothing_overtakes_a_message_that_waits_for_its_turn() -> None:
    turn, taken = Event(), list[str]()

    async def accept(_connection: Connection, frame: str) -> None:
        await turn.wait()
        taken.append(frame)

    connection = Connection(1, accept, lambda _connection, frame: bool(taken.append(frame)) or True)
    async with create_task_group() as tasks:
        tasks.start_soon(connection.receive, "first")
        await wait_all_tasks_blocked()
        assert not connection.receive_now("second")
        turn.set()
    assert connection.receive_now("second")
    assert taken == ["first", "second"]


async def test_a_click_wakes_no_task_on_its_way(
    running: Running, line: ClientConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    browser = await watch(line)
    await wait_all_tasks_blocked()
    queued = Mock()
    monkeypatch.setattr(Line, "send_receive_event_to_app", queued)
    for count in (1, 2, 3):
        line.transport.write(Frame(Opcode.TEXT, added(browser, "short")).serialize(mask=True))
        await browser.until(partial(shows, browser, count))

    queued.assert_not_called()


@pytest.mark.covers("UI-WIRE-13", "UI-ROB-1")
@pytest.mark.parametrize("anyio_backend", [("asyncio", {"use_uvloop": True})], ids=["uvloop"])
async def test_a_frame_for_a_page_that_has_just_gone_is_not_written(
    line: ClientConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    await watch(line)
    put = list[bool]()
    lost = Line.connection_lost

    def told(page: Line, error: Exception | None) -> None:
        lost(page, error)
        asyncio.get_running_loop().call_soon(lambda: put.append(page.put("late")))

    monkeypatch.setattr(Line, "connection_lost", told)
    line.transport.abort()
    with fail_after(60):
        while not put:
            await checkpoint()

    assert put == [False]
