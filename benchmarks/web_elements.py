# ruff: noqa: E501 - pages read better on one line
"""A table of 100,000 rows, a chart of 10,000 points and a log of 1,000 lines a second, by us, NiceGUI and Streamlit.

Every page is the shortest that its documentation suggests. They are shown in turns, by servers that run side by side.
"Shown" is from the navigation to the first row or picture; a cell is from the click on a button to the new text; "sorted" is from the click on the heading of a column to another
first row, up, down and as it was. Streamlit draws its headings on a canvas, so a button sorts its frame by pandas.
Frames are the longest of a scroll, and of five seconds with ten points or a hundred lines every tenth of a second.
Weight is what the browser received, as it was sent; that of an element is what a page with it weighs beyond a plain one,
where the others have an element for the same purpose. A figure that could not be taken is nan, and its bar missed.

python benchmarks/web_elements.py [--rounds 3]
"""

import argparse
import os
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from claims import claim
from playwright.sync_api import Browser, Page, sync_playwright
from playwright.sync_api import Error as BrowserError
from web_element_pages import LUA, NICEGUI, NICEGUI_ELEMENTS, STREAMLIT, STREAMLIT_ELEMENTS, VIEWS
from web_rivals import _free_port, _wait_for, nicegui_python

from ui_mcp.ui.elements import contracts

FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]
STREAMLIT_HOME = Path(os.environ.get("STREAMLIT_VENV", Path(tempfile.gettempdir()) / "streamlit-venv"))
KINDS = ("ours", "nicegui", "streamlit")
SECONDS = 5
CHANGES = 15
QUIET_MS, LOOKS = 2000, 10
"""A page is whole when nothing came for so long: typefaces and parts of elements are loaded late."""

CELLS = {
    "ours": """() => [...document.querySelectorAll("ui-table")].map((t) => (t.shadowRoot ?? t)
        .querySelector('[role=rowgroup] [role=gridcell][col-id="name"], .row [col-id="name"][role=gridcell]')?.textContent)[0] ?? \"\"""",
    "nicegui": """() => document.querySelector('.ag-row[row-index="0"] [col-id="name"]')?.textContent ?? \"\"""",
    "streamlit": """() => [...document.querySelectorAll("canvas td")].map((cell) => cell.textContent)
        .find((text) => /^(row|changed) \\d+$/.test(text)) ?? \"\"""",
}
SORTERS = {
    "ours": """() => document.querySelector("ui-table").shadowRoot.querySelector("[role=columnheader][col-id=amount]")""",
    "nicegui": """() => document.querySelector('.ag-header-cell[col-id="amount"] .ag-header-cell-label')""",
    "streamlit": """() => [...document.querySelectorAll("button")].find((one) => one.textContent.trim() === "sort")""",
}
SHOWN = {
    "chart": """() => { const all = (root) => [...root.querySelectorAll("canvas, svg"),
        ...[...root.querySelectorAll("*")].flatMap((e) => e.shadowRoot ? all(e.shadowRoot) : [])];
        return all(document).some((canvas) => canvas.clientWidth > 200); }""",
    "log": """() => { const text = (root) => [root.textContent ?? "",
        ...[...root.querySelectorAll("*")].map((e) => e.shadowRoot ? text(e.shadowRoot) : "")].join(" ");
        return document.body !== null && /line \\d+ of the log/.test(text(document.body)); }""",
    "plain": "() => document.body?.innerText.includes('hello')",
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
CHANGE = """([find, target]) => new Promise((resolve, reject) => {
  const read = eval(find), before = read(), start = performance.now();
  eval(target)().click();
  setTimeout(() => reject(new Error("nothing changed in 20 seconds")), 20_000);
  const look = () => (read() !== before && read() !== "" ? resolve(performance.now() - start) : requestAnimationFrame(look));
  requestAnimationFrame(look);
})"""
BUTTON = """() => [...document.querySelectorAll("button")].find((one) => one.id === "%s" || one.textContent.trim() === "%s")"""


NONE = float("nan")
BARS = (
    "table: shown, ms", "chart: shown, ms", "log: shown, ms", "table: one cell, ms", "table: plain text, ms",
    "table: longest frame of a scroll, ms", "table: sorted, ms", f"log: longest frame in {SECONDS} s, ms",
)  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with sync_playwright() as playwright, ExitStack() as servers:
        urls = {kind: servers.enter_context(serving(kind)) for kind in KINDS}
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        found: dict[str, dict[str, float]] = {kind: {} for kind in KINDS}
        for name in ("plain", "table", "chart", "log"):
            one_page(browser, urls, name, options.rounds, found)
        for kind, url in urls.items():
            found[kind] |= weights(browser, kind, url)
        browser.close()
    return report(found)


def one_page(
    browser: Browser, urls: dict[str, str], name: str, rounds: int, found: dict[str, dict[str, float]]
) -> None:
    """Measure a page of each; they take turns, so that a busy machine slows all. The first turn of each is not counted."""
    times: dict[str, list[float]] = {kind: [] for kind in urls}
    for turn in range(rounds + 1):
        for kind, url in urls.items():
            try:
                page, took, weight = shown(browser, kind, address(kind, url, name), name)
                if turn == rounds:
                    operate(page, kind, name, found[kind])
                page.close()
            except BrowserError as error:
                print(f"{kind}, {name}: {str(error).splitlines()[0]}", file=sys.stderr)
                continue
            times[kind] += [took] if turn > 0 else []
            found[kind][f"{name}: weight, KB"] = weight
    for kind, taken in times.items():
        found[kind][f"{name}: shown, ms"] = statistics.median(taken) if len(taken) == rounds else NONE


def shown(browser: Browser, kind: str, url: str, name: str) -> tuple[Page, float, float]:
    """Open a page; return it, the milliseconds until its first row or picture, and the KB that came."""
    ready = f"() => ({CELLS[kind]})() !== ''" if name == "table" else SHOWN[name]
    page, weight = browser.new_page(viewport={"width": 1200, "height": 900}), [0.0]
    weigh(page, weight)
    start = time.perf_counter()
    page.goto(url, wait_until="commit", timeout=60_000)
    page.wait_for_function(ready, timeout=60_000)
    return page, (time.perf_counter() - start) * 1000, weight[0] / 1000


def operate(page: Page, kind: str, name: str, figures: dict[str, float]) -> None:
    if name in ("chart", "log"):
        figures[f"{name}: longest frame in {SECONDS} s, ms"] = page.evaluate(FRAMES, SECONDS * 1000)
    if name != "table":
        return
    cell = (CELLS[kind], BUTTON % ("change", "change"))
    if kind == "ours":
        text = ("() => document.querySelector('#text').textContent", BUTTON % ("plain", "plain"))
        page.click("#plain")
        page.wait_for_function(f"({text[0]})() !== ''")
        pairs = [(changed(page, *cell, 1), changed(page, *text, 1)) for _ in range(CHANGES)]
        figures["table: one cell, ms"] = statistics.median(pair[0] for pair in pairs)
        figures["table: plain text, ms"] = statistics.median(pair[1] for pair in pairs)
    else:
        figures["table: one cell, ms"] = changed(page, *cell, CHANGES)
    figures["table: longest frame of a scroll, ms"] = scrolled(page)
    page.mouse.wheel(0, -100_000)
    page.wait_for_timeout(500)
    figures["table: sorted, ms"] = changed(page, CELLS[kind], SORTERS[kind], 3)


def changed(page: Page, find: str, target: str, times: int) -> float:
    """Return how long it takes from a click to another text, in milliseconds."""
    return statistics.median(float(page.evaluate(CHANGE, [find, target])) for _ in range(times))


def weights(browser: Browser, kind: str, url: str) -> dict[str, float]:
    """Return what a page with each element weighs beyond a plain one, in KB."""
    plain = weight_of(browser, address(kind, url, "plain"))
    known = {"ours": contracts(), "nicegui": NICEGUI_ELEMENTS, "streamlit": STREAMLIT_ELEMENTS}[kind]
    return {f"weight of {tag}, KB": weight_of(browser, address(kind, url, tag)) - plain for tag in known}


def weight_of(browser: Browser, url: str) -> float:
    """Return the bytes of a first visit in KB, when nothing more is loaded."""
    page, weight = browser.new_page(viewport={"width": 1200, "height": 900}), [0.0]
    weigh(page, weight)
    try:
        page.goto(url, wait_until="commit", timeout=60_000)
        for _ in range(LOOKS):
            before = weight[0]
            page.wait_for_timeout(QUIET_MS)
            if 0 < before == weight[0]:
                break
        return weight[0] / 1000
    except BrowserError:
        return float("nan")
    finally:
        page.close()


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
    if kind == "ours" and name.startswith("ui-"):
        return f"{url}/app/{type_in(contracts()[name]['example']).lower()}"
    if kind == "nicegui" and name.startswith("ui-"):
        return f"{url}/element/{name}"
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
        for contract in contracts().values():
            write_snippet(folder / ".claude" / "ui" / "apps", contract["example"])
        return [sys.executable, "-m", "ui_mcp", "serve", "--port", str(port), "--mcp-port", "0"]
    script = folder / "main.py"
    script.write_text(NICEGUI if kind == "nicegui" else STREAMLIT)
    if kind == "nicegui":
        return [str(nicegui_python()), str(script), str(port), *flat(NICEGUI_ELEMENTS)]
    options = ["--server.port", str(port), "--server.headless", "true", "--browser.gatherUsageStats", "false"]
    return [str(streamlit_python()), "-m", "streamlit", "run", str(script), *options, "--", *flat(STREAMLIT_ELEMENTS)]


def write_snippet(apps: Path, example: Any) -> None:
    """Write an app that shows an element as its guide does."""
    name = type_in(example)
    app = apps / name.lower()
    (app / "viewdefs").mkdir(parents=True)
    (app / "app.lua").write_text("\n".join(example["lua"]))
    html = "\n".join(example["html"])
    (app / "viewdefs" / f"{name}.DEFAULT.html").write_text(f"<template><div>{html}</div></template>")


def type_in(example: Any) -> str:
    found = re.search(r'session:prototype\("(\w+)"', "\n".join(example["lua"]))
    assert found is not None
    return found[1]


def flat(elements: dict[str, str]) -> list[str]:
    return [word for pair in elements.items() for word in pair]


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
        print(f"{name:38}" + "".join(f"{found[kind].get(name, NONE):10.1f}" for kind in found))
    ours = {name: found["ours"].get(name, NONE) for name in BARS}
    rival = {name: better(found, name) for name in BARS}
    held = [
        claim(f"{name} shown / the better rival", ours[f"{name}: shown, ms"] / rival[f"{name}: shown, ms"], at_most=0.5)
        for name in ("table", "chart", "log")
    ]
    held.append(
        claim("one cell / a plain text", ours["table: one cell, ms"] / ours["table: plain text, ms"], at_most=1.5)
    )
    held.append(claim("longest frame of a scroll, ms", ours["table: longest frame of a scroll, ms"], at_most=50))
    for name in ("table: one cell, ms", "table: sorted, ms", f"log: longest frame in {SECONDS} s, ms"):
        claim(name, ours[name])
        claim(f"{name}, the better rival", rival[name])
    return 0 if all(held) else 1


def better(found: dict[str, dict[str, float]], name: str) -> float:
    figures = [found[kind][name] for kind in ("nicegui", "streamlit") if name in found[kind]]
    return min(figures, default=NONE)


if __name__ == "__main__":
    sys.exit(main())
