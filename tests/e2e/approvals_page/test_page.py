"""The waiting calls on the page of the person: see the request, say yes, edit, say no, and how far a yes reaches."""

import re
from pathlib import Path

import httpx2
import pytest
from anyio import to_thread
from playwright.async_api import Browser, Page, expect

from chromium import SETTLED
from e2e.approvals_page.conftest import Scheme, Whole, ask, gateway_alone, link, opened
from e2e.nlui_chat.conftest import AXE
from gateway.conftest import Recorder
from person_client import let_in
from ui_mcp.errors import DeniedError
from ui_mcp.gateway.approvals.service import Decision
from ui_mcp.gateway.toolset import GatewayToolset
from ui_mcp.jsontypes import loads
from ui_mcp.toolkit.tool import Call
from ui_mcp.webserver.person_app import PERSON_FOLDER

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]


@pytest.mark.covers("GW-POL-4", "GW-POL-5", "R-AP-8")
async def test_a_person_approves_edits_and_denies(browser: Browser, shop: Recorder, whole: Whole) -> None:
    found = whole.gateway
    page = await opened(browser, link(whole.url))
    first, second, third = await ask(found, "boat"), await ask(found, "ship"), await ask(found, "raft")
    await page.get_by_role("button", name="questions waiting").click()
    card = page.locator(f"#approval-{first}")
    shown = [await card.get_by_role("heading").inner_text(), await card.get_by_label("Body").inner_text()]
    await card.get_by_role("button", name="Approve once").click()
    approved = await found.enforcer.outcome(first, 20, Call())

    edited = page.locator(f"#approval-{second}")
    await edited.get_by_role("button", name="Edit arguments").click()
    await edited.get_by_label("Edited arguments").fill('{"body": {"name": "yacht"}')
    await edited.get_by_role("button", name="Approve once").click()
    await expect(edited.get_by_role("alert").first).to_contain_text("The arguments cannot be read as JSON")
    await edited.get_by_label("Edited arguments").fill('{"body": {"name": "yacht"}}')
    await edited.get_by_role("button", name="Approve once").click()
    request = page.get_by_role("article").filter(has_text="this is the request that they make")
    await expect(request.get_by_label("Body")).to_contain_text("yacht")
    await request.get_by_role("button", name="Approve once").click()
    await found.enforcer.outcome(second, 20, Call())

    denied = page.locator(f"#approval-{third}")
    await denied.get_by_label("Reason").fill("we have enough")
    await denied.get_by_role("button", name="Deny and stop").click()
    with pytest.raises(DeniedError) as caught:
        await found.enforcer.outcome(third, 20, Call())
    await expect(page.get_by_text("Nothing is waiting for you")).to_be_visible()

    assert shown == ["Claude wants to add thing in shop", '{\n  "name": "boat"\n}']
    assert approved.structured == {"id": 7}
    assert [loads(request.body) for request in shop.requests] == [{"name": "boat"}, {"name": "yacht"}]
    assert caught.value.details["rpc_code"] == -32950
    assert "we have enough" in caught.value.message


async def test_a_destructive_call_is_marked_and_its_first_button_is_the_no(browser: Browser, whole: Whole) -> None:
    await whole.gateway.enforcer.call("shop__deleteThing", {"id": 7}, Call(client_name="Claude"))
    page = await opened(browser, link(whole.url))

    card = page.locator(".ask-destroys")
    await expect(card.get_by_text("Destructive")).to_be_visible()
    await expect(card.get_by_role("button").first).to_have_text("Deny")
    assert await card.locator("button.ask-yes").count() == 0


@pytest.mark.covers("R-AP-7")
async def test_always_shows_what_it_covers_before_it_is_given(browser: Browser, whole: Whole) -> None:
    found = whole.gateway
    page = await opened(browser, link(whole.url))
    card = page.locator(f"#approval-{await ask(found, 'punt')}")
    await page.get_by_role("tab", name="Inbox").click()
    await card.get_by_role("button", name="Always…").click()
    covers = card.get_by_role("region", name="What the approval covers")
    await expect(covers.locator("dl")).to_have_text("callshop__addThingbodyanything")
    await covers.get_by_text("Change what it covers").click()
    await covers.get_by_label("Arguments that the approval covers").fill('{"body": 7}')
    await covers.get_by_role("button", name="Always allow").click()
    await expect(card.get_by_role("alert").first).to_contain_text("should be text")
    await covers.get_by_label("Arguments that the approval covers").fill('{"body.name": "p*"}')
    await covers.get_by_role("button", name="Always allow").click()
    await expect(page.get_by_text("Nothing is waiting for you")).to_be_visible()

    allowed = await found.enforcer.call("shop__addThing", {"body": {"name": "pram"}}, Call())
    still = await found.enforcer.call("shop__addThing", {"body": {"name": "tram"}}, Call())

    assert allowed.structured == {"id": 7}
    assert (still.structured or {})["status"] == "awaiting_approval"


async def test_a_gateway_alone_serves_the_page_of_the_person_with_its_files(shop: Recorder, tmp_path: Path) -> None:
    built = (PERSON_FOLDER / "index.html").read_text()
    async with gateway_alone(tmp_path, shop) as (_, url), httpx2.AsyncClient(timeout=30) as client:
        pages = [await client.get(url + path, headers={"accept": "text/html"}) for path in ("/", "/approvals")]
        files = re.findall(r'(?:src|href)="(/[^"]+)"', pages[0].text)
        found = [(await client.get(url + path)).status_code for path in files]

    assert all(one in page.text for page in pages for one in re.findall(r"/person/assets/[^\"]+", built))
    assert set(found) == {200}


@pytest.mark.covers("R-PC-6")
async def test_a_person_accepts_a_proposed_rule(browser: Browser, shop: Recorder, tmp_path: Path) -> None:
    proposal = {"rule": {"source": "shop", "tool": "addThing", "decision": "allow"}, "rationale": "harmless"}
    async with gateway_alone(tmp_path, shop) as (found, url):
        page = await opened(browser, link(url))
        await found.enforcer.call("shop__listThings", {}, Call())
        await GatewayToolset(found).call("policy__propose", proposal, Call())
        await expect(page.get_by_text("harmless")).to_be_visible()
        await expect(page.get_by_text("Of the last 1 calls it would allow 1.")).to_be_visible()
        await page.get_by_role("button", name="Accept").click()
        await expect(page.get_by_text("Rule accepted")).to_be_visible()
        result = await found.enforcer.call("shop__addThing", {"body": {"name": "x"}}, Call())

    assert result.structured == {"id": 7}


@pytest.mark.covers("R-AP-13")
async def test_a_person_answers_several_at_once_but_no_destructive_call_among_them(
    browser: Browser, shop: Recorder, tmp_path: Path
) -> None:
    async with gateway_alone(tmp_path, shop) as (found, url):
        page = await opened(browser, link(url))
        ids = [await ask(found, name) for name in ("boat", "ship", "raft")]
        await found.enforcer.call("shop__deleteThing", {"id": 7}, Call())
        for one in ids[:2]:
            await page.locator(f"#approval-{one}").get_by_role("checkbox").check()
        await expect(page.get_by_text("2 selected")).to_be_visible()
        late = await found.approvals.get(ids[1])
        await found.approvals.decide(late.id, Decision("deny_continue", late.digest, "ann"))
        await expect(page.locator(f"#approval-{ids[1]}")).to_have_count(0)
        await page.locator(f"#approval-{ids[2]}").get_by_role("checkbox").check()
        destructive = page.get_by_role("checkbox", name="Select shop__deleteThing")
        await destructive.check()
        await expect(page.get_by_role("button", name="Approve selected")).to_be_disabled()
        await destructive.uncheck()
        await page.get_by_role("button", name="Approve selected").click()
        await expect(page.get_by_text("2 answered")).to_be_visible()
        states = [(await found.approvals.get(one)).status for one in ids]

    assert states == ["approved", "denied", "approved"]


@pytest.mark.covers("R-AP-13")
async def test_of_many_answers_each_is_taken_or_refused_by_itself(shop: Recorder, tmp_path: Path) -> None:
    async with gateway_alone(tmp_path, shop) as (found, url), httpx2.AsyncClient(timeout=30) as client:
        first, second = [await found.approvals.get(await ask(found, name)) for name in ("boat", "ship")]
        many = {"decisions": [{"id": row.id, "digest": row.digest, "decision": "approve"} for row in (first, second)]}
        many["decisions"][0]["digest"] = second.digest
        without = await client.post(f"{url}/approvals/decisions", json=many)
        headers = await in_thread(url)
        answered = (await client.post(f"{url}/approvals/decisions", json=many, headers=headers)).json()["results"]

    assert without.status_code == 403
    assert answered[0]["error"]["code"] == "digest_mismatch"
    assert (answered[1]["id"], answered[1]["status"]) == (second.id, "approved")


@pytest.mark.covers("R-AP-4", "R-AP-5", "R-AP-6")
async def test_late_wrong_and_unknown_answers_are_told_apart(shop: Recorder, tmp_path: Path) -> None:
    async with gateway_alone(tmp_path, shop) as (found, url), httpx2.AsyncClient(timeout=30) as client:
        headers = await in_thread(url)
        approval = await ask(found, "boat")
        row = await found.approvals.get(approval)

        async def post(digest: str, which: str = approval) -> int:
            body = {"decision": "deny_continue", "digest": digest}
            return (await client.post(f"{url}/approvals/{which}/decision", json=body, headers=headers)).status_code

        statuses = [await post("0" * 64), await post(row.digest), await post(row.digest), await post("x", "unknown")]

    assert statuses == [412, 200, 409, 404]


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (1200, "dark"), (390, "light"), (390, "dark")])
async def test_the_page_fits_every_screen_is_accessible_and_says_when_the_server_is_gone(
    width: int, scheme: Scheme, browser: Browser, whole: Whole
) -> None:
    found = whole.gateway
    page = await opened(browser, whole.url, width, scheme)
    await expect(page.get_by_label("Code")).to_be_focused()
    await good(page)
    await page.goto(link(whole.url))
    await page.get_by_role("tab", name="Inbox").click()
    await expect(page.get_by_text("Nothing is waiting for you")).to_be_visible()
    await good(page)
    await ask(found, "a rather long boat " * 8)
    await found.enforcer.call("shop__deleteThing", {"id": 7}, Call(client_name="Claude"))
    rule = {"source": "shop", "tool": "addThing", "args": {"body.name": "boat*"}, "decision": "allow"}
    await GatewayToolset(found).call("policy__propose", {"rule": rule, "rationale": "Boats are safe to add"}, Call())
    await page.get_by_role("button", name="For this session…").first.click()
    await page.get_by_role("checkbox").first.check()
    await expect(page.get_by_text("Boats are safe to add")).to_be_visible()
    await good(page)
    await page.context.set_offline(True)
    await expect(page.get_by_text("The server cannot be reached. Trying again in")).to_be_visible()
    await good(page)
    await page.context.set_offline(False)
    await page.get_by_role("button", name="Try now").click()
    await expect(page.get_by_text("The server cannot be reached")).to_have_count(0)


async def good(page: Page) -> None:
    """Nothing is wider than the screen, and axe has nothing to complain about in our own document."""
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await page.evaluate(SETTLED)
    await page.evaluate(AXE.read_text(encoding="utf-8"))
    rules = "{ iframes: false }"
    found = await page.evaluate(
        f"axe.run({rules}).then((result) => result.violations.map(({{ id, nodes }}) => [id, String(nodes[0].target)]))"
    )
    assert found == []


async def in_thread(url: str) -> dict[str, str]:
    """Sign in by plain HTTP without blocking the server, which runs in this event loop."""
    return await to_thread.run_sync(let_in, url)
