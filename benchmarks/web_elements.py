# ruff: noqa: E501 - pages read better on one line
"""A table of 100,000 rows, a chart of 10,000 points and a log of 1,000 lines a second, by us, NiceGUI and Streamlit.

Every page is the shortest that its documentation suggests. "Shown" is from the navigation to the first row or picture;
a cell is from the click on a button to the new text; frames are the longest of a scroll, and of five seconds with ten
points or a hundred lines every tenth of a second. Weight is what the browser received, as it was sent.

python benchmarks/web_elements.py [--rounds 3]
"""

import argparse
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from claims import claim
from playwright.sync_api import Browser, Page, sync_playwright
from web_rivals import _free_port, _wait_for, nicegui_python

FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
STREAMLIT_HOME = Path(os.environ.get("STREAMLIT_VENV", Path(tempfile.gettempdir()) / "streamlit-venv"))
SECONDS = 5

LUA = {
    "table": """
Table = session:prototype("Table", { rows = EMPTY, changes = 0, plain = "", transient = { "rows" } })
function Table:new() return session:create(Table, { rows = {} }) end
function Table:change()
    self.changes = self.changes + 1
    self.rows[1].name = "changed " .. self.changes
end
function Table:changePlain() self.changes = self.changes + 1 self.plain = "changed " .. self.changes end
if not session.reloading then
    tablePage = Table:new()
    for i = 1, 100000 do tablePage.rows[i] = { id = i, name = "row " .. i, amount = i * 7919 % 100000 } end
end
""",
    "chart": """
Chart = session:prototype("Chart", { points = EMPTY, transient = { "points" } })
function Chart:new() return session:create(Chart, { points = {} }) end
function Chart:add()
    local n = #self.points + 1
    self.points[n] = { x = n, y = math.sin(n / 300) * 100 + n % 17 }
end
if not session.reloading then
    chartPage = Chart:new()
    for _ = 1, 10000 do chartPage:add() end
    session:setInterval(function() chartPage:add() end, 100)
end
""",
    "log": """
Log = session:prototype("Log", { lines = EMPTY, transient = { "lines" } })
function Log:new() return session:create(Log, { lines = {} }) end
function Log:add()
    for _ = 1, 100 do self.lines[#self.lines + 1] = "line " .. (#self.lines + 1) .. " of the log" end
end
if not session.reloading then
    logPage = Log:new()
    session:setInterval(function() logPage:add() end, 100)
end
""",
    "plain": 'Plain = session:prototype("Plain", { text = "hello" })\nif not session.reloading then plainPage = Plain:new() end\n',
}
VIEWS = {
    "table": '<button id="change" ui-action="change()">change</button><button id="plain" ui-action="changePlain()">plain</button>'
    '<p id="text" ui-value="plain"></p><ui-table label="Rows" ui-value="rows" height="600px"></ui-table>',
    "chart": '<ui-chart label="Points" type="line" x="x" series="y" ui-value="points"></ui-chart>',
    "log": '<ui-log label="Log" ui-value="lines" height="400px"></ui-log>',
    "plain": '<p id="text" ui-value="text"></p>',
}
NICEGUI = """
import math, sys
from nicegui import ui

@ui.page("/table")
def table():
    rows = [{"id": i, "name": f"row {i}", "amount": i * 7919 % 100000} for i in range(1, 100001)]
    done = {"changes": 0}
    columns = [{"field": "id"}, {"field": "name"}, {"field": "amount", "sortable": True}]
    options = {"columnDefs": columns, "rowData": rows, ":getRowId": "(p) => String(p.data.id)"}
    grid = ui.aggrid(options).style("height: 600px")
    def change():
        done["changes"] += 1
        grid.run_row_method("1", "setDataValue", "name", f"changed {done['changes']}")
    ui.button("change", on_click=change).props("id=change")

@ui.page("/chart")
def chart():
    points = []
    def add():
        n = len(points) + 1
        points.append([n, math.sin(n / 300) * 100 + n % 17])
    for _ in range(10000):
        add()
    series = {"type": "line", "data": points, "showSymbol": False}
    shown = ui.echart({"xAxis": {"type": "value"}, "yAxis": {"type": "value"}, "series": [series]})
    def tick():
        add()
        shown.update()
    ui.timer(0.1, tick)

@ui.page("/log")
def log():
    shown = ui.log(max_lines=5000).style("height: 400px")
    done = {"lines": 0}
    def tick():
        for _ in range(100):
            done["lines"] += 1
            shown.push(f"line {done['lines']} of the log")
    ui.timer(0.1, tick)

@ui.page("/plain")
def plain():
    ui.label("hello").props("id=text")

ui.run(port=int(sys.argv[1]), host="127.0.0.1", show=False, reload=False)
"""
STREAMLIT = """
import math
import pandas as pd
import streamlit as st

kept, page = st.session_state, st.query_params.get("page")
if page == "table":
    if "frame" not in kept:
        kept.changes = 0
        kept.frame = pd.DataFrame([{"id": i, "name": f"row {i}", "amount": i * 7919 % 100000} for i in range(1, 100001)])
    if st.button("change"):
        kept.changes += 1
        kept.frame.loc[0, "name"] = f"changed {kept.changes}"
    st.dataframe(kept.frame, height=600, hide_index=True)
elif page == "chart":
    if "points" not in kept:
        kept.points = []
    def add():
        n = len(kept.points) + 1
        kept.points.append({"x": n, "y": math.sin(n / 300) * 100 + n % 17})
    while len(kept.points) < 10000:
        add()
    @st.fragment(run_every=0.1)
    def shown():
        add()
        st.line_chart(pd.DataFrame(kept.points), x="x", y="y")
    shown()
elif page == "log":
    if "lines" not in kept:
        kept.lines = []
    @st.fragment(run_every=0.1)
    def shown():
        for _ in range(100):
            kept.lines.append(f"line {len(kept.lines) + 1} of the log")
        st.code("\\n".join(kept.lines[-5000:]), language=None, height=400)
    shown()
else:
    st.write("hello")
"""
CELLS = {
    "ours": """() => [...document.querySelectorAll("ui-table")].map((t) => (t.shadowRoot ?? t)
        .querySelector('[role=rowgroup] [role=gridcell][col-id="name"], .row [col-id="name"][role=gridcell]')?.textContent)[0] ?? \"\"""",
    "nicegui": """() => document.querySelector('.ag-row[row-index="0"] [col-id="name"]')?.textContent ?? \"\"""",
    "streamlit": """() => [...document.querySelectorAll("canvas td")].map((cell) => cell.textContent)
        .find((text) => /^(row 1|changed \\d+)$/.test(text)) ?? \"\"""",
}
SHOWN = {
    "chart": """() => { const all = (root) => [...root.querySelectorAll("canvas, svg"),
        ...[...root.querySelectorAll("*")].flatMap((e) => e.shadowRoot ? all(e.shadowRoot) : [])];
        return all(document).some((canvas) => canvas.clientWidth > 200); }""",
    "log": """() => { const text = (root) => [root.textContent ?? "",
        ...[...root.querySelectorAll("*")].map((e) => e.shadowRoot ? text(e.shadowRoot) : "")].join(" ");
        return /line \\d+ of the log/.test(text(document.body)); }""",
    "plain": "() => document.body.innerText.includes('hello')",
}
FRAMES = """(ms) => new Promise((resolve) => {
  const start = performance.now();
  let last = start, longest = 0;
  const frame = (now) => {
    longest = Math.max(longest, now - last);
    last = now;
    if (now - start < ms) requestAnimationFrame(frame); else resolve(longest);
  };
  requestAnimationFrame((now) => { last = now; requestAnimationFrame(frame); });
})"""
CHANGE = """([find, button]) => new Promise((resolve) => {
  const read = eval(find), before = read(), start = performance.now();
  const target = [...document.querySelectorAll("button")].find((b) => b.id === button || b.textContent.trim() === button);
  target.click();
  const look = () => (read() !== before && read() !== "" ? resolve(performance.now() - start) : requestAnimationFrame(look));
  requestAnimationFrame(look);
})"""


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    found: dict[str, dict[str, float]] = {}
    with sync_playwright() as playwright:
        for kind in ("ours", "nicegui", "streamlit"):
            with serving(kind) as url:
                browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
                found[kind] = measured(browser, kind, url, options.rounds)
                browser.close()
    return report(found)


def measured(browser: Browser, kind: str, url: str, rounds: int) -> dict[str, float]:
    figures: dict[str, float] = {}
    for name in ("plain", "table", "chart", "log"):
        found = f"() => ({CELLS[kind]})() !== ''" if name == "table" else SHOWN[name]
        times = []
        for turn in range(rounds + 1):
            page, weight = browser.new_page(viewport={"width": 1200, "height": 900}), [0.0]
            weigh(page, weight)
            start = time.perf_counter()
            page.goto(address(kind, url, name))
            page.wait_for_function(found, timeout=60_000)
            times.append((time.perf_counter() - start) * 1000)
            if turn < rounds:
                page.close()
        figures[f"{name}: shown, ms"] = statistics.median(times[1:])
        figures[f"{name}: weight, KB"] = weight[0] / 1000
        operate(page, kind, name, figures)
        page.close()
    return figures


def operate(page: Page, kind: str, name: str, figures: dict[str, float]) -> None:
    if name in ("chart", "log"):
        figures[f"{name}: longest frame in {SECONDS} s, ms"] = page.evaluate(FRAMES, SECONDS * 1000)
    if name != "table":
        return
    changed = [page.evaluate(CHANGE, [CELLS[kind], "change"]) for _ in range(7)]
    figures["table: one cell, ms"] = statistics.median(changed)
    if kind == "ours":
        plain = "() => document.querySelector('#text').textContent"
        page.click("#plain")
        page.wait_for_function(f"({plain})() !== ''")
        figures["table: plain text, ms"] = statistics.median(page.evaluate(CHANGE, [plain, "plain"]) for _ in range(7))
    figures["table: longest frame of a scroll, ms"] = scrolled(page)


def scrolled(page: Page) -> float:
    """Return the longest frame while the wheel turns over the table."""
    page.mouse.move(400, 500)
    page.evaluate(f"() => {{ window.longest = ({FRAMES})(1500); }}")
    for _ in range(60):
        page.mouse.wheel(0, 400)
        time.sleep(0.016)
    return float(page.evaluate("() => window.longest"))


def weigh(page: Page, total: list[float]) -> None:
    client = page.context.new_cdp_session(page)
    client.send("Network.enable")
    client.on("Network.loadingFinished", lambda event: total.__setitem__(0, total[0] + event["encodedDataLength"]))
    client.on(
        "Network.webSocketFrameReceived",
        lambda event: total.__setitem__(0, total[0] + len(event["response"]["payloadData"])),
    )


def address(kind: str, url: str, name: str) -> str:
    return {"ours": f"{url}/app/{name}-page", "nicegui": f"{url}/{name}", "streamlit": f"{url}/?page={name}"}[kind]


@contextmanager
def serving(kind: str) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        port = _free_port()
        command = prepared(kind, Path(folder), port)
        quiet = subprocess.DEVNULL
        with subprocess.Popen(command, cwd=folder, stdout=quiet, stderr=quiet, start_new_session=True) as process:
            try:
                _wait_for(port)
                yield f"http://127.0.0.1:{port}"
            finally:
                os.killpg(process.pid, signal.SIGTERM)
                process.wait(30)


def prepared(kind: str, folder: Path, port: int) -> list[str]:
    if kind == "ours":
        for name, code in LUA.items():
            app = folder / ".claude" / "ui" / "apps" / f"{name}-page"
            (app / "viewdefs").mkdir(parents=True)
            (app / "app.lua").write_text(code)
            (app / "viewdefs" / f"{name.title()}.DEFAULT.html").write_text(
                f"<template><div>{VIEWS[name]}</div></template>"
            )
        return [sys.executable, "-m", "ui_mcp", "serve", "--port", str(port), "--mcp-port", "0"]
    script = folder / "main.py"
    script.write_text(NICEGUI if kind == "nicegui" else STREAMLIT)
    if kind == "nicegui":
        return [str(nicegui_python()), str(script), str(port)]
    options = ["--server.port", str(port), "--server.headless", "true", "--browser.gatherUsageStats", "false"]
    return [str(streamlit_python()), "-m", "streamlit", "run", str(script), *options]


def streamlit_python() -> Path:
    """Return an interpreter with Streamlit; the first call installs it."""
    python = STREAMLIT_HOME / "bin" / "python"
    if not python.is_file():
        venv.create(STREAMLIT_HOME, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "streamlit"], check=True)
    return python


def report(found: dict[str, dict[str, float]]) -> int:
    print(f"{'':38}{'ours':>10}{'NiceGUI':>10}{'Streamlit':>11}   load {os.getloadavg()[0]:.1f}")
    for name in found["ours"]:
        print(f"{name:38}" + "".join(f"{found[kind].get(name, float('nan')):10.1f}" for kind in found))
    ours = found["ours"]
    held = []
    for name in ("table", "chart", "log"):
        rival = min(found[kind][f"{name}: shown, ms"] for kind in ("nicegui", "streamlit"))
        held.append(claim(f"{name} shown / the better rival", ours[f"{name}: shown, ms"] / rival, at_most=0.5))
    held.append(
        claim("one cell / a plain text", ours["table: one cell, ms"] / ours["table: plain text, ms"], at_most=1.5)
    )
    held.append(claim("longest frame of a scroll, ms", ours["table: longest frame of a scroll, ms"], at_most=50))
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
