"""The approvals page in a real browser: see the request, say yes, edit, say no; a program without the page cannot."""

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import anyio
import httpx2
import pytest
from playwright.async_api import Page, async_playwright

from agreeing import agree
from chromium import FLAGS
from compositor.conftest import Recorder, json_reply
from compositor.gateways import gateway
from servers import running_server
from ui_mcp.app.nlui_http import serve_approvals
from ui_mcp.compositor.approvals.desk import Reply
from ui_mcp.compositor.gateway import Gateway
from ui_mcp.compositor.offered import Offered
from ui_mcp.errors import DeniedError
from ui_mcp.httpd.serve import bind
from ui_mcp.jsontypes import JsonObject, dumps, loads
from ui_mcp.toolkit.tool import Call

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
SHOTS = os.environ.get("UI_MCP_SCREENSHOTS")


@pytest.fixture
async def recorder_of_shop(recorder: Recorder) -> Recorder:
    recorder.default = json_reply({"id": 7})
    return recorder


@asynccontextmanager
async def served(folder: Path, recorder: Recorder) -> AsyncIterator[tuple[Gateway, str]]:
    """A gateway under guard, and the address of its approvals page."""
    async with gateway(folder, recorder) as found, anyio.create_task_group() as tasks:
        urls: list[str] = []
        ready = anyio.Event()

        def opened(url: str) -> None:
            urls.append(url)
            ready.set()

        tasks.start_soon(serve_approvals, found, bind("127.0.0.1", 0), opened)
        await ready.wait()
        yield found, urls[0]
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def page_at(url: str, width: int = 900, scheme: Literal["light", "dark"] = "light") -> AsyncIterator[Page]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or "/usr/bin/chromium"
    if not Path(chromium).exists():
        if os.environ.get("CI"):
            pytest.fail("chromium is not installed")
        pytest.skip("chromium is not installed")
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = await browser.new_page(viewport={"width": width, "height": 700}, color_scheme=scheme)
        await page.goto(url)
        try:
            yield page
        finally:
            await browser.close()


async def ask(found: Gateway, name: str) -> str:
    result = await found.policed.call("shop__addThing", {"body": {"name": name}}, Call(client_name="Claude"))
    told: JsonObject = result.structured or {}
    return str(told["approval_id"])


@pytest.mark.covers("GW-POL-4", "GW-POL-5", "R-AP-8")
async def test_a_person_approves_edits_and_denies(recorder_of_shop: Recorder, tmp_path: Path) -> None:
    async with served(tmp_path, recorder_of_shop) as (found, url), page_at(url) as page:
        first, second, third = await ask(found, "boat"), await ask(found, "ship"), await ask(found, "raft")
        card = page.locator(f"#approval-{first}")
        await card.wait_for()
        shown = await card.locator("pre").inner_text()
        if SHOTS:
            await page.screenshot(path=f"{SHOTS}/approvals-pending.png", full_page=True)
        await card.get_by_role("button", name="Approve").click()
        approved = await found.policed.outcome(first, 20, Call())

        edited = page.locator(f"#approval-{second}")
        await edited.get_by_role("button", name="Edit arguments").click()
        await edited.get_by_label("Arguments").fill('{"body": {"name": "yacht"}}')
        await edited.get_by_role("button", name="Approve").click()
        await found.policed.outcome(second, 20, Call())

        denied = page.locator(f"#approval-{third}")
        await denied.get_by_label("Reason").fill("we have enough")
        await denied.get_by_role("button", name="Deny and stop").click()
        with pytest.raises(DeniedError) as caught:
            await found.policed.outcome(third, 20, Call())
        await page.get_by_text("Nothing waits for you.").wait_for()
        if SHOTS:
            await page.screenshot(path=f"{SHOTS}/approvals-answered.png", full_page=True)

    assert shown == f'POST {recorder_of_shop.url}/things\n\n{{"name":"boat"}}'
    assert approved.structured == {"id": 7}
    assert [loads(request.body) for request in recorder_of_shop.requests] == [{"name": "boat"}, {"name": "yacht"}]
    assert caught.value.details["rpc_code"] == -32950
    assert "we have enough" in caught.value.message


@pytest.mark.covers("R-PC-6")
async def test_a_person_accepts_a_proposed_rule(recorder_of_shop: Recorder, tmp_path: Path) -> None:
    proposal = {"rule": {"source": "shop", "tool": "addThing", "decision": "allow"}, "rationale": "harmless"}
    async with served(tmp_path, recorder_of_shop) as (found, url), page_at(url) as page:
        await found.policed.call("shop__listThings", {}, Call())
        await Offered(found).call("policy__propose", proposal, Call())
        await page.get_by_text("harmless").wait_for()
        await page.get_by_text("Of the last 1 calls it would allow 1.").wait_for()
        await page.get_by_role("button", name="Accept").click()
        await page.get_by_text("Rule accepted").wait_for()
        result = await found.policed.call("shop__addThing", {"body": {"name": "x"}}, Call())

    assert result.structured == {"id": 7}


@pytest.mark.covers("R-AP-9")
async def test_a_program_that_never_opened_the_page_cannot_answer(recorder_of_shop: Recorder, tmp_path: Path) -> None:
    async with served(tmp_path, recorder_of_shop) as (found, url), httpx2.AsyncClient(timeout=30) as client:
        approval = await ask(found, "boat")
        row = await found.desk.get(approval)
        listed = await client.get(url, headers={"Accept": "application/json"})
        decision = {"decision": "approve", "digest": row.digest}
        answered = await client.post(f"{url}/{approval}/decision", json=decision)
        foreign = await client.post(
            f"{url}/{approval}/decision", json=decision, headers={"Origin": "http://evil.example"}
        )
        state = (await found.desk.get(approval)).status

    assert (listed.status_code, answered.status_code, foreign.status_code) == (403, 403, 403)
    assert state == "pending"


@pytest.mark.covers("R-AP-4", "R-AP-5", "R-AP-6")
async def test_the_bridge_tells_late_wrong_and_unknown_answers_apart(
    recorder_of_shop: Recorder, tmp_path: Path
) -> None:
    async with served(tmp_path, recorder_of_shop) as (found, url), httpx2.AsyncClient(timeout=30) as client:
        await client.get(url, headers={"Accept": "text/html"})
        approval = await ask(found, "boat")
        row = await found.desk.get(approval)

        async def post(digest: str, which: str = approval) -> int:
            body = {"decision": "deny_continue", "digest": digest}
            return (await client.post(f"{url}/{which}/decision", json=body)).status_code

        statuses = [await post("0" * 64), await post(row.digest), await post(row.digest), await post("x", "unknown")]

    assert statuses == [412, 200, 409, 404]


@pytest.mark.covers("R-AP-7", "R-AP-13")
async def test_a_person_answers_several_at_once_and_says_how_far_a_yes_reaches(
    recorder_of_shop: Recorder, tmp_path: Path
) -> None:
    async with served(tmp_path, recorder_of_shop) as (found, url), page_at(url) as page:
        names = ("boat", "ship", "raft", "punt")
        ids = [await ask(found, name) for name in names]
        for one in ids[:2]:
            await page.locator(f"#approval-{one}").get_by_role("checkbox").check()
        late = await found.desk.get(ids[1])
        await page.get_by_text("2 selected").wait_for()
        await found.desk.answer(late.id, Reply("deny_continue", late.digest, "ann"))
        await page.locator(f"#approval-{ids[1]}").wait_for(state="detached")
        await page.locator(f"#approval-{ids[2]}").get_by_role("checkbox").check()
        await page.get_by_role("button", name="Approve selected").click()
        await page.get_by_text("2 answered").wait_for()

        card = page.locator(f"#approval-{ids[3]}")
        await card.get_by_label("How long a yes holds").select_option("always")
        await card.get_by_label("What the yes covers").fill('{"body.name": "p*"}')
        await card.get_by_role("button", name="Approve").click()
        await found.policed.outcome(ids[3], 20, Call())
        allowed = await found.policed.call("shop__addThing", {"body": {"name": "pram"}}, Call())
        still = await found.policed.call("shop__addThing", {"body": {"name": "tram"}}, Call())
        states = [(await found.desk.get(one)).status for one in ids]

    assert states == ["approved", "denied", "approved", "approved"]
    assert allowed.structured == {"id": 7}
    assert (still.structured or {})["status"] == "awaiting_approval"


@pytest.mark.covers("R-AP-13")
async def test_of_many_answers_each_is_taken_or_refused_by_itself(recorder_of_shop: Recorder, tmp_path: Path) -> None:
    async with served(tmp_path, recorder_of_shop) as (found, url), httpx2.AsyncClient(timeout=30) as client:
        first, second = [await found.desk.get(await ask(found, name)) for name in ("boat", "ship")]
        many = {"decisions": [{"id": row.id, "digest": row.digest, "decision": "approve"} for row in (first, second)]}
        many["decisions"][0]["digest"] = second.digest
        stranger = await client.post(f"{url}/decisions", json=many)
        await client.get(url, headers={"Accept": "text/html"})
        answered = (await client.post(f"{url}/decisions", json=many)).json()["results"]

    assert stranger.status_code == 403
    assert answered[0]["error"]["code"] == "digest_mismatch"
    assert (answered[1]["id"], answered[1]["status"]) == (second.id, "approved")


@pytest.mark.parametrize(("width", "scheme"), [(900, "light"), (900, "dark"), (390, "light")])
async def test_the_page_fits_every_screen_and_says_when_the_gateway_is_gone(
    width: int, scheme: Literal["light", "dark"], recorder_of_shop: Recorder, tmp_path: Path
) -> None:
    async def shoot(page: Page, name: str) -> None:
        if SHOTS:
            await page.screenshot(path=f"{SHOTS}/approvals-{name}-{scheme}-{width}.png", full_page=True)
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    async with served(tmp_path, recorder_of_shop) as (found, url), page_at(url, width, scheme) as page:
        await page.get_by_text("Nothing waits for you.").wait_for()
        await shoot(page, "empty")
        await ask(found, "a rather long boat " * 8)
        await found.policed.call("shop__deleteThing", {"id": 7}, Call(client_name="Claude"))
        rule = {"source": "shop", "tool": "addThing", "args": {"body.name": "boat*"}, "decision": "allow"}
        await Offered(found).call("policy__propose", {"rule": rule, "rationale": "Boats are safe to add"}, Call())
        await page.get_by_text("shop__deleteThing").wait_for()
        await page.get_by_label("How long a yes holds").first.select_option("session")
        await page.get_by_role("checkbox").first.check()
        await page.get_by_text("Boats are safe to add").wait_for()
        await shoot(page, "waiting")
        await page.context.set_offline(True)
        await page.get_by_text("The server cannot be reached.").wait_for()
        await shoot(page, "error")


@pytest.mark.covers("R-AP-8", "R-PC-6")
async def test_the_ui_server_shows_the_questions_of_its_gateway_too(recorder_of_shop: Recorder, tmp_path: Path) -> None:
    """The page on the UI port, for a gateway in another process: only the store is shared."""
    yaml = tmp_path / "nlui.yaml"
    yaml.write_text(dumps({"data_dir": str(tmp_path / "data")}))
    config = tmp_path / ".claude" / "ui" / "config" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'[gateway]\nconfig = "{yaml}"\n')
    agree(tmp_path / ".claude/ui")
    rule = {"source": "shop", "tool": "deleteThing", "decision": "deny_continue"}
    async with gateway(tmp_path, recorder_of_shop) as found, running_server(tmp_path) as server:
        asked = [await ask(found, name) for name in ("boat", "ship")]
        await Offered(found).call("policy__propose", {"rule": rule, "rationale": "keep everything"}, Call())
        async with httpx2.AsyncClient(timeout=30) as stranger:
            refused = await stranger.get(f"{server.url}/approvals", headers={"Accept": "application/json"})
        async with page_at(server.url) as page:
            await page.goto(f"{server.url}/approvals")
            for one in asked:
                await page.locator(f"#approval-{one}").get_by_role("checkbox").check()
            await page.get_by_role("button", name="Approve selected").click()
            await page.get_by_text("2 answered").wait_for()
            await page.get_by_role("button", name="Accept").click()
            await page.get_by_text("Rule accepted").wait_for()
        results = [await found.policed.outcome(one, 20, Call()) for one in asked]
        with anyio.fail_after(30):
            while not await found.store.rules() or not found.policy(Call()).rules:
                await anyio.sleep(0.05)
        with pytest.raises(DeniedError):
            await found.policed.call("shop__deleteThing", {"id": 1}, Call())

    assert refused.status_code == 401
    assert [result.structured for result in results] == [{"id": 7}, {"id": 7}]
