"""The keyed operations of js-framework-benchmark on our page and on one in plain JavaScript, in turns in one browser.

Our rows live on the server: each operation is a message there, one frame back and the change of the page. The other
page does everything itself. A time is from the click to the first frame drawn after the rows are as they should be.

python benchmarks/web_keyed.py [--rounds 10] [--json FILE]
"""

import argparse
import json
import math
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from claims import claim
from playwright.sync_api import Browser, Page, sync_playwright

FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]

WORDS = """
const A = ["pretty", "large", "big", "small", "tall", "short", "long", "handsome", "plain", "quaint", "elegant"];
const C = ["red", "yellow", "blue", "green", "pink", "brown", "purple", "white", "black", "orange"];
const N = ["table", "chair", "house", "desk", "car", "pony", "cookie", "sandwich", "burger", "pizza", "mouse"];
"""
PLAIN = (
    """<!doctype html><meta charset="utf-8"><div id="do">
<button id="run">run</button><button id="add">add</button><button id="update">update</button>
<button id="clear">clear</button><button id="swap">swap</button></div><table><tbody id="rows"></tbody></table><script>
"""
    + WORDS
    + """
let next = 1, rows = [], selected = null;
const pick = (list) => list[Math.floor(Math.random() * list.length)];
const body = document.getElementById("rows");
const pattern = document.createElement("tr");
pattern.innerHTML = '<td class="id"></td><td><a class="label"></a></td><td><button class="remove">x</button></td>';
const add = (count) => {
  for (let at = 0; at < count; at++) {
    const row = pattern.cloneNode(true);
    row.firstChild.textContent = next++;
    row.children[1].firstChild.textContent = `${pick(A)} ${pick(C)} ${pick(N)}`;
    rows.push(row);
    body.append(row);
  }
};
const clear = () => { rows = []; selected = null; body.textContent = ""; };
const on = (id, run) => document.getElementById(id).addEventListener("click", run);
on("run", () => { clear(); add(1000); });
on("add", () => add(1000));
on("clear", clear);
on("update", () => {
  for (let at = 0; at < rows.length; at += 10) rows[at].children[1].firstChild.textContent += " !!!";
});
on("swap", () => {
  [rows[1], rows[998]] = [rows[998], rows[1]];
  body.insertBefore(rows[1], body.children[1]);
  body.insertBefore(rows[998], body.children[998].nextSibling);
});
body.addEventListener("click", ({ target }) => {
  const row = target.closest("tr");
  if (target.matches(".remove")) { rows.splice(rows.indexOf(row), 1); row.remove(); }
  if (target.matches(".label")) { selected?.classList.remove("danger"); row.classList.add("danger"); selected = row; }
});
</script>"""
)

LUA = """
Keyed = session:prototype("Keyed", { rows = EMPTY, selected = 0, next = 1 })
local A = { "pretty", "large", "big", "small", "tall", "short", "long", "handsome", "plain", "quaint", "elegant" }
local C = { "red", "yellow", "blue", "green", "pink", "brown", "purple", "white", "black", "orange" }
local N = { "table", "chair", "house", "desk", "car", "pony", "cookie", "sandwich", "burger", "pizza", "mouse" }
local function pick(list) return list[math.random(#list)] end
function Keyed:new() return session:create(Keyed, { rows = {} }) end
function Keyed:add()
    for _ = 1, 1000 do
        self.rows[#self.rows + 1] = { id = self.next, label = pick(A) .. " " .. pick(C) .. " " .. pick(N) }
        self.next = self.next + 1
    end
end
function Keyed:clear() self.rows, self.selected = {}, 0 end
function Keyed:run() self:clear() self:add() end
function Keyed:update() for at = 1, #self.rows, 10 do self.rows[at].label = self.rows[at].label .. " !!!" end end
function Keyed:swap() self.rows[2], self.rows[999] = self.rows[999], self.rows[2] end
function Keyed:remove(id)
    for at, row in ipairs(self.rows) do if row.id == id then return table.remove(self.rows, at) end end
end
function Keyed:choose(row)
    if self.chosen then self.chosen.chosen = nil end
    row.chosen, self.chosen = true, row
end
function Keyed:chooseId(id)
    for _, row in ipairs(self.rows) do if row.id == id then return self:choose(row) end end
end
if not session.reloading then keyed = Keyed:new() end
"""
VIEW = """<template><div class="ui-unstyled"><div id="do">
<button id="run" ui-action="run()">run</button><button id="add" ui-action="add()">add</button>
<button id="update" ui-action="update()">update</button><button id="clear" ui-action="clear()">clear</button>
<button id="swap" ui-action="swap()">swap</button></div>
<table><tbody id="rows" ui-for="rows"><tr ui-class-danger="chosen"><td class="id" ui-value="id"></td>
<td><a class="label" ui-event-click="..chooseId(id)" ui-value="label"></a></td>
<td><button class="remove" ui-action="..remove(id)">x</button></td></tr></tbody></table></div></template>"""

OPERATIONS: dict[str, tuple[list[str], str, str]] = {
    # what is done before, what is clicked, and the condition that ends it
    "create 1,000": (["#clear"], "#run", "rows.length === 1000"),
    "replace 1,000": (["#clear", "#run"], "#run", "rows.length === 1000 && id(rows[0]) !== was.first"),
    "append 1,000": (["#clear", "#run"], "#add", "rows.length === 2000"),
    "update every 10th": (["#clear", "#run"], "#update", "label(rows[990]).endsWith('!!!')"),
    "select": (["#clear", "#run"], "tr:nth-child(5) .label", "rows[4].classList.contains('danger')"),
    "swap": (["#clear", "#run"], "#swap", "id(rows[1]) === was.last && id(rows[998]) === was.second"),
    "remove": (["#clear", "#run"], "tr:nth-child(4) .remove", "rows.length === 999"),
    "clear": (["#clear", "#run"], "#clear", "rows.length === 0"),
}
MEASURE = """async ([target, condition]) => {
  const body = document.querySelector("#rows");
  const id = (row) => row.querySelector(".id").textContent, label = (row) => row.querySelector(".label").textContent;
  const old = body.rows, was = old.length > 998 ? { first: id(old[0]), second: id(old[1]), last: id(old[998]) } : {};
  const holds = new Function("rows", "id", "label", "was", `return ${condition}`);
  const done = new Promise((resolve) => {
    const look = () => holds(body.rows, id, label, was) && (observer.disconnect(), resolve());
    const observer = new MutationObserver(look);
    observer.observe(body, { childList: true, subtree: true, characterData: true, attributes: true });
  });
  const start = performance.now();
  document.querySelector(target).click();
  await done;
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  return performance.now() - start;
}"""
REST = "() => new Promise((resolve) => setTimeout(resolve, 60))"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with sync_playwright() as playwright, serving() as url:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        ours, plain = opened(browser, url), opened(browser, None)
        found = {name: measured(ours, plain, name, options.rounds) for name in OPERATIONS}
        memory = heap(ours), heap(plain)
        browser.close()
    if options.json:
        options.json.write_text(json.dumps({"ms": found, "heap_mb": memory}, indent=2))
    return report(found, memory)


def opened(browser: Browser, url: str | None) -> Page:
    page = browser.new_page()
    if url is None:
        page.set_content(PLAIN)
    else:
        page.goto(f"{url}/app/keyed")
    page.wait_for_selector("#run")
    return page


def measured(ours: Page, plain: Page, name: str, rounds: int) -> tuple[float, float]:
    """Return the median milliseconds of both pages; they take turns, so that a busy machine slows both."""
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(rounds + 2):
        for page, taken in zip((ours, plain), times, strict=True):
            page.bring_to_front()
            took = once(page, name)
            if turn >= 2:
                taken.append(took)
    return statistics.median(times[0]), statistics.median(times[1])


def once(page: Page, name: str) -> float:
    before, target, condition = OPERATIONS[name]
    for button in before:
        page.click(button)
        page.wait_for_function(
            "(empty) => (document.querySelector('#rows').rows.length === 0) === empty", arg=button == "#clear"
        )
        page.evaluate(REST)
    return float(page.evaluate(MEASURE, [target, condition]))


def heap(page: Page) -> float:
    """Return the megabytes of JavaScript with 1,000 rows."""
    page.bring_to_front()
    page.click("#run")
    page.wait_for_function("document.querySelector('#rows').rows.length === 1000")
    client = page.context.new_cdp_session(page)
    client.send("HeapProfiler.collectGarbage")
    return float(client.send("Runtime.getHeapUsage")["usedSize"]) / 1e6


@contextmanager
def serving() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as name:
        app = Path(name) / ".claude" / "ui" / "apps" / "keyed"
        (app / "viewdefs").mkdir(parents=True)
        (app / "app.lua").write_text(LUA)
        (app / "viewdefs" / "Keyed.DEFAULT.html").write_text(VIEW)
        command = [sys.executable, "-m", "ui_mcp", "serve", "--port", "0", "--mcp-port", "0"]
        process = subprocess.Popen(command, cwd=name, stdout=subprocess.PIPE, text=True)
        try:
            assert process.stdout is not None
            yield [process.stdout.readline() for _ in range(3)][1].split()[1]
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)


def report(found: dict[str, tuple[float, float]], memory: tuple[float, float]) -> int:
    print(f"{'ms, median':22}{'ours':>10}{'plain':>10}{'ratio':>8}   load {os.getloadavg()[0]:.1f}")
    for name, (ours, plain) in found.items():
        print(f"{name:22}{ours:10.1f}{plain:10.1f}{ours / plain:8.2f}")
    print(f"{'heap, MB, 1,000 rows':22}{memory[0]:10.2f}{memory[1]:10.2f}{memory[0] / memory[1]:8.2f}")
    mean = math.exp(statistics.mean(math.log(ours / plain) for ours, plain in found.values()))
    return 0 if claim("keyed operations / plain JavaScript, geometric mean", mean, at_most=2.0) else 1


if __name__ == "__main__":
    sys.exit(main())
