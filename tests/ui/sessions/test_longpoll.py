"""Pages inside MCP hosts: numbered frames, nothing lost, nothing done twice."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest
from anyio import create_task_group, sleep_forever

from ui_mcp.ui.sessions import longpoll
from ui_mcp.ui.sessions.longpoll import LongPoll, LongPolls, Numbered
from ui_mcp.ui.sessions.pages import Connection
from ui_mcp.wire import RESTARTED, SESSION_ENDED


class Line:
    """A connection whose session only writes down what it gets."""

    def __init__(self) -> None:
        self.got: list[str] = []
        self.connection = Connection(1, self._accept)
        self.attached = False

    async def _accept(self, connection: Connection, frame: str) -> None:
        self.got.append(frame)

    @asynccontextmanager
    async def attach(self) -> AsyncIterator[Connection]:
        self.attached = True
        yield self.connection
        self.attached = False


@pytest.fixture
def line() -> Line:
    return Line()


@pytest.mark.covers("MCP-APP-4", "MCP-APP-5", "UI-TOOL-13")
async def test_frames_are_sent_again_until_the_page_has_them(line: Line) -> None:
    poll = LongPoll(line.connection)
    line.connection.outbox.put("a")
    line.connection.outbox.put("b")

    first = await poll.sync(0, [], 0, sleep_forever)
    again = await poll.sync(1, [], 0, sleep_forever)
    done = await poll.sync(2, [], 0, sleep_forever)

    assert (first.seq, first.frames) == (2, ["a", "b"])
    assert again.frames == ["b"]
    assert (done.seq, done.frames) == (2, [])


@pytest.mark.covers("MCP-APP-4")
async def test_what_the_page_sends_twice_is_done_once_and_in_order(line: Line) -> None:
    poll = LongPoll(line.connection)

    await poll.sync(0, [Numbered(1, "one"), Numbered(2, "two")], 0, sleep_forever)
    await poll.sync(0, [Numbered(2, "two"), Numbered(3, "three")], 0, sleep_forever)

    assert line.got == ["one", "two", "three"]


@pytest.mark.covers("MCP-APP-5")
async def test_a_waiting_poll_answers_when_something_happens_or_a_newer_one_comes(line: Line) -> None:
    poll = LongPoll(line.connection)
    answers: list[list[str]] = []

    async def ask() -> None:
        answers.append((await poll.sync(0, [], 60, sleep_forever)).frames)

    with anyio.fail_after(60):
        async with create_task_group() as tasks:
            tasks.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(ask)
            await anyio.wait_all_tasks_blocked()
            assert answers == [[]]
            line.connection.outbox.put("news")

    assert answers == [[], ["news"]]


@pytest.mark.covers("MCP-STDIO-7")
async def test_a_leaving_client_ends_the_wait(line: Line) -> None:
    leaving = anyio.Event()
    leaving.set()
    with anyio.fail_after(60):
        assert (await LongPoll(line.connection).sync(0, [], 60, leaving.wait)).frames == []


@pytest.mark.covers("MCP-APP-5")
async def test_the_page_learns_whether_its_line_or_the_session_is_over() -> None:
    for code, ended in ((RESTARTED, False), (SESSION_ENDED, True)):
        line = Line()
        line.connection.outbox.close(code, "over")
        answer = await LongPoll(line.connection).sync(0, [], 60, sleep_forever)
        assert (answer.closed, answer.ended) == (True, ended)


@pytest.mark.covers("MCP-APP-5")
async def test_a_silent_page_is_let_go(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(longpoll, "SILENT_SECONDS", 1.0)
    with anyio.fail_after(60):
        async with create_task_group() as tasks:
            polls = LongPolls(line.attach, tasks)
            poll = await polls.open()
            assert line.attached
            assert polls.find(poll.name) is poll

    assert polls.find(poll.name) is None
    assert not line.attached
