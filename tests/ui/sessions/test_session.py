import re

import pytest
from anyio import create_task_group, fail_after, sleep
from anyio.lowlevel import checkpoint

from ui_mcp.errors import LuaError, LuaSyntaxError, LuaTimeoutError, NotFoundError, SessionGoneError
from ui_mcp.jsontypes import loads
from ui_mcp.ui.sessions.events import with_events
from ui_mcp.ui.sessions.registry import SessionRegistry
from ui_mcp.ui.sessions.session import Session
from ui_mcp.wire import Op
from ui_mcp.workspace import Workspace


@pytest.mark.covers("UI-SES-1")
async def test_a_session_has_a_short_name_and_a_secret_one(sessions: SessionRegistry, session: Session) -> None:
    assert session.vended == "1"
    assert re.fullmatch(r"[0-9a-f]{32}", session.secret)
    assert sessions.get(session.secret) is session
    with pytest.raises(NotFoundError, match=r"^session 7 not found$"):
        sessions.get("7")


@pytest.mark.covers("UI-SES-1")
async def test_names_are_not_used_twice_while_a_session_is_there(sessions: SessionRegistry, session: Session) -> None:
    second = await sessions.create()
    await sessions.destroy(second)
    third = await sessions.create()
    assert (second.vended, third.vended) == ("2", "3")

    await sessions.destroy(third)
    await sessions.destroy(session)
    assert (await sessions.create()).vended == "1"


@pytest.mark.covers("UI-EXEC-3", "UI-TOOL-15")
@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("return 1 +", LuaSyntaxError),
        ("error('no')", LuaError),
        ("error({})", LuaError),
        ("local x = nil; x.y = 1", LuaError),
    ],
)
async def test_failing_code_is_an_error_and_the_session_lives_on(
    session: Session, code: str, error: type[LuaError]
) -> None:
    with pytest.raises(error):
        await session.run_lua(code)
    assert await session.run_lua("return 1") == "1"


@pytest.mark.covers("UI-EXEC-1")
async def test_work_is_done_one_at_a_time_in_the_order_it_was_asked_for(session: Session) -> None:
    await session.run_lua("order = {}")
    async with create_task_group() as group:
        for number in range(20):
            group.start_soon(session.run_lua, f"order[#order + 1] = {number}")

    assert loads(await session.run_lua("return order")) == list(range(20))


@pytest.mark.covers("UI-EXEC-3")
async def test_who_stops_waiting_for_work_does_not_stop_it(session: Session, workspace: Workspace) -> None:
    workspace.storage.mkdir(exist_ok=True)
    begun = workspace.storage / "begun"
    work = f"io.open('{begun}', 'w'):close() local t = os.clock() while os.clock() - t < 0.2 do end done = true"
    async with create_task_group() as group:
        group.start_soon(session.run_lua, work)
        with fail_after(60):
            while not begun.exists():
                await sleep(0.01)
        group.cancel_scope.cancel()

    assert await session.run_lua("return done") == "true"


@pytest.mark.covers("UI-EXEC-5")
async def test_long_work_in_one_session_does_not_delay_another(sessions: SessionRegistry, session: Session) -> None:
    other = await sessions.create()
    finished: list[str] = []

    async def run(where: Session, code: str, name: str) -> None:
        await where.run_lua(code)
        finished.append(name)

    async with create_task_group() as group:
        group.start_soon(run, session, "local t = os.clock() while os.clock() - t < 0.5 do end", "long")
        await checkpoint()
        await run(other, "return 1", "short")

    assert finished == ["short", "long"]


@pytest.mark.covers("UI-WAIT-1", "UI-MCPG-2")
async def test_a_pushed_event_is_queued_at_once(session: Session) -> None:
    await session.run_lua("mcp.pushState({app = 'a', n = 1}) mcp.pushState({app = 'a', n = 2})")

    assert session.events.peek() == [{"app": "a", "n": 1}, {"app": "a", "n": 2}]


@pytest.mark.covers("UI-MCPG-3", "UI-MCPG-7")
async def test_lua_knows_whether_somebody_waits(session: Session) -> None:
    question = "return {mcp:pollingEvents(), mcp:pendingEventCount(), mcp:waitTime() > 0}"
    assert loads(await session.run_lua(question)) == [False, 0, True]

    async with create_task_group() as group:

        async def wait() -> None:
            async with session.events.taken(10):
                pass

        group.start_soon(wait)
        with fail_after(60):
            while not session.events.polling:
                await checkpoint()
        assert loads(await session.run_lua(question)) == [True, 0, False]
        session.events.push("1")

    session.events.push("2")
    assert loads(await session.run_lua(question)) == [False, 1, True]


@pytest.mark.covers("UI-WAIT-11")
async def test_pushing_into_a_full_queue_does_not_stop_the_app(session: Session) -> None:
    session.events.push(*["1"] * 10_000)

    assert await session.run_lua("mcp.pushState({n = 2}) return 'went on'") == '"went on"'

    events = session.events.peek()
    assert (events[0]["event"], events[0]["count"], events[-1]) == ("events_dropped", 1, {"n": 2})


@pytest.mark.covers("UI-BUDG-1")
async def test_a_runaway_loop_is_stopped(hasty_sessions: SessionRegistry) -> None:
    session = hasty_sessions.get("1")
    with pytest.raises(LuaTimeoutError, match=r"timeout: Lua code ran longer than"):
        await session.run_lua("while true do end")
    assert await session.run_lua("return 1") == "1"


@pytest.mark.covers("UI-SES-6")
async def test_an_ended_session_refuses_work(sessions: SessionRegistry, session: Session) -> None:
    await sessions.destroy(session)
    with pytest.raises(SessionGoneError):
        await session.call(Op.REFRESH)


@pytest.mark.covers("UI-RES-2")
@pytest.mark.parametrize(
    ("state", "events", "shown"),
    [
        ("null", [], "null"),
        ('{"a":1}', [], '{"a":1}'),
        ("null", ['{"e":1}'], '{"_events":[{"e":1}]}'),
        ('{"a":1}', ['{"e":1}', "2"], '{"_events":[{"e":1},2],"a":1}'),
        ("{}", ["1"], '{"_events":[1]}'),
        ("[1]", [], "[1]"),
        ("[1]", ["1"], '{"_events":[1],"value":[1]}'),
        ('"text"', ["1"], '{"_events":[1],"value":"text"}'),
    ],
)
def test_queued_events_are_part_of_every_state(state: str, events: list[str], shown: str) -> None:
    assert with_events(state, events) == shown


@pytest.mark.covers("UI-SES-7")
async def test_idle_sessions_are_swept_but_not_the_first(sessions: SessionRegistry, session: Session) -> None:
    idle, used = await sessions.create(), await sessions.create()
    session.touched = idle.touched = used.touched = -1e9
    async with used.attach():
        used.touched = -1e9
        await sessions.sweep()

        assert [len(sessions), sessions.get("1"), sessions.get(used.vended)] == [2, session, used]
