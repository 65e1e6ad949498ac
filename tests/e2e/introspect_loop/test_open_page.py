"""The page a person has open, read and operated through its own runtime."""

import json
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from e2e.introspect_loop.test_loop import build
from interaction.lineclient import LineClient
from introspect.demos import needs

pytestmark = pytest.mark.slow


@pytest.mark.covers("IN-99")
def test_the_open_page_answers_without_a_driver(tmp_path: Path) -> None:
    needs("chromium")
    build(tmp_path)
    with LineClient(cwd=tmp_path) as agent, sync_playwright() as playwright:
        url = agent.call("ui_start")
        agent.call("ui_display", name="tally")
        chromium = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        person = chromium.new_page()
        person.goto(url)
        person.wait_for_selector("#add")

        seen = agent.call("ui_get_snapshot")
        add = agent.call("ui_query", selector={"css": "#add"})["matches"][0]["ref"]["uid"]
        who = agent.call("ui_query", selector={"css": "#who"})["matches"][0]["ref"]["uid"]
        done = agent.call(
            "ui_perform",
            actions=[{"type": "click", "target": add}, {"type": "setText", "target": who, "text": "Ann"}],
            observe="diff",
        )

        assert "target page" in seen.splitlines()[0]
        assert [result["ok"] for result in done["results"]] == [True, True]
        assert person.inner_text("#count") == "2"
        assert person.inner_text("#hello") == "Hello, Ann"
        assert '"Hello, Ann"' in done["observed"]

        refused = agent.call("ui_screenshot", target="page")
        assert refused["error"]["details"]["reason"] == "NEEDS_NATIVE_INPUT"
        person.reload()
        person.wait_for_selector("#add")
        stale = agent.call("ui_perform", actions=[{"type": "click", "target": add}])
        assert stale["error"]["code"] == "MCP_UI_STALE_REF"
        assert json.dumps(agent.call("ui_targets")).count('"enabled": true') == 2

        agent.call("ui_run", code="function Tally:greeting() error('nobody to greet', 0) end")
        person.wait_for_selector("#hello.ui-error", state="attached")
        assert "! binding on <p#hello>: nobody to greet" in agent.call("ui_get_snapshot").splitlines()
        chromium.close()
        alone = agent.call("ui_get_snapshot").splitlines()
        assert "target browser" in alone[0]
        assert "! binding on <p#hello>: nobody to greet" in alone
