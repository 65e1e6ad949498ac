"""An agent builds an app, looks at it, finds a bug by acting, fixes it, and looks again; all through MCP."""

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from agreeing import agree
from docs.blocks import Block, blocks, together
from integration.lineclient import LineClient
from introspection.demos import needs

pytestmark = pytest.mark.slow
SCHEMA = Path(__file__).parents[3] / "contracts" / "ui-error.schema.json"

APP = """\
Tally = session:prototype("Tally", {count = 0, name = ""})

function Tally:add()
    self.count = self.count + 2
end

function Tally:greeting()
    return self.name == "" and "" or "Hello, " .. self.name
end

if not session.reloading then
    tally = session:create(Tally)
end
"""
VIEW = """\
<template>
  <div>
    <h1>Tally</h1>
    <p id="count" ui-value="count"></p>
    <button id="add" ui-action="add()">Add one</button>
    <input id="who" placeholder="Your name" ui-value="name?keypress">
    <p id="hello" ui-value="greeting()"></p>
    <dl id="details" hidden><dt>Made</dt><dd>today</dd><dt>Kept</dt><dd>here</dd></dl>
    <script>console.error("greeting is not a function")</script>
  </div>
</template>
"""


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[LineClient]:
    needs("chromium")
    configure(tmp_path, "")
    with LineClient(cwd=tmp_path) as client:
        yield client


def configure(tmp_path: Path, introspection: str) -> None:
    """Write the settings of looking; on a busy machine a look may take long."""
    config = tmp_path / ".claude/ui/config/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f"[introspection]\ntimeout_ms = 30_000\n{introspection}")
    agree(tmp_path / ".claude/ui")


def build(tmp_path: Path) -> Path:
    app = tmp_path / ".claude/ui/apps/tally"
    (app / "viewdefs").mkdir(parents=True)
    (app / "viewdefs/Tally.DEFAULT.html").write_text(VIEW)
    (app / "app.lua").write_text(APP)
    return app / "app.lua"


def tells(shown: str, said: str) -> bool:
    """Say whether a text tells what was said; … stands for what it leaves out, uids and digests are its own."""
    parts = [re.escape(part) for part in re.split("…", shown)]
    pattern = ".*?".join(re.sub(r"\b(a\d+|[0-9a-f]{10})\b", r"\\w+", part) for part in parts)
    return re.search(re.sub(r"127\\.0\\.0\\.1:\d+", r"127\.0\.0\.1:\\d+", pattern), said, re.DOTALL) is not None


def arguments(tool: str, text: str) -> dict[str, Any]:
    """Return what a text gives to a tool."""
    found = re.search(rf"^{tool} ({{.*?}})$", text, re.DOTALL | re.MULTILINE)
    assert found is not None
    given: dict[str, Any] = json.loads(found[1])
    return given


@pytest.mark.covers("D-27", "IN-1", "IN-67")
@together("run", *blocks("docs/introspect.md")[:3])
def test_an_agent_finds_a_bug_by_acting_and_fixes_it_by_hot_reload(
    given: tuple[Block, ...], agent: LineClient, tmp_path: Path
) -> None:
    outline, failing, fixing = (one.code.strip() for one in given)
    code = build(tmp_path)
    agent.call("ui_start")
    assert agent.call("ui_display", name="tally") == "Displayed app: tally"
    seen = agent.call("ui_get_snapshot")
    assert tells(outline, seen), seen

    scenario = arguments("ui_test", failing)
    failed = agent.request("tools/call", {"name": "ui_test", "arguments": scenario})
    text, shown = (block["text"] for block in failed["content"][:2])
    answered, drawn = failing.partition("\n→ ")[2].split("\n")
    assert failed["isError"]
    assert tells(answered, text), text
    assert tells(drawn.removeprefix("  outline: ").removesuffix("   and a picture"), shown), shown
    assert failed["content"][2]["type"] == "image"

    code.write_text(APP.replace("+ 2", "+ 1") + "Tally.mended = true\n")
    deadline = monotonic() + 60
    while agent.call("ui_run", code="return Tally.mended") is not True:
        assert monotonic() < deadline, "the saved file was never loaded"
    agent.call("ui_run", **arguments("ui_run", fixing))
    passed = re.search(r"^ui_test … → (.*)$", fixing, re.MULTILINE)
    assert passed is not None
    assert agent.call("ui_test", **scenario) == json.loads(passed[1])

    acting = arguments("ui_perform", fixing)
    acting["actions"][0]["target"] = agent.call("ui_query", selector={"css": "#who"})["matches"][0]["ref"]["uid"]
    done = agent.request("tools/call", {"name": "ui_perform", "arguments": acting})["content"][0]["text"]
    assert tells(fixing.rpartition("\n→ ")[2], done), done


@pytest.mark.covers("IN-1", "IN-2", "IN-72", "IN-43", "IN-67", "IN-3")
def test_before_the_start_every_tool_says_that_it_is_not_enabled(agent: LineClient) -> None:
    listed = {tool["name"]: tool for tool in agent.request("tools/list")["tools"]}
    calls = {
        "ui_get_snapshot": {},
        "ui.getSnapshot": {"unknown": 1},
        "ui_query": {"selector": {"text": "x"}},
        "ui_get_node": {"ref": "a1"},
        "ui_perform": {"actions": [{"type": "click", "target": "a1"}]},
        "ui_screenshot": {},
    }

    answers = [agent.request("tools/call", {"name": name, "arguments": given}) for name, given in calls.items()]

    assert {name for name in calls if "." not in name} <= listed.keys()
    for answer in answers:
        told = json.loads(answer["content"][0]["text"])
        Draft202012Validator(json.loads(SCHEMA.read_text())).validate(told)
        assert answer["isError"] is True
        assert told == answer["structuredContent"]
        assert told["error"]["code"] == "MCP_UI_NOT_ENABLED"
        assert told["error"]["details"] == {"reason": "NOT_STARTED"}
    for name, given in (
        ("ui_get_snapshot", {"mode": "x"}),
        ("ui_query", {"selector": {"predicate": {"colour": "red"}}}),
        ("ui_perform", {"actions": [{"type": "jump"}]}),
        ("ui_attach", {"kind": "teapot"}),
    ):
        refused = agent.request("tools/call", {"name": name, "arguments": given})
        told = json.loads(refused["content"][0]["text"])
        Draft202012Validator(json.loads(SCHEMA.read_text())).validate(told)
        assert refused["isError"] is True
        assert told == refused["structuredContent"]
        assert told["error"]["code"] == "MCP_UI_INVALID_ARGUMENT"
    assert "'full', 'compact'" in agent.call("ui_get_snapshot", mode="x")["error"]["message"]
    attaching = agent.call("ui_attach", kind="url", url="http://127.0.0.1:1/")
    assert attaching["error"]["details"] == {"reason": "ATTACH_NOT_ALLOWED"}


@pytest.mark.covers("IN-53", "IN-66", "IN-2")
def test_one_node_and_pictures_come_in_their_forms(agent: LineClient, tmp_path: Path) -> None:
    build(tmp_path)
    agent.call("ui_start")
    agent.call("ui_display", name="tally")

    match = agent.call("ui_query", selector={"css": "#add"})["matches"][0]
    uid = match["ref"]["uid"]
    assert (match["type"], match["id"], match["summary"]) == ("button", "add", "button[text=Add one]")
    assert match["layout"]["boundsInScene"]["width"] > 0
    assert len(agent.call("ui_query", selector={"predicate": {"visible": True}}, limit=2)["matches"]) == 2
    node = agent.call("ui_get_node", ref=uid, includeChildren=True)
    parent = agent.call("ui_query", selector={"css": ":has(> #add)"})["matches"][0]["ref"]["uid"]
    inside = agent.call("ui_get_node", ref=parent, includeChildren=True)
    alone = agent.call("ui_get_node", ref=parent)
    picture = agent.request("tools/call", {"name": "ui_screenshot", "arguments": {"ref": uid, "annotate": True}})
    as_json = agent.call("ui_screenshot", format="json", maxWidth=100)
    snapshot = agent.request("tools/call", {"name": "ui_get_snapshot", "arguments": {"format": "json"}})

    assert (node["type"], node["text"]["label"], node["accessibility"]["role"]) == ("button", "Add one", "BUTTON")
    assert [block["type"] for block in picture["content"]] == ["image"]
    assert "structuredContent" not in picture
    assert as_json["contentType"] == "image/png"
    assert base64.b64decode(as_json["dataBase64"])[:8] == b"\x89PNG\r\n\x1a\n"
    assert "add" in [child.get("id") for child in inside["children"]]
    assert not alone.get("children")
    assert json.loads(snapshot["content"][0]["text"]) == snapshot["structuredContent"]


@pytest.mark.covers("IN-74")
def test_looking_without_acting_can_be_enforced(tmp_path: Path) -> None:
    needs("chromium")
    configure(tmp_path, "allow_actions = false\nallow_screenshots = false\n")
    with LineClient(cwd=tmp_path) as agent:
        agent.call("ui_start")
        acted = agent.call("ui_perform", actions=[{"type": "click", "x": 1, "y": 1}])
        shot = agent.call("ui_screenshot")

    assert acted["error"]["details"]["reason"] == "READ_ONLY"
    assert shot["error"]["details"]["reason"] == "NO_SCREENSHOTS"


@pytest.mark.covers("IN-39", "IN-90")
def test_settings_choose_what_a_full_snapshot_holds_and_what_is_masked(tmp_path: Path) -> None:
    needs("chromium")
    build(tmp_path)
    defaults = "[introspection.snapshot_defaults]\nbounds = false\nlocal_to_screen = false\naccessibility = true\n"
    configure(tmp_path, f'redact = ["#who", "#hello", "h1"]\n{defaults}')
    with LineClient(cwd=tmp_path) as agent:
        agent.call("ui_start")
        agent.call("ui_display", name="tally")
        uid = agent.call("ui_query", selector={"css": "#who"})["matches"][0]["ref"]["uid"]
        agent.call("ui_perform", actions=[{"type": "setText", "target": uid, "text": "Privy Seal"}])
        outline = agent.call("ui_get_snapshot")
        full = agent.call("ui_get_snapshot", format="json", mode="full")

    root = full["stages"][0]["scene"]["root"]
    assert root.keys() >= {"accessibility"}
    assert "layout" not in root
    assert "Privy" not in outline + json.dumps(full)
    assert "masked" in outline
    assert [line.split()[2:] for line in outline.splitlines() if line.split()[0] == "h1"] == [["masked"]]
