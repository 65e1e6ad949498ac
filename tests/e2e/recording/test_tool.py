"""An agent shows once what to do, over MCP, and plays it again after the app has changed."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agreeing import agree
from integration.lineclient import LineClient
from introspection.demos import needs

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

APP = """\
Notes = session:prototype("Notes", {text = "", last = ""})
function Notes:add() self.last = self.text .. " kept"; self.text = "" end
function Notes:clear() self.last = "" end
if not session.reloading then notes = session:create(Notes) end
"""
VIEW = """\
<template>
  <main>
    <label>Note <input ui-value="text?keypress"></label>
    <button ui-action="add()">Keep</button><button ui-action="clear()">Clear</button>
    <p id="last" ui-value="last"></p>
  </main>
</template>
"""


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[LineClient]:
    needs("chromium")
    config = tmp_path / ".claude/ui/config/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[introspection]\ntimeout_ms = 30_000\n")
    agree(tmp_path / ".claude/ui")
    app = tmp_path / ".claude/ui/apps/notes"
    (app / "viewdefs").mkdir(parents=True)
    (app / "viewdefs/Notes.DEFAULT.html").write_text(VIEW)
    (app / "app.lua").write_text(APP)
    with LineClient(cwd=tmp_path) as client:
        client.call("ui_start")
        client.call("ui_display", name="notes")
        yield client


def uid(agent: LineClient, css: str) -> str:
    return str(agent.call("ui_query", selector={"css": css}, target="browser")["matches"][0]["ref"]["uid"])


def act(agent: LineClient, *actions: dict[str, Any]) -> None:
    done = agent.call("ui_perform", actions=list(actions), target="browser", timeoutMs=60_000)
    assert "error" not in done, done


def tried(agent: LineClient, **arguments: Any) -> dict[str, Any]:
    return dict(agent.request("tools/call", {"name": "ui_test", "arguments": arguments}))


@pytest.mark.covers("IN-147", "IN-149")
def test_a_recording_plays_until_the_app_changes_and_then_shows_the_step_before_and_after(
    agent: LineClient, tmp_path: Path
) -> None:
    agent.call("ui_test", record="start", target="browser")
    act(agent, {"type": "setText", "target": uid(agent, "main input"), "text": "milk"})
    act(agent, {"type": "click", "target": uid(agent, "main button")})
    recorded = agent.call("ui_test", record="stop")
    assert recorded["steps"] == [
        {"type": "setText", "target": {"role": "textbox", "text": "Note"}, "text": "milk"},
        {"type": "click", "target": {"role": "button", "text": "Keep"}},
        {"expect": {"selector": {"css": "#last"}, "text": "milk kept"}},
    ]

    act(agent, {"type": "click", "target": {"text": "Clear"}})
    assert agent.call("ui_test") == {"ok": True, "steps": 3}
    (tmp_path / ".claude/ui/apps/notes/app.lua").write_text(APP.replace(" kept", " lost"))
    act(agent, {"type": "click", "target": {"text": "Clear"}})
    failed = tried(agent)

    assert failed["isError"]
    report = json.loads(failed["content"][0]["text"])
    assert (report["step"], report["does"]) == (2, 'expect #last to show "milk kept"')
    assert [block["type"] for block in failed["content"]] == ["text", "text", "image", "text", "image"]


@pytest.mark.covers("IN-151")
def test_code_for_playwright_is_written_on_request(agent: LineClient) -> None:
    agent.call("ui_test", record="start", target="browser")
    again = tried(agent, record="start", target="browser")
    act(agent, {"type": "click", "target": {"text": "Keep"}})
    written = tried(agent, record="playwright")["content"][0]["text"]

    assert "is being recorded" in again["content"][0]["text"]
    assert 'getByRole("button", { name: "Keep", exact: true })' in written


@pytest.mark.covers("IN-147")
def test_without_steps_and_recording_the_way_out_is_named(agent: LineClient) -> None:
    answer = tried(agent)

    assert "Nothing was recorded" in answer["content"][0]["text"]


@pytest.mark.covers("IN-152")
def test_a_scenario_is_refused_where_agents_may_only_look(tmp_path: Path) -> None:
    config = tmp_path / ".claude/ui/config/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[introspection]\nallow_actions = false\n")
    agree(tmp_path / ".claude/ui")
    with LineClient(cwd=tmp_path) as client:
        client.call("ui_start")
        answer = tried(client, steps=[{"type": "click", "target": {"css": "#x"}}])

    assert "allow_actions" in answer["content"][0]["text"]
