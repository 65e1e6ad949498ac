"""What the human sees and does in the chat page."""

import base64
from pathlib import Path

import pytest
from playwright.async_api import FilePayload, Page, Route, expect

from chromium import SETTLED, Scheme
from e2e.chat_page.conftest import AGENT, HUMAN, Room, chat_server, link
from needs import missing
from ports import free_ports
from ui_mcp.agent.journal import NewEvent
from ui_mcp.agent.journal_store import JournalStore, journal_place
from ui_mcp.chat.identity import ROLES, AccessTokens
from ui_mcp.chat.message import Draft
from ui_mcp.chat.service import ReadRequest
from ui_mcp.person import PersonKeys

pytestmark = pytest.mark.slow
BELOW = """async (log) => {
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    return log.scrollHeight - log.scrollTop - log.clientHeight;
}"""
"""How many pixels of the conversation are below what is seen, once the page is drawn."""
AXE = Path(__file__).parents[3] / "web" / "node_modules" / "axe-core" / "axe.min.js"
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

HOSTILE = """\
<script>window.harmed = 1</script> <img src="https://evil.example/a.png" onerror="window.harmed = 2">

![pixel](https://evil.example/pixel.png) [run](javascript:window.harmed=3) [data](data:text/html,<script>1</script>)
[tab](java\tscript:alert(1)) <a href="javascript:window.harmed=4">html</a> [fine](https://example.org/a_(b)?c=1)

```html
<script>window.harmed = 5</script>
```
"""


async def complaints(page: Page) -> list[list[str]]:
    """What axe finds wrong with the page as it stands."""
    if not AXE.is_file():
        missing("axe-core")
    await page.evaluate(SETTLED)
    await page.evaluate(AXE.read_text(encoding="utf-8"))
    run = "axe.run().then((result) => result.violations.map(({ id, nodes }) => [id, String(nodes[0].target)]))"
    found: list[list[str]] = await page.evaluate(run)
    return found


async def send(page: Page, text: str) -> None:
    await page.get_by_label("Message").fill(text)
    await page.keyboard.press("Enter")


@pytest.mark.covers("CHAT-PAGE-1", "R-UI-3", "R-UI-6")
async def test_a_message_is_shown_once_and_its_receipt_follows_the_agent(room: Room) -> None:
    page = await room.open()
    await expect(page.get_by_text("No messages yet")).to_be_visible()

    await send(page, "Deploy **now**?")
    await expect(page.locator(".chat-user")).to_have_count(1)
    await expect(page.get_by_label("Waiting for an agent", exact=True)).to_be_visible()
    await room.agent_reads()
    await expect(page.get_by_label("Read by the agent")).to_be_visible()
    await room.answer("Deploying.")

    await expect(page.locator(".chat-assistant")).to_have_text("AgentDeploying." + await _time(page))
    await expect(page.locator(".chat-user strong")).to_have_text("now")
    stored = (await room.chat.read(HUMAN, ReadRequest())).messages
    assert [message.content for message in stored] == ["Deploy **now**?", "Deploying."]


async def _time(page: Page) -> str:
    return await page.locator(".chat-assistant time").inner_text()


@pytest.mark.covers("R-UI-7")
async def test_scripts_remote_images_and_script_links_stay_inert(room: Room) -> None:
    await room.answer(HOSTILE)
    page = await room.open()
    body = page.locator(".chat-assistant .chat-body")
    await expect(body).to_contain_text("<script>window.harmed = 1</script>")

    await expect(body.locator("a")).to_have_count(3)
    for anchor in await body.locator("a").all():
        href = await anchor.get_attribute("href")
        assert href is not None
        assert href.startswith("https://")
        assert "noopener" in (await anchor.get_attribute("rel") or "")
    await body.get_by_text("run", exact=True).click()

    assert await page.evaluate("window.harmed") is None
    assert await body.locator("script, img, iframe, object, [onerror], [onclick], [style]").count() == 0
    assert await body.locator("pre .code-string, pre .code-keyword, pre code").count() >= 1
    assert room.foreign == []


@pytest.mark.covers("CHAT-PAGE-2")
async def test_older_messages_come_when_scrolling_up_and_the_view_stays_put(room: Room) -> None:
    await room.say(*[f"message {n}" for n in range(100)])
    await room.say(*[f"message {n}" for n in range(100, 120)])
    page = await room.open()
    await expect(page.locator(".chat-message")).to_have_count(50)
    await expect(page.get_by_text("message 119", exact=True)).to_be_in_viewport()

    await page.locator(".chat-log").focus()
    await page.keyboard.press("Home")
    await expect(page.locator(".chat-message")).to_have_count(100)
    await expect(page.get_by_text("message 70", exact=True)).to_be_in_viewport()
    await page.keyboard.press("Home")

    await expect(page.locator(".chat-message")).to_have_count(120)
    await expect(page.get_by_role("button", name="Earlier messages")).to_be_hidden()


async def test_the_newest_message_stays_in_view_when_a_keyboard_takes_room(room: Room) -> None:
    await room.say(*[f"message {number}" for number in range(20)])
    page = await room.open()
    log = page.locator(".chat-log")
    await expect(page.get_by_text("message 19", exact=True)).to_be_in_viewport()
    await page.set_viewport_size({"width": 390, "height": 420})
    assert await log.evaluate(BELOW) <= 1

    # Who reads further up is not moved.
    await log.evaluate("e => { e.scrollTop = 0 }")
    assert await log.evaluate(BELOW) > 100
    await page.set_viewport_size({"width": 390, "height": 360})
    assert await log.evaluate(BELOW) > 100


@pytest.mark.covers("R-UI-6")
async def test_without_the_stream_the_page_polls(room: Room) -> None:
    context = await room.browser.new_context()
    page = await context.new_page()
    await page.route("**/chat/stream*", _abort)
    await page.goto(link(room.url))
    await expect(page.get_by_text("No messages yet")).to_be_visible()

    await room.answer("by polling")

    await expect(page.get_by_text("by polling")).to_be_visible()
    await expect(page.get_by_role("status")).to_be_hidden()


async def _abort(route: Route) -> None:
    await route.abort()


@pytest.mark.covers("CHAT-PAGE-1")
async def test_a_message_that_could_not_be_sent_is_sent_again_once(room: Room) -> None:
    page = await room.open()
    await page.route("**/chat/messages", _abort)
    await send(page, "important")
    await expect(page.locator(".chat-failed")).to_have_count(1)

    await page.unroute("**/chat/messages")
    await page.get_by_role("button", name="Send again").click()

    await expect(page.locator(".chat-failed, .chat-sending")).to_have_count(0)
    await expect(page.locator(".chat-user")).to_have_count(1)


@pytest.mark.covers("CHAT-PAGE-3")
async def test_the_page_needs_no_mouse_and_fits_a_phone(room: Room) -> None:
    await room.answer(
        "| a | b |\n|---|---|\n| " + "x" * 200 + " | y |\n\n```python\n" + "print('long') # " * 20 + "\n```"
    )
    page = await room.open(width=360, height=640)
    await expect(page.get_by_label("Message")).to_be_focused()

    await page.keyboard.type("first")
    await page.keyboard.press("Shift+Enter")
    await page.keyboard.type("second")
    await page.keyboard.press("Enter")
    await expect(page.locator(".chat-user .chat-body")).to_have_text("first\nsecond")
    await page.keyboard.press("ArrowUp")
    await expect(page.get_by_label("Message")).to_have_value("first\nsecond")

    await page.locator(".chat-log").focus()
    await page.keyboard.press("/")
    await expect(page.get_by_label("Message")).to_be_focused()
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.covers("CHAT-PAGE-4")
async def test_the_chat_asks_for_a_code_or_a_token_and_shows_neither_in_the_address(room: Room) -> None:
    page = await room.open(known=False)
    field = page.get_by_label("Code or token")
    await field.fill("AAAA-BBBB-CCCC-DDDD")
    await page.get_by_role("button", name="Open").click()
    await expect(page.get_by_role("alert")).to_contain_text("This code is not valid")
    await field.fill(PersonKeys().new_code())
    await page.get_by_role("button", name="Open").click()
    await expect(field).to_be_hidden()
    await send(page, "it is me")
    await expect(page.get_by_label("Waiting for an agent", exact=True)).to_be_visible()

    token = await AccessTokens(room.chat.store).create("alice", ROLES["human"])
    other = await room.open(known=False)
    await other.get_by_label("Code or token").fill(token)
    await other.get_by_role("button", name="Open").click()
    await send(other, "and me")
    await expect(other.get_by_label("Waiting for an agent", exact=True)).to_have_count(2)

    for given in (link(room.url), f"{room.url}/chat#code={await AccessTokens(room.chat.store).code('alice')}"):
        linked, stolen = [await (await room.browser.new_context()).new_page() for _ in range(2)]
        await linked.goto(given)
        await expect(linked.get_by_text("it is me")).to_be_visible()
        await stolen.goto(given)
        await expect(stolen.get_by_label("Code or token")).to_be_visible()
        assert (linked.url, stolen.url) == (f"{room.url}/chat", f"{room.url}/chat")


@pytest.mark.covers("CHAT-PAGE-4")
async def test_the_page_says_when_the_server_is_gone_and_goes_on_when_it_is_back(tmp_path: Path, room: Room) -> None:
    (port,) = free_ports(1)
    async with chat_server(tmp_path / "other", port) as (_, url):
        page = await (await room.browser.new_context()).new_page()
        await page.goto(link(url))
        await expect(page.get_by_text("No messages yet")).to_be_visible()
    await expect(page.get_by_role("status")).to_contain_text("cannot be reached")

    async with chat_server(tmp_path / "other", port) as (chat, _):
        await chat.post(AGENT, "assistant", "default", [Draft("back again")])
        await expect(page.get_by_text("back again")).to_be_visible()
        await expect(page.get_by_role("status")).to_be_hidden()


@pytest.mark.covers("CHAT-PAGE-3")
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_axe_finds_nothing_to_complain_about(room: Room, scheme: Scheme) -> None:
    if not AXE.is_file():
        missing("axe-core")
    await room.say("**Deploy** now?")
    await room.answer("# Plan\n\n- build `main`\n\n```py\nx = 1  # one\ny = 'two'\n```\n\n[more](https://example.org)")
    context = await room.browser.new_context(color_scheme=scheme, bypass_csp=True)
    page = await context.new_page()
    await page.goto(link(room.url))
    await expect(page.locator(".chat-message")).to_have_count(2)
    await page.evaluate(SETTLED)
    await page.add_script_tag(path=AXE)

    found = await page.evaluate("axe.run().then((result) => result.violations.map(({ id, help }) => [id, help]))")

    assert found == []


@pytest.mark.covers("R-UI-5", "R-BR-4")
@pytest.mark.parametrize("known", [True, False])
async def test_a_person_sees_why_no_answer_comes(room: Room, tmp_path: Path, *, known: bool) -> None:
    """Here an error of the model, and a call that waits for them; signed in at once, or later with a token."""
    page = await room.open(known=known)
    if not known:
        token = await AccessTokens(room.chat.store).create("phone", ROLES["human"])
        await page.get_by_label("Code or token").fill(token)
        await page.get_by_role("button", name="Open").click()
    await room.say("Deploy now?")
    await expect(page.get_by_text("Deploy now?")).to_be_visible()

    journal = JournalStore(journal_place(None, tmp_path))
    lease = await journal.take_lease("default", "a test", 60)
    assert lease
    call = {"call_id": "1", "name": "shop__deploy", "args": {}}
    asked = {"approval_id": "a1", "call_id": "1", "tool": "shop__deploy", "args": {}, "digest": "d"}
    await journal.append("default", lease, [NewEvent("notice", {"level": "error", "text": "The key is refused"})])
    await journal.append("default", lease, [NewEvent("tool_call", call), NewEvent("approval_requested", asked)])
    await journal.close()

    await expect(page.get_by_text("The key is refused")).to_be_visible()
    await expect(page.get_by_text("shop__deploy").first).to_be_visible()
    await expect(page.get_by_role("button", name="Approve")).to_have_count(0)


@pytest.mark.covers("R-LIVE-1")
@pytest.mark.parametrize(("width", "scheme"), [(1000, "light"), (1000, "dark"), (390, "light")])
async def test_an_answer_grows_while_the_model_writes_it(
    room: Room, tmp_path: Path, width: int, scheme: Scheme
) -> None:
    if not AXE.is_file():
        missing("axe-core")
    journal = JournalStore(journal_place(None, tmp_path))
    lease = await journal.take_lease("default", "a test", 60)
    assert lease
    await room.say("How do I deploy?")
    context = await room.browser.new_context(
        viewport={"width": width, "height": 700}, color_scheme=scheme, bypass_csp=True
    )
    page = await context.new_page()
    await page.goto(link(room.url))
    again = {"reason": "The model is busy (429)", "seconds": 40.0, "attempt": 2, "attempts": 6}
    await journal.set_live("default", {"retrying": again})
    await expect(page.get_by_text("The model is busy (429). Trying again in 40 s, 2 of 6")).to_be_visible()
    await journal.set_live("default", {"text": "Run `make deploy`, then **wait** for"})
    writing = page.locator(".chat-writing")
    await expect(writing).to_contain_text("Run make deploy, then wait for")
    await page.evaluate(SETTLED)
    await page.add_script_tag(path=AXE)
    problems = await page.evaluate("axe.run().then((result) => result.violations.map(({ id, help }) => [id, help]))")
    await room.answer("Run `make deploy`, then **wait** for the tests.")
    await expect(writing).to_have_count(0)
    await expect(page.locator(".chat-assistant")).to_contain_text("the tests.")
    await journal.close()

    assert problems == []


@pytest.mark.covers("CHAT-FILE-4", "CHAT-PROMPT-1")
@pytest.mark.parametrize(("width", "scheme"), [(1000, "light"), (390, "dark")])
async def test_files_and_saved_prompts_are_sent_with_a_message(room: Room, width: int, scheme: Scheme) -> None:
    page = await room.open(width=width, scheme=scheme)
    await page.get_by_label("Message").fill("/")
    await page.get_by_role("option", name="Edit prompts").click()
    await page.get_by_label("Name").fill("Look")
    await page.get_by_label("Text", exact=True).fill("What is in this picture?")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("Saved.")).to_be_visible()
    assert await complaints(page) == []
    await page.keyboard.press("Escape")
    await page.get_by_label("Message").fill("/lo")
    await page.get_by_role("option", name="What is in this picture?").wait_for()
    await page.keyboard.press("Enter")
    await expect(page.get_by_label("Message")).to_have_value("What is in this picture?")
    picture = FilePayload(name="photo.png", mimeType="image/png", buffer=PNG)
    await page.get_by_label("Files to attach").set_input_files(picture)
    await page.get_by_role("button", name="Remove photo.png").wait_for()
    assert await complaints(page) == []
    await page.get_by_label("Message").press("Enter")

    await expect(page.locator(".chat-user").get_by_role("img", name="photo.png")).to_be_visible()
    await expect(page.locator(".chat-user")).to_contain_text("What is in this picture?")
    await page.reload()
    await expect(page.locator(".chat-user").get_by_role("img", name="photo.png")).to_be_visible()
    (message,) = (await room.chat.read(HUMAN, ReadRequest())).messages
    assert message.content.startswith("What is in this picture?\n\n[photo.png](attachment:")

    await page.locator(".chat-user").hover()
    await page.get_by_role("button", name="Edit and send again").click()
    await page.get_by_role("button", name="Remove photo.png").wait_for()
    await page.get_by_label("Message").fill("And the colours?")
    await page.get_by_label("Message").press("Enter")
    await expect(page.locator(".chat-user").get_by_role("img", name="photo.png")).to_have_count(2)
