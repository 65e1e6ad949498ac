"""A person chats with an assistant over an API and decides what it may do; `nlui` without any configuration."""

import pytest
from playwright.sync_api import Page, expect

from journeys.conftest import Person, Telling
from ui_mcp.person import PersonKeys

pytestmark = pytest.mark.slow
STATE = ".local/state/ui-mcp/person"


def test_a_person_asks_approves_and_gets_it_done(person: Person, tell: Telling, page: Page) -> None:
    story = tell("chat-and-approve")
    story.say("# Chat with an API and approve its calls\n\nNo API key needed: a scripted model and a demo shop.")
    with person.start("nlui", "--port", "0") as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        story.shell("nlui", line)
        page.goto(f"{line.split()[-1]}/#code={PersonKeys(person.home / STATE).new_code()}")
        expect(page.get_by_text("Ask for something")).to_be_visible()

        story.say("## Reading needs no approval")
        ask(page, "show the orders")
        expect(page.get_by_role("table")).to_contain_text("Ada Lovelace")
        expect(page.get_by_role("paragraph").filter(has_text="and I ask you before I do it")).to_be_visible()
        story.picture(page, "chat-orders", "The orders as a table in the conversation")

        story.say("## Changing something needs approval")
        ask(page, "ship order 1")
        expect(page.get_by_role("heading", name="Your agent wants to ship order 1 in shop")).to_be_visible()
        story.picture(page, "chat-approval", "The assistant asks whether it may ship order 1")
        page.get_by_role("button", name="Approve once").click()
        expect(page.get_by_role("paragraph").filter(has_text="Order 1 is on its way.")).to_be_visible()
        story.picture(page, "chat-shipped", "The order is shipped; the conversation shows who approved it")
        page.goto("about:blank")


def ask(page: Page, text: str) -> None:
    page.get_by_label("Message", exact=True).fill(text)
    page.keyboard.press("Enter")
