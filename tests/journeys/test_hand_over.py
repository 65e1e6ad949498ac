"""An agent meets a login with a code that only the person has, hands its browser over, and goes on behind it."""

import re

import pytest
from playwright.sync_api import Page, expect

from journeys.conftest import Person, Telling
from journeys.hosts import StdioHost
from journeys.shop_login import CODE, site
from ui_mcp.person import PersonKeys

pytestmark = [pytest.mark.slow, pytest.mark.covers("IN-146", "IN-145")]
STATE = ".local/state/ui-mcp/person"


def test_a_person_passes_a_login_in_the_agents_browser(person: Person, tell: Telling, page: Page) -> None:
    story = tell("hand-over")
    story.say(
        "# Hand over the wheel\n\n"
        "A site asks for a code that only the person has. The agent hands its browser over and sees nothing meanwhile."
    )
    story.film("hand-over", "The agent asks, the person takes over its browser, types the code and gives it back")
    with site() as shop, person.start("ui-mcp", "mcp") as process:
        host = StdioHost(process, "2025-11-25", "claude-code")
        host.ask("tools/call", name="ui_start", arguments={})
        story.shell(f"ui-mcp attach --url {shop}", person.run("ui-mcp", "attach", "--url", shop))

        story.say("## The agent sees a login, and asks the person")
        host.call(story, "ui_get_snapshot", target="url")
        reason = "Please sign in to the shop; I need the invoices"
        asked = {"op": "hand_over", "text": reason, "target": "url"}
        host.call(story, "ui_browser", **asked, options={"seconds": 1})

        story.say("## The person takes over, on their own page")
        port = (person.home / ".claude/ui/person-port").read_text().strip()
        page.goto(f"http://127.0.0.1:{port}/#code={PersonKeys(person.home / STATE).new_code()}")
        page.get_by_role("button", name="Take over").click()
        expect(page.get_by_text("Connecting…")).to_be_hidden()
        page.keyboard.press("Tab")
        page.keyboard.type(CODE)
        story.picture(page, "hand-over", "The agent's browser on the person's page, with the code typed in")

        story.say("## Meanwhile every use by the agent is refused")
        refused = host.ask("tools/call", name="ui_screenshot", arguments={"target": "url"})["content"][0]["text"]
        assert "HANDED_OVER" in refused
        story.call("ui_screenshot", {"target": "url"}, refused)

        story.say("## The person signs in and gives it back; the agent goes on")
        page.keyboard.press("Enter")
        expect(page.locator(".wheel-address")).to_contain_text("/invoices")
        page.get_by_role("button", name="Give back to agent").click()
        expect(page.locator(".wheel")).to_be_hidden()
        story.steady(r"\d+ms \d+B", "9ms 336B")
        seen = host.call(story, "ui_get_snapshot", target="url")
        requests = host.call(story, "ui_browser", op="network", target="url")
        assert "April: 8.00" in seen
        assert not re.search(f"{CODE}|POST", seen + requests)
        page.goto("about:blank")
