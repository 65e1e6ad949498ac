"""One click through a real socket at 1,000 variables, against a bare echo of the same server plus the scan itself.

ws → session → Lua method → change scan → ws. The bar: at most three times echo plus scan, all measured in one run.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
from claims import claim
from starlette.applications import Starlette
from starlette.requests import HTTPConnection
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from ui_mcp.lua_runtime.worker_thread import ThreadWorker
from ui_mcp.testing.browser import Browser, open_socket
from ui_mcp.testing.project import make_workspace, open_sessions, settings
from ui_mcp.ui.http.routes import PageSocket
from ui_mcp.ui.sessions.registry import SessionRegistry
from ui_mcp.ui.sessions.session import Session
from ui_mcp.webserver.server import bind, listening, port_of
from ui_mcp.wire import Op

ROUNDS, BAR = 3000, 3.0
HOSTS = ("thread", "process")
FIELDS = ("name", "mail", "age", "city", "active")
CELLS = "".join(f'<i ui-value="{name}"></i>' for name in FIELDS)
VIEWDEFS = {
    "Bench.DEFAULT": '<template><p><button ui-action="press()">+</button><ul ui-viewlist="rows"></ul></p></template>',
    "BenchRow.DEFAULT": f"<template><p>{CELLS}</p></template>",
}
APP = """
BenchRow = session:prototype("BenchRow", {name = "", mail = "", age = 0, city = "", active = false})
Bench = session:prototype("Bench", {rows = EMPTY, turn = 0})
function Bench:press()
  self.turn = self.turn % #self.rows + 1
  self.rows[self.turn].age = self.rows[self.turn].age + 1
end
bench = Bench:new({rows = {}})
for i = 1, 200 do bench.rows[i] = BenchRow:new({name = "n" .. i, mail = i .. "@x", age = i, city = "c" .. i}) end
mcp.value = bench
"""


async def echo(socket: WebSocket) -> None:
    await socket.accept()
    try:
        while True:
            await socket.send_text(await socket.receive_text())
    except WebSocketDisconnect:
        return


def calm(times: list[float]) -> float:
    """Return the median of the fastest hundred in a row: other programs on the machine disturb the rest."""
    return min(statistics.median(times[at : at + 100]) for at in range(0, len(times), 100))


async def timed(step: Callable[[], Awaitable[object]]) -> float:
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        await step()
        times.append(time.perf_counter() - began)
    return calm(times)


async def scan_alone(folder: Path) -> float:
    """Time the scan inside Lua, without threads, processes or sockets."""
    async with open_sessions(make_workspace(folder), settings(hotload=False)) as sessions:
        session = await prepared(sessions)
        async with session.attach() as connection:
            await connection.receive('{"type":"watch","data":{"varId":1,"expand":true}}')
            worker = session._supervisor.worker()
            assert isinstance(worker, ThreadWorker)
            assert worker._vm is not None
            facts = session._entry_context()
            times = []
            for _ in range(ROUNDS):
                began = time.perf_counter()
                worker._vm.call(Op.REFRESH.value, (), facts)
                times.append(time.perf_counter() - began)
            return calm(times)


async def prepared(sessions: SessionRegistry) -> Session:
    for key, html in VIEWDEFS.items():
        await sessions.upload_viewdef(key, html)
    session = sessions.get("1")
    await session.run_lua(APP)
    return session


def answered(browser: Browser) -> Callable[[], Awaitable[None]]:
    view = browser.app
    frame = f'{{"userEvent":true,"messages":[[{view.number},{view.binding("press()").position}]]}}'

    async def step() -> None:
        await browser._transport.send(frame)
        await browser._transport.take()

    return step


def echoed(browser: Browser) -> Callable[[], Awaitable[None]]:
    async def step() -> None:
        await browser._transport.send('{"userEvent":true,"messages":[[12,0]]}')
        await browser._transport.take()

    return step


async def measure(host: str, folder: Path, scan: float) -> float:
    async with open_sessions(make_workspace(folder), settings(host=host, hotload=False)) as sessions:
        session = await prepared(sessions)

        def find(_name: str, _connection: HTTPConnection) -> Session:
            return session

        listener = bind("127.0.0.1", 0)
        routes = [WebSocketRoute("/ws/echo", echo), WebSocketRoute("/ws/{session}", PageSocket(find))]
        url = f"http://127.0.0.1:{port_of(listener)}"
        async with listening(Starlette(routes=routes), listener):
            async with open_socket(f"{url}/echo/", expand=False) as browser:
                bare = await timed(echoed(browser))
            async with open_socket(f"{url}/1/") as browser:
                event = await timed(answered(browser))
    ratio = event / (bare + scan)
    print(
        f"{host:8} echo {bare * 1e6:6.0f} µs  scan {scan * 1e6:5.0f} µs  event {event * 1e6:6.0f} µs  ratio {ratio:.2f}"
    )
    return ratio


async def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        scan = await scan_alone(Path(folder) / "scan")
        ratios = [await measure(host, Path(folder) / host, scan) for host in HOSTS]
    held = [
        claim(f"event at 1,000 variables, {host} host / (echo + scan)", ratio, at_most=BAR)
        for host, ratio in zip(HOSTS, ratios, strict=True)
    ]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(anyio.run(main, backend_options={"use_uvloop": True}))
