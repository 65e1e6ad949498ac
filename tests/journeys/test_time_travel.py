"""A person takes a mistake back, looks at past moments, and lets an agent try something in a fork."""

import json
import re

import pytest
from playwright.sync_api import Page, expect

from journeys.conftest import Person, Telling
from journeys.hosts import StdioHost
from journeys.shopping import FILES
from journeys.story import Story

pytestmark = pytest.mark.slow


class Traveller:
    """The page of the person, and the host, which waits until each step is saved as one of its own."""

    def __init__(self, host: StdioHost, page: Page) -> None:
        self._host = host
        self._page = page

    def press(self, button: str, *shown: str) -> None:
        self._page.locator(button).first.click()
        self.sees(*shown)

    def sees(self, *names: str) -> None:
        expect(self._page.locator("[ui-app] .item b")).to_have_text(list(names))
        self._host.ask("tools/call", name="ui_history", arguments={"limit": 1})


def number_from(story: Story, bread: int) -> None:
    """Let the reader see the same numbers whenever the page was opened and the start saved."""

    def shown(found: re.Match[str]) -> str:
        return f"{found[1]}{int(found[2]) - bread + 7}"

    story.steady(r'("(?:step|last|undoes)": ?|to step )(\d+)', shown)
    story.steady(r"/[0-9a-f]{32}/", "/SESSION/")


@pytest.mark.covers("STATE-5", "STATE-6")
def test_a_person_undoes_looks_back_forks_and_returns(person: Person, tell: Telling, page: Page) -> None:
    story = tell("time-travel")
    story.say("# Undo, looking back, a fork\n\nWhat people do changes the state step by step, and no step is lost.")
    story.film("time-travel", "A person deletes the wrong thing, takes that back and returns to a past moment")
    with person.start("ui-mcp", "mcp") as process:
        host = StdioHost(process, "2025-11-25", "claude-code")
        url = host.ask("tools/call", name="ui_start", arguments={})["content"][0]["text"].splitlines()[0]
        story.say("## An app without a line about undo; it only gives its steps names")
        app = person.home / ".claude/ui/apps/shopping"
        (app / "viewdefs").mkdir(parents=True)
        for name, language, text in FILES:
            (app / name).write_text(text)
            story.file(f".claude/ui/apps/shopping/{name}", language, text)
        host.call(story, "ui_display", name="shopping")
        page.goto(url)
        page.wait_for_function("Boolean(customElements.get('sl-button'))")
        traveller = Traveller(host, page)

        story.say("## The person adds three things, deletes the wrong one and presses Ctrl+Z")
        traveller.press("#milk", "milk")
        traveller.press("#bread", "milk", "bread")
        traveller.press("#tea", "milk", "bread", "tea")
        traveller.press(".delete", "bread", "tea")
        page.keyboard.press("Control+z")
        traveller.sees("milk", "bread", "tea")
        story.picture(page, "time-travel-undo", "Milk is back, and a notice says what was undone")

        story.say("## The agent reads who did what")
        found = json.loads(host.call(story, "ui_history", limit=4))
        assert [step["label"] for step in found["steps"]] == ["Undo Delete milk", "Delete milk", "Add tea", "Add bread"]
        number_from(story, found["steps"][3]["step"])

        story.say("## Alt+H opens the history; its slider shows any moment, read-only")
        page.keyboard.press("Alt+h")
        expect(page.locator(".ui-history-label").first).to_have_text("Undo Delete milk")
        for _ in range(3):
            page.get_by_role("slider", name="Moment to look at").press("ArrowLeft")
        expect(page.frame_locator(".ui-history-frame").locator(".item b")).to_have_text(["milk", "bread"])
        story.picture(page, "time-travel-past", "The list as it was before tea was added, and the steps beside it")

        story.say("## The agent tries something in a fork of that moment; the person's list stays as it is")
        step = found["steps"][3]["step"]
        fork = json.loads(host.call(story, "ui_undo", action="fork", step=step))["sessionId"]
        host.call(story, "ui_run", sessionId=fork, code='shopping:add("cake") return #shopping.items')
        assert json.loads(host.call(story, "ui_run", code="return #shopping.items")) == 3
        host.call(story, "ui_undo", action="discard", sessionId=fork)

        story.say("## The person returns to that moment, which is a step, too, and can be undone")
        page.get_by_role("button", name="Return here").click()
        traveller.sees("milk", "bread")
        page.keyboard.press("Escape")
        page.keyboard.press("Control+z")
        traveller.sees("milk", "bread", "tea")
        last = json.loads(host.call(story, "ui_history", limit=2))["steps"]
        assert [one["label"].partition(" to ")[0] for one in last] == ["Undo Return", "Return"]
        page.goto("about:blank")
