"""From `mcp.pushState` in Lua to the answer of `GET /wait` in a client; the limit is a median of 10 ms."""

import statistics
import sys
import tempfile
import time
from pathlib import Path

import anyio
from claims import claim
from starlette.applications import Starlette
from starlette.routing import Route

from ui_mcp.testing.project import make_workspace, open_sessions, settings
from ui_mcp.ui.http.routes import Wait
from ui_mcp.webserver.server import bind, listening, port_of

ROUNDS, BAR_MS = 200, 10.0


async def measure(host: str, folder: Path) -> float:
    async with open_sessions(make_workspace(folder), settings(host=host, hotload=False)) as sessions:
        session = sessions.get("1")
        listener = bind("127.0.0.1", 0)
        app = Starlette(routes=[Route("/wait", Wait(lambda _: session.events), methods=["GET"])])
        times = []
        async with listening(app, listener), await anyio.connect_tcp("127.0.0.1", port_of(listener)) as stream:
            for _ in range(ROUNDS):
                await stream.send(b"GET /wait?timeout=30 HTTP/1.1\r\nHost: x\r\n\r\n")
                while not session.events.polling:
                    await anyio.lowlevel.checkpoint()
                began = time.perf_counter()
                await session.run_lua("mcp.pushState({app = 'bench', event = 'tick'})")
                answer = b""
                while not answer.endswith(b"0\r\n\r\n"):
                    answer += await stream.receive()
                times.append(time.perf_counter() - began)
                assert b"tick" in answer
    median = statistics.median(times) * 1e3
    print(f"{host:8} median {median:5.2f} ms  worst {max(times) * 1e3:5.2f} ms")
    return median


async def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        medians = [await measure(host, Path(folder) / host) for host in ("thread", "process")]
    return 0 if claim("pushState → /wait answered, ms", max(medians), at_most=BAR_MS) else 1


if __name__ == "__main__":
    sys.exit(anyio.run(main, backend_options={"use_uvloop": True}))
