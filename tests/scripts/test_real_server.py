"""The scripts against the server they were written for."""

import signal
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from subprocess import DEVNULL

import anyio
import anyio.lowlevel
import pytest

from ui_mcp.app.ui_server import open_host
from ui_mcp.jsontypes import loads
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.ui.instance import ListenPorts
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.states import Running

APP = """
Bell = session:prototype("Bell", { rings = 0 })
function Bell:ring() self.rings = self.rings + 1; mcp.pushState({ app = "bell", rings = self.rings }) end
if not session.reloading then bell = Bell:new() end
"""

ENDING = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@pytest.fixture
async def host(tmp_path: Path) -> AsyncIterator[UiServer]:
    """A started server that asks for its token, with an app displayed."""
    base = tmp_path / "my project" / ".claude" / "ui"
    (base / "config").mkdir(parents=True)
    (base / "config" / "config.toml").write_text("[server]\nrequire_token = true\n")
    (base / "apps" / "bell").mkdir(parents=True)
    (base / "apps" / "bell" / "app.lua").write_text(APP)
    async with open_host({"lua.host": "thread"}, ListenPorts(), Announcements()) as host:
        await host.begin(str(base))
        running = await host.start()
        await running.sessions.get("1").display("bell")
        yield host


@pytest.fixture
def running(host: UiServer) -> Running:
    return host.running()


async def script(running: Running, *command: str) -> str:
    with anyio.fail_after(60):
        done = await anyio.run_process([str(running.workspace.base / command[0]), *command[1:]], check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


@pytest.mark.covers("UI-SCR-1", "UI-SEC-5")
async def test_state_and_variables_are_what_the_agent_reads(running: Running) -> None:
    await running.sessions.get("1").run_lua("bell:ring()")

    assert loads(await script(running, "state"))["rings"] == 1
    assert loads(await script(running, "variables"))[0]["type"] == "MCP"


@pytest.mark.covers("MCP-WAIT-1", "UI-SCR-1", "UI-SCR-2")
async def test_event_ends_when_something_happens(running: Running) -> None:
    heard: list[str] = []

    async def listen() -> None:
        heard.append(await script(running, "event"))

    session = running.sessions.get("1")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen)
        with anyio.fail_after(60):
            while not session.events.polling:
                await anyio.sleep(0.01)
        await session.run_lua("bell:ring()")

    assert loads(heard[0]) == [{"app": "bell", "rings": 1}]


@pytest.mark.covers("UI-WAIT-13")
async def test_wait_for_state_ends_well_when_the_server_stops(host: UiServer, running: Running) -> None:
    session = running.sessions.get("1")
    url = f"http://127.0.0.1:{running.mcp_port}"
    command = [str(running.workspace.base / "scripts" / "wait-for-state.sh"), url, "1"]

    async with await anyio.open_process(command, stderr=None) as process:
        assert process.stdout is not None
        with anyio.fail_after(60):
            await session.run_lua("bell:ring()")
            line = await process.stdout.receive()
            await host.stop()
            code = await process.wait()

    assert loads(line) == {"app": "bell", "rings": 1}
    assert code == 0


@pytest.mark.covers("UI-SCR-2")
async def test_mcp_asks_for_everything_by_one_command(running: Running) -> None:
    assert loads(await script(running, "mcp", "status"))["result"]["state"] == "running"
    assert loads(await script(running, "mcp", "run", "return 'a\"b' .. 1"))["result"] == 'a"b1'
    assert loads(await script(running, "mcp", "display", "bell"))["result"][0] == "Displayed app: bell"
    assert loads(await script(running, "mcp", "audit", "bell"))["result"]["app"] == "bell"
    assert "light" in await script(running, "mcp", "theme", "list")
    await running.sessions.get("1").run_lua("bell:ring()")
    assert loads(await script(running, "mcp", "state"))["rings"] == 1
    assert loads(await script(running, "mcp", "variables"))[0]["type"] == "MCP"


@pytest.mark.covers("UI-SCR-2", "UI-CHECK-1")
async def test_mcp_keeps_and_restores_versions_of_an_app(running: Running) -> None:
    file = running.workspace.apps / "bell" / "app.lua"

    assert (
        await script(running, "mcp", "checkpoint", "save", "bell", 'the "first"') == 'Saved checkpoint: the "first"\n'
    )
    file.write_text("-- changed\n")
    assert "+-- changed\n" in await script(running, "mcp", "checkpoint", "diff", "bell")
    await script(running, "mcp", "checkpoint", "rollback", "bell", "1")
    assert file.read_text() == APP
    assert await script(running, "mcp", "checkpoint", "count", "bell") == "1\n"
    assert await script(running, "mcp", "checkpoint", "baseline", "bell") == "Baseline set for bell\n"


@pytest.mark.covers("UI-SCR-2")
async def test_mcp_reports_errors_and_fails(running: Running) -> None:
    done = await anyio.run_process([str(running.workspace.base / "mcp"), "run", "error('boom')"], check=False)
    wrong = await anyio.run_process([str(running.workspace.base / "mcp"), "fly"], check=False)

    assert (done.returncode, done.stdout, b"boom" in done.stderr) == (1, b"", True)
    assert (wrong.returncode, b"mcp --help" in wrong.stderr) == (2, True)


async def until(condition: Callable[[], bool]) -> None:
    while not condition():
        await anyio.lowlevel.checkpoint()


@pytest.fixture
def signals_as_in_a_terminal() -> Iterator[None]:
    """Let no child inherit ignored signals, as those of `nohup` and of background jobs: a shell cannot trap them."""
    ignored = [number for number in ENDING if signal.getsignal(number) is signal.SIG_IGN]
    for number in ignored:
        signal.signal(number, lambda *_: None)  # a handler does not outlive exec, SIG_IGN does
    yield
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)


@pytest.mark.covers("UI-SCR-2", "UI-WAIT-13")
@pytest.mark.usefixtures("signals_as_in_a_terminal")
@pytest.mark.parametrize("command", [("event",), ("scripts/wait-for-state.sh", "{url}", "60")])
@pytest.mark.parametrize("end", ENDING)
async def test_a_listener_that_is_ended_takes_no_events_with_it(
    running: Running, command: tuple[str, ...], end: signal.Signals
) -> None:
    session, base = running.sessions.get("1"), running.workspace.base
    arguments = [part.format(url=f"http://127.0.0.1:{running.mcp_port}") for part in command[1:]]
    with anyio.fail_after(60):
        async with await anyio.open_process([str(base / command[0]), *arguments], start_new_session=True) as listener:
            await until(lambda: session.events.polling)
            listener.send_signal(end)
            assert await listener.wait() == 130
        await until(lambda: not session.events.polling)
        await session.run_lua("bell:ring()")

        assert loads(await script(running, "event")) == [{"app": "bell", "rings": 1}]


@pytest.mark.covers("UI-SCR-2")
async def test_a_new_listener_ends_the_request_of_one_that_was_killed(running: Running) -> None:
    session, base = running.sessions.get("1"), running.workspace.base
    with anyio.fail_after(60):
        killed = await anyio.open_process([str(base / "event")], stdout=DEVNULL, stderr=DEVNULL)
        await until(lambda: session.events.polling)
        killed.kill()
        await killed.wait()
        orphan = session.events._waiters[0]
        heard: list[str] = []

        async def listen() -> None:
            heard.append(await script(running, "event"))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen)
            await until(lambda: session.events.polling and session.events._waiters[0] is not orphan)
            await session.run_lua("bell:ring()")

    assert loads(heard[0]) == [{"app": "bell", "rings": 1}]
