"""The same two pages, a counter and a list of 1,000 rows, by us, by NiceGUI and by hand.

"sessions" is the counter again with one session per visitor, which is the only mode of the other two; "unsaved" is the
counter of ours without the journal of its state.
The floor is the minimum that a Python server can do: Starlette, one WebSocket, one text node.
"""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import time
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from compiled import compile_ours

ROWS = 1000
KINDS = ("ours", "floor", "nicegui")
SETTINGS = {"sessions": 'root = "new"', "unsaved": 'journal = "off"'}
NICEGUI_HOME = Path(os.environ.get("NICEGUI_VENV", Path(tempfile.gettempdir()) / "nicegui-venv"))

FLOOR = """
import json, sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route, WebSocketRoute
rows = sys.argv[2] == "rows"
LIST = "".join(f'<p class="row" id="row{{i}}">row {{i}}</p>' for i in range(1, {rows} + 1)) if rows else ""
PAGE = '''<!doctype html><link rel="icon" href="data:,"><button id="up">up</button><span id="count">0</span>%s<script>
const ws = new WebSocket("ws://" + location.host + "/ws");
const target = document.getElementById("%s");
ws.onmessage = (e) => {{ target.textContent = JSON.parse(e.data).text; }};
document.getElementById("up").onclick = () => ws.send('{{"e":"up"}}');
</script>''' % (LIST, "row500" if rows else "count")
async def page(request): return HTMLResponse(PAGE)
async def ws(socket):
    await socket.accept()
    count = 0
    async for _ in socket.iter_text():
        count += 1
        await socket.send_text(json.dumps({{"text": str(count)}}))
uvicorn.run(Starlette(routes=[Route("/", page), WebSocketRoute("/ws", ws)]), port=int(sys.argv[1]), log_level="error")
"""

NICEGUI = """
import sys
from nicegui import ui
rows = sys.argv[2] == "rows"
@ui.page("/")
def page():
    state = {{"count": 0}}
    if rows:
        labels = []
        def up():
            state["count"] += 1
            labels[499].set_text(str(state["count"]))
        ui.button("up", on_click=up).props("id=up")
        for i in range(1, {rows} + 1):
            labels.append(ui.label(f"row {{i}}").classes("row").props(f"id=row{{i}}"))
    else:
        def up():
            state["count"] += 1
            shown.set_text(str(state["count"]))
        ui.button("up", on_click=up).props("id=up")
        shown = ui.label("0").props("id=count")
ui.run(port=int(sys.argv[1]), host="127.0.0.1", show=False, reload=False)
"""

OURS = """
Bench = session:prototype("Bench", {{ count = 0 }})
Line = session:prototype("Bench.Line", {{ text = "", id = "" }})
function Bench:new() return session:create(Bench, {{ lines = {{}} }}) end
function Bench:up()
    self.count = self.count + 1
    if self.lines[500] then self.lines[500].text = tostring(self.count) end
end
if not session.reloading then
    bench = Bench:new()
    for i = 1, {rows} do bench.lines[i] = session:create(Line, {{ text = "row " .. i, id = "row" .. i }}) end
end
"""
OURS_VIEW = """<template><div><h1 id="title">Bench</h1><button id="up" ui-action="up()">up</button>
<span id="count" ui-value="count"></span>
<input id="draft" ui-value="draft"><div ui-viewlist="lines"></div></div></template>"""
OURS_LINE = '<template><p class="row" ui-attr-id="id" ui-value="text"></p></template>'


@dataclass(frozen=True, slots=True)
class Site:
    """A running server, and the selectors of its page."""

    url: str
    target: str
    pid: int
    folder: Path
    started: float


@contextmanager
def serving(kind: str, page: str) -> Iterator[Site]:
    """Run one server on a free port until the block ends."""
    with tempfile.TemporaryDirectory() as name:
        folder, port = Path(name), _free_port()
        command = _command(kind, page, folder, port)
        started = time.perf_counter()
        quiet = subprocess.DEVNULL
        with subprocess.Popen(command, cwd=folder, stdout=quiet, stderr=quiet, start_new_session=True) as process:
            try:
                _wait_for(port)
                target = "#row500" if page == "rows" else "#count"
                yield Site(f"http://127.0.0.1:{port}/", target, process.pid, folder, started)
            finally:
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(20)


def nicegui_python() -> Path:
    """Return an interpreter with NiceGUI; the first call installs it."""
    python = NICEGUI_HOME / "bin" / "python"
    if not python.is_file():
        venv.create(NICEGUI_HOME, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "nicegui"], check=True)
    return python


def memory_of(pid: int) -> dict[str, float]:
    """Return the memory of a process and its children in MB, with shared pages counted once, and counted in each."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        parents[int(stat.parent.name)] = int(fields[1])
    family = {pid}
    while more := {child for child, parent in parents.items() if parent in family} - family:
        family |= more
    return {field: sum(_memory(member, field) for member in family) for field in ("Pss", "Rss")}


def _memory(pid: int, field: str) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith(f"{field}:")) / 1024


def _command(kind: str, page: str, folder: Path, port: int) -> list[str]:
    if kind == "ours":
        _lay_out(folder, ROWS if page == "rows" else 0)
        if page in SETTINGS:
            (folder / ".claude" / "ui" / "config").mkdir(exist_ok=True)
            (folder / ".claude" / "ui" / "config" / "config.toml").write_text(f"[session]\n{SETTINGS[page]}\n")
        return [sys.executable, "-m", "ui_mcp", "serve", "--port", str(port), "--mcp-port", "0"]
    script = folder / "main.py"
    script.write_text(textwrap.dedent((FLOOR if kind == "floor" else NICEGUI).format(rows=ROWS)))
    python = sys.executable if kind == "floor" else str(nicegui_python())
    return [python, str(script), str(port), page]


def _lay_out(folder: Path, rows: int) -> None:
    """Write an installed project whose main.lua shows the app."""
    compile_ours()
    subprocess.run([sys.executable, "-m", "ui_mcp", "install"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    base = folder / ".claude" / "ui"
    app = base / "apps" / "bench"
    (app / "viewdefs").mkdir(parents=True)
    (app / "app.lua").write_text(OURS.format(rows=rows))
    (app / "viewdefs" / "Bench.DEFAULT.html").write_text(OURS_VIEW)
    (app / "viewdefs" / "Bench.Line.DEFAULT.html").write_text(OURS_LINE)
    with (base / "lua" / "main.lua").open("a") as main:
        main.write('\nrequire("bench")\nsession:createAppVariable(bench)\n')


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _wait_for(port: int) -> None:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 0.2).close()
        except OSError:
            time.sleep(0.005)
        else:
            return
    raise TimeoutError(f"nothing listens on {port}")
