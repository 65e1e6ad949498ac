"""The page a person has open, read and operated through its own runtime."""

from pathlib import Path
from time import monotonic

import pytest
from playwright.sync_api import Browser, Page

from chromium import launched
from e2e.introspect_loop.test_loop import build, configure
from integration.lineclient import LineClient
from introspection.demos import needs

pytestmark = pytest.mark.slow

SLOW = """
function Tally:add()
    local done = os.clock() + 0.4
    while os.clock() < done do end
    self.count = self.count + 1
end
"""


def enabled(agent: LineClient) -> list[str]:
    """Return the names of the targets that can be looked at."""
    return [target["id"] for target in agent.call("ui_targets")["targets"] if target["enabled"]]


def opened(agent: LineClient, chromium: Browser) -> Page:
    """Start the server and open the app as a person would."""
    url = agent.call("ui_start")
    agent.call("ui_display", name="tally")
    person = chromium.new_page()
    person.goto(url)
    person.wait_for_selector("#add")
    return person


@pytest.mark.covers("IN-62")
@pytest.mark.parametrize("target", ["browser", "page"])
def test_what_a_slow_app_does_about_a_click_shows_in_the_same_answer(tmp_path: Path, target: str) -> None:
    needs("chromium")
    configure(tmp_path, "")
    build(tmp_path)
    with LineClient(cwd=tmp_path) as agent, launched() as chromium:
        opened(agent, chromium)
        agent.call("ui_run", code=SLOW)
        add = agent.call("ui_query", selector={"css": "#add"}, target=target)["matches"][0]["ref"]["uid"]

        done = agent.call("ui_perform", actions=[{"type": "click", "target": add}], observe="diff", target=target)

        assert '#count "1"' in done["observed"]


@pytest.mark.covers("STATE-5")
def test_what_the_agent_does_on_the_open_page_is_the_agents_in_the_history(tmp_path: Path) -> None:
    needs("chromium")
    configure(tmp_path, "")
    build(tmp_path)
    with LineClient(cwd=tmp_path) as agent, launched() as chromium:
        person = opened(agent, chromium)
        person.click("#add")
        person.wait_for_function("document.querySelector('#count').innerText === '2'")
        add = agent.call("ui_query", selector={"css": "#add"})["matches"][0]["ref"]["uid"]
        agent.call("ui_perform", actions=[{"type": "click", "target": add}])
        person.fill("#who", "Bea")
        person.wait_for_function("document.querySelector('#hello').innerText === 'Hello, Bea'")

        steps = agent.call("ui_history")["steps"]

        done = [(step["by"], step["label"]) for step in steps[:3]]
        assert done == [("person", "Set name"), ("agent", "Add"), ("person", "Add")]


@pytest.mark.covers("IN-99")
def test_the_open_page_answers_without_a_driver(tmp_path: Path) -> None:
    needs("chromium")
    configure(tmp_path, "")
    build(tmp_path)
    with LineClient(cwd=tmp_path) as agent, launched() as chromium:
        person = opened(agent, chromium)

        seen = agent.call("ui_get_snapshot")
        add = agent.call("ui_query", selector={"css": "#add"})["matches"][0]["ref"]["uid"]
        who = agent.call("ui_query", selector={"css": "#who"})["matches"][0]["ref"]["uid"]
        done = agent.call(
            "ui_perform",
            actions=[{"type": "click", "target": add}, {"type": "setText", "target": who, "text": "Ann"}],
            observe="diff",
        )

        assert " · page · " in seen.splitlines()[0]
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
        assert enabled(agent) == ["page", "browser"]

        agent.call("ui_run", code="function Tally:greeting() error('nobody to greet', 0) end")
        person.wait_for_selector("#hello.ui-error", state="attached")
        assert "! binding on <p#hello>: nobody to greet" in agent.call("ui_get_snapshot").splitlines()
        chromium.close()
        deadline = monotonic() + 60
        while enabled(agent) != ["browser"]:
            assert monotonic() < deadline, "the server never noticed that the page is gone"
        alone = agent.call("ui_get_snapshot").splitlines()
        assert " · browser · " in alone[0]
        assert "! binding on <p#hello>: nobody to greet" in alone
