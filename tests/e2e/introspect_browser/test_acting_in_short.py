"""Actions as lines of text and the brief outline, over MCP."""

import re
import sys
from pathlib import Path
from subprocess import run

import pytest

from e2e.introspect_browser.test_hands import served
from integration.lineclient import LineClient

pytestmark = [pytest.mark.slow]
PAGE = """<!doctype html><title>Shop</title><div id=wrap><p id=hint>Say your name</p>
<div><label>Time left:</label><span id=clock>10 s</span></div><input id=who placeholder=Name>
<button id=go onclick="out.textContent='Hello, '+who.value">Greet</button><p id=out>nobody</p>
<div id=later hidden>Later</div></div>
<button id=slide onclick="slip(performance.now())">Slide</button>
<div style="height:300px">
<button id=slow style="position:relative" onclick="this.textContent='Hit'">Moving</button></div>
<div role=grid aria-rowcount=1><div role=row aria-rowindex=1><b role=gridcell>Tea</b>
<b role=gridcell aria-label="3 of 5">&nbsp;</b><s class=edge></s><s class=wide></s></div></div>
<style>s { display: inline-block; height: 30px } .edge { width: 6px } .wide { width: 60px }</style>
<script>for (const part of document.querySelectorAll("s")) part.addEventListener("click", () => {});
function slip(begun) {
  const part = Math.min(1, (performance.now() - begun) / 400);
  slow.style.top = (0.5 - Math.cos(Math.PI * part) / 2) * 250 + "px";
  if (part < 1) setTimeout(slip, 13, begun);
}</script>"""


@pytest.fixture
def agent(tmp_path: Path) -> LineClient:
    page = tmp_path / "shop.html"
    page.write_text(PAGE)
    command = [sys.executable, "-m", "ui_mcp", "attach", "--url", page.as_uri()]
    run(command, cwd=tmp_path, capture_output=True, timeout=240, check=True)
    return LineClient(cwd=tmp_path)


def said(client: LineClient, **arguments: object) -> str:
    answer = client.request("tools/call", {"name": "ui_perform", "arguments": arguments})
    assert not answer.get("isError"), answer
    assert "structuredContent" not in answer
    return str(answer["content"][0]["text"])


@pytest.mark.covers("IN-154", "IN-155")
def test_an_agent_acts_in_lines_and_reads_few(agent: LineClient) -> None:
    with agent:
        shown = said(agent, do="setText #who Zoë Ng\nclick #go", observe="brief")
        quiet = said(agent, do='click "Greet"')
        refused = agent.request("tools/call", {"name": "ui_perform", "arguments": {"do": "click #later"}})
        neither = agent.request("tools/call", {"name": "ui_perform", "arguments": {}})

    assert [re.sub(r"\ba\d+ ?", "", line) for line in shown.splitlines()[1:]] == [
        '"Say your name"',
        '"Time left:" "10 s"',
        'input prompt="Name" value="Zoë Ng"',
        'button "Greet" focused',
        '"Hello, Zoë Ng"',
        'button "Slide"',
        'button "Moving"',
        "grid rows=1 visible=0-0",
        '  r0 "Tea" "3 of 5" [s ]',
    ]
    assert quiet == "ok"
    assert refused["isError"]
    assert "NOT_VISIBLE" in refused["content"][0]["text"]
    assert neither["isError"]
    assert "`do` or `actions`" in neither["content"][0]["text"]


@pytest.mark.covers("IN-61")
def test_what_a_script_begins_to_move_slowly_is_clicked_once_it_rests(agent: LineClient) -> None:
    with agent:
        shown = said(agent, do="click #slide\nclick #slow", observe="diff")

    assert '"Hit"' in shown


@pytest.mark.covers("IN-155")
def test_one_call_opens_a_page_acts_on_it_and_shows_it(agent: LineClient, tmp_path: Path) -> None:
    with agent, served(tmp_path) as port:
        url = f"http://127.0.0.1:{port}/shop.html"
        shown = said(agent, do=f'navigate {url}\nsetText #who Ida\nclick "Greet"', observe="brief")
        opened = said(agent, do=f"navigate {url}", observe="diff")
        refused = agent.request("tools/call", {"name": "ui_perform", "arguments": {"do": "navigate file:///etc"}})

    assert '"Hello, Ida"' in shown
    assert '"nobody"' in opened
    assert refused["isError"]
    assert "ATTACH_NOT_ALLOWED" in refused["content"][0]["text"]


@pytest.mark.covers("IN-3")
def test_fields_that_a_tool_does_not_know_are_ignored(agent: LineClient) -> None:
    with agent:
        listed = agent.request("tools/call", {"name": "ui_targets", "arguments": {"x": 1}})
        asked = {"name": "ui_query", "arguments": {"selector": {"css": "#go"}, "x": 1}}
        found = agent.request("tools/call", asked)

    assert not listed.get("isError")
    assert not found.get("isError")
