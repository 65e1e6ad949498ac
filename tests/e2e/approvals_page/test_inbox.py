"""Questions of agents and hosts on the person's page, in a real browser."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from chromium import SETTLED
from e2e.approvals_page.conftest import Scheme, link, opened
from e2e.nlui_chat.conftest import AXE
from servers import running_server
from ui_mcp.inbox.model import Field, Option, Question
from ui_mcp.inbox.service import Inbox, Reply
from ui_mcp.inbox.service import opened as opened_inbox
from ui_mcp.jsontypes import JsonObject
from ui_mcp.ui.states import Running

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

FIELDS = (
    Field("1", "Which colour?", "choice", (Option("red", "red"), Option("blue", "blue")), other=True),
    Field("2", "Which days?", "choices", (Option("mon", "Monday"), Option("tue", "Tuesday"))),
    Field("3", "What else?"),
    Field("4", "Which plan?", "file"),
)


def place(server: Running) -> str:
    return str(server.workspace.state_dir / "inbox.db")


async def permission(inbox: Inbox) -> Question:
    body: JsonObject = {"tool": "Bash", "arguments": {"command": "make"}, "always": ["Bash(make:*)"], "stops": True}
    title = "Claude Code wants to run a command: make"
    return await inbox.ask(
        inbox.new("permission", title, body, source="claude-code", agent="Claude Code", lifetime=600)
    )


async def form(inbox: Inbox) -> Question:
    body: JsonObject = {"fields": [one.to_json() for one in FIELDS]}
    return await inbox.ask(
        inbox.new("form", "Claude has 4 questions", body, source="ui_ask", agent="Claude", lifetime=600)
    )


@pytest.mark.covers("INBOX-1", "INBOX-5", "INBOX-7")
@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "dark")])
async def test_a_person_fills_in_a_form_and_decides_by_keyboard(
    width: int, scheme: Scheme, browser: Browser, tmp_path: Path
) -> None:
    async with running_server(tmp_path) as server, opened_inbox(place(server)) as inbox:
        (tmp_path / "plan.txt").write_bytes(b"boat")
        asked, wanted = await form(inbox), await permission(inbox)
        page = await opened(browser, link(server.person_url), width, scheme)
        card = page.locator(f"#approval-{asked.id}")
        await expect(page.get_by_role("tab", name="Inbox 2")).to_have_attribute("aria-selected", "true")
        await expect(page).to_have_title("(2) ui-mcp")
        icon = await page.locator('link[rel="icon"]').get_attribute("href")
        await card.get_by_role("button", name="Send").click()
        await expect(card.get_by_role("alert")).to_have_text("“Which colour?” has no answer yet")
        await page.evaluate(SETTLED)
        await page.evaluate(AXE.read_text(encoding="utf-8"))
        problems = await page.evaluate("axe.run().then((found) => found.violations.map((one) => one.id))")
        await card.get_by_role("textbox", name="Another answer to: Which colour?").fill("mauve")
        await card.get_by_role("checkbox", name="Monday").check()
        await card.get_by_role("textbox", name="What else?").fill("It is warm")
        await card.get_by_label("Which plan?").set_input_files(tmp_path / "plan.txt")
        await card.get_by_role("button", name="Send").press("Enter")
        await expect(card).to_have_count(0)
        allow = page.locator(f"#approval-{wanted.id}").get_by_role("button", name="Allow once")
        await expect(allow).to_be_enabled()
        await allow.press("Enter")
        await expect(page.get_by_text("Nothing is waiting for you")).to_be_visible()
        await expect(page).to_have_title("ui-mcp")
        answers = ((await inbox.get(asked.id)).answer or {})["values"]
        allowed = await inbox.get(wanted.id)

    assert ">2<" in (icon or "").replace("%3E", ">").replace("%3C", "<")
    assert problems == []
    assert {**answers, "4": Path(answers["4"]).read_bytes()} == {
        "1": "mauve",
        "2": ["mon"],
        "3": "It is warm",
        "4": b"boat",
    }
    assert (allowed.status, allowed.decided_by) == ("answered", "human")


@pytest.mark.covers("INBOX-2")
async def test_a_late_tap_is_told_that_another_came_first(browser: Browser, tmp_path: Path) -> None:
    async with running_server(tmp_path) as server, opened_inbox(place(server)) as inbox:
        wanted = await permission(inbox)
        page = await opened(browser, link(server.person_url))
        card = page.locator(f"#approval-{wanted.id}")
        await expect(card.get_by_role("button", name="Allow once")).to_be_enabled()
        # Polls stop, so that the card stays while another device answers.
        await page.route("**/inbox", lambda route: route.abort())
        await inbox.answer(wanted.id, Reply("deny", "phone"))
        await card.get_by_role("button", name="Allow once").click()
        await expect(card.get_by_role("alert")).to_have_text("Already declined by phone")
        kept = await inbox.get(wanted.id)

    assert (kept.answer or {})["decision"] == "deny"


async def test_the_older_address_opens_the_inbox(browser: Browser, tmp_path: Path) -> None:
    async with running_server(tmp_path) as server:
        page = await opened(browser, link(server.person_url))
        await expect(page.get_by_role("tab", name="Chat")).to_have_attribute("aria-selected", "true")
        for address in ("/approvals", "/inbox"):
            await page.goto(server.person_url + address)
            await expect(page.get_by_role("tab", name="Inbox")).to_have_attribute("aria-selected", "true")
