"""The page when things are long, slow, drawn or broken."""

import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest
from playwright.sync_api import Page, expect

from chromium import Scheme
from e2e.nlui_chat.conftest import Open, complaints, log, say
from integration.nlui import nlui
from ports import free_ports
from ui_mcp.agent.journal import NewEvent
from ui_mcp.agent.journal_store import JournalStore
from ui_mcp.jsontypes import JsonObject
from ui_mcp.person import PersonKeys

pytestmark = pytest.mark.slow
SLOW = """
data_dir: ./data
llm:
  provider: scripted
  script:
    - when: {user: slowly}
      emit: [{say: "First part. "}, {delay_ms: 2500}, {say: "Second part."}]
    - when: {user: draw}
      emit:
        - say: |
            Here you are.

            ```nlui:table
            [{"city": "Oslo", "when": "2026-01-02", "site": "https://example.com/", "none": null,
              "more": {"a": [1, 2, 3], "b": "0123456789012345678901234567890123456789"}}]
            ```

            ```nlui:kv
            {"name": "Ada", "ok": true}
            ```

            ```nlui:badges
            ["red", "green"]
            ```

            ```nlui:table
            not a table <img src=x onerror=alert(1)>
            ```
    - when: {user: think}
      emit: [{think: "The person wants **thought**. "}, {delay_ms: 1500}, {say: "Done."}, {usage: [1200, 34]}]
    - emit: [{say: "Yes."}]
"""


@contextmanager
def vendor(status: int, body: JsonObject) -> Iterator[str]:
    """A model server that answers every request in one way."""

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))  # left unread, it would reset the connection
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_: object) -> None: ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "nlui.yaml").write_text(SLOW)
    return tmp_path


def test_a_page_reloaded_while_an_answer_streams_ends_with_the_whole_answer(folder: Path, opened: Open) -> None:
    with nlui(folder, "--port", "0") as url:
        page = opened(url)
        say(page, "slowly please")
        expect(log(page).get_by_text("First part.")).to_be_visible()
        page.reload()

        expect(log(page).get_by_text("First part. Second part.")).to_be_visible()
        expect(page.get_by_role("article", name="You")).to_have_count(1)
        page.close()


def test_a_server_killed_while_it_answers_comes_back_and_answers_once(folder: Path, opened: Open) -> None:
    port = str(free_ports(1)[0])
    with nlui(folder, "--port", port, stop="kill") as url:
        page = opened(url, strict=False)
        say(page, "slowly please")
        expect(log(page).get_by_text("First part.")).to_be_visible()
    expect(page.get_by_text("The server cannot be reached. Trying again…")).to_be_visible()

    with nlui(folder, "--port", port):
        expect(log(page).get_by_text("First part. Second part.")).to_have_count(1, timeout=90_000)
        expect(page.get_by_role("article", name="You")).to_have_count(1)
        expect(page.get_by_text("The server cannot be reached")).to_have_count(0)
        say(page, "and now?")
        expect(log(page).get_by_text("Yes.")).to_be_visible()


@pytest.mark.covers("GW-REN-1", "GW-REN-2", "GW-REN-3")
def test_a_model_draws_tables_cards_and_badges_and_nothing_else(folder: Path, opened: Open) -> None:
    with nlui(folder, "--port", "0") as url:
        page = opened(url)
        say(page, "draw")

        expect(page.get_by_role("table")).to_have_count(1)
        expect(page.locator("td time")).to_have_attribute("datetime", "2026-01-02")
        expect(page.get_by_role("link", name="https://example.com/")).to_have_attribute("rel", "noopener noreferrer")
        expect(page.locator("td details summary")).to_contain_text("…")
        expect(page.locator("dl.nlui-card")).to_contain_text("Ada")
        expect(page.locator(".nlui-badges")).to_have_text(["redgreen"])
        expect(page.locator("pre", has_text="not a table")).to_be_visible()
        assert page.locator("img").count() == 0
        page.close()


@pytest.mark.covers("CHAT-CHART-1")
@pytest.mark.parametrize(("scheme", "width"), [("light", 1100), ("dark", 390)])
def test_an_answer_with_numbers_is_drawn_as_a_chart(folder: Path, opened: Open, scheme: Scheme, width: int) -> None:
    rows = [{"month": "Jan", "food": 320, "travel": 80}, {"month": "Feb", "food": 290, "travel": 410}]
    block = json.dumps({"type": "stacked", "label": "Spending", "rows": rows})
    text = f"Your spending:\n\n```nlui:chart\n{block}\n```\n"
    script = [{"emit": [{"say": text}]}]
    (folder / "nlui.yaml").write_text(
        json.dumps({"data_dir": "./data", "llm": {"provider": "scripted", "script": script}})
    )
    with nlui(folder, "--port", "0") as url:
        page = opened(url, scheme=scheme, width=width)
        say(page, "draw")

        chart = page.locator("ui-chart")
        expect(chart.locator("canvas")).to_be_visible()
        expect(chart.locator("table")).to_contain_text("320")
        box = chart.bounding_box()
        assert box is not None
        assert box["height"] > 200
        assert box["x"] + box["width"] <= width
        assert complaints(page) == []
        page.close()


@pytest.mark.covers("NLUI-PAGE-1")
def test_ten_thousand_messages_keep_the_document_small(folder: Path, opened: Open) -> None:
    # Playwright has an event loop in this thread already.
    writing = threading.Thread(target=anyio.run, args=(_live_long, folder / "data" / "agent.db"))
    writing.start()
    writing.join()
    with nlui(folder, "--port", "0") as url:
        page = opened(f"{url}/#big")
        expect(log(page).get_by_text("Answer 4999", exact=True)).to_be_in_viewport()
        assert _slots(page) < 60
        nodes = page.evaluate("document.querySelectorAll('*').length")
        assert nodes < 1500

        log(page).focus()
        page.keyboard.press("Home")
        expect(log(page).get_by_text("Question 0", exact=True)).to_be_in_viewport()
        page.keyboard.press("ArrowDown")
        expect(page.get_by_role("article", name="Assistant").first).to_be_focused()
        for _ in range(30):
            page.mouse.move(600, 400)
            page.mouse.wheel(0, 3000)
        expect(log(page).get_by_text("Question 0", exact=True)).to_have_count(0)
        assert _slots(page) < 60

        page.keyboard.press("Control+f")
        page.get_by_label("Find in this conversation").fill("Question 1234")
        expect(log(page).get_by_text("Question 1234", exact=True)).to_be_in_viewport()
        expect(page.get_by_text("1 of 1", exact=True)).to_be_visible()
        page.keyboard.press("Escape")
        say(page, "still there?")
        log(page).focus()
        page.keyboard.press("End")
        expect(log(page).get_by_text("Yes.")).to_be_in_viewport()
        assert _slots(page) < 60
        page.close()


async def _live_long(file: Path) -> None:
    journal = JournalStore(file)
    lease = await journal.take_lease("big", "test", 0.0)
    assert lease is not None
    events = [
        event
        for number in range(5000)
        for event in (
            NewEvent("user_text", {"message_id": f"m{number}", "mime": "text/plain", "text": f"Question {number}"}),
            NewEvent("ui_message", {"message_id": f"a{number}", "mime": "text/markdown", "md": f"Answer {number}"}),
        )
    ]
    await journal.append("big", lease, [*events, NewEvent("ui_end_turn", {"reason": "yield"})])
    await journal.close()


def _slots(page: Page) -> int:
    return page.locator(".nlui-slot").count()


def test_a_model_that_is_down_or_refuses_the_key_is_told_in_the_conversation(folder: Path, opened: Open) -> None:
    refusal = {"error": {"message": "Incorrect API key provided"}}
    with vendor(401, refusal) as base:
        llm = f"data_dir: ./data\nllm: {{provider: openai, api_base: {base}, model: m, api_key: wrong-key-wrong}}\n"
        (folder / "nlui.yaml").write_text(llm)
        with nlui(folder, "--port", "0") as url:
            page = opened(url)
            say(page, "hello")
            expect(log(page).get_by_text("Incorrect API key provided")).to_be_visible()
            told = log(page).get_by_role("alert")
            what, way_out = told.inner_text().split("\n")
            assert "401" in what
            assert "llm.api_key" in way_out
            quiet = "getComputedStyle(document.querySelector('.nlui-statusbar')).color"
            assert told.evaluate("shown => getComputedStyle(shown).color") != page.evaluate(quiet)

            page.get_by_role("button", name="Change").click()
            page.get_by_role("button", name="Test the connection").click()
            expect(page.get_by_text("The key is refused.")).to_be_visible()
            page.get_by_label("Address").fill("http://127.0.0.1:9/v1")
            page.get_by_role("button", name="Test the connection").click()
            expect(page.get_by_text("Cannot reach the model server at http://127.0.0.1:9/v1")).to_be_visible()
            page.get_by_label("Vendor").select_option("Scripted demo")
            page.get_by_role("button", name="Test the connection").click()
            expect(page.get_by_text("Answered in")).to_be_visible()
            page.close()


def test_an_api_that_is_down_is_shown_as_failed_and_can_be_removed(folder: Path, opened: Open) -> None:
    with nlui(folder, "--port", "0") as url:
        page = opened(url)
        expect(page.get_by_text("No APIs or servers yet.")).to_be_visible()
        page.get_by_role("button", name="Add an API").click()
        page.get_by_label("Address").fill("http://127.0.0.1:9")
        page.get_by_label("Name").fill("gone")
        page.get_by_role("button", name="Add", exact=True).click()
        expect(page.get_by_text("gone was added, but: Nothing answers at http://127.0.0.1:9")).to_be_visible()
        page.get_by_role("button", name="Cancel").click()

        expect(page.get_by_role("img", name="failed")).to_be_visible()
        page.on("dialog", lambda dialog: dialog.accept())
        page.locator("summary", has_text="gone").click()
        page.get_by_role("button", name="Remove").click()
        expect(page.get_by_text("No APIs or servers yet.")).to_be_visible()
        page.close()


@pytest.mark.covers("GW-API-8")
@pytest.mark.parametrize(("scheme", "width"), [("light", 1100), ("dark", 390)])
def test_an_mcp_server_is_added_by_its_address_and_removed_again(
    folder: Path, opened: Open, url: str, scheme: Scheme, width: int
) -> None:
    with nlui(folder, "--port", "0") as own:
        page = opened(own, scheme=scheme, width=width)
        if width < 600:
            page.get_by_role("button", name="Conversations and tools").click()
        page.get_by_role("button", name="Add a server").click()
        page.get_by_label("Address").fill(f"{url}/mcp")
        page.get_by_label("Name").fill("other")
        assert complaints(page) == []
        page.get_by_role("button", name="Add", exact=True).click()
        expect(page.get_by_role("img", name="active")).to_be_visible(timeout=60_000)

        page.on("dialog", lambda dialog: dialog.accept())
        page.locator("summary", has_text="other").click()
        expect(page.get_by_text("shop__list_orders")).to_be_visible()
        page.get_by_role("button", name="Remove").click()
        expect(page.get_by_text("No APIs or servers yet.")).to_be_visible()
        page.close()


def test_the_page_asks_for_a_code_and_goes_on_once_it_is_right(folder: Path, opened: Open) -> None:
    with nlui(folder, "--port", "0") as url:
        page = opened(url, known=False, strict=False, width=390)
        expect(page.get_by_role("heading", name="Confirm that it")).to_be_visible()
        assert complaints(page) == []
        page.get_by_label("Code").fill("AAAA-BBBB-CCCC-DDDD")
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("This code is not valid")
        page.get_by_label("Code").fill(PersonKeys().new_code())
        page.keyboard.press("Enter")
        expect(page.get_by_label("Message", exact=True)).to_be_focused()
        say(page, "hello")
        expect(log(page).get_by_text("Yes.")).to_be_visible()

        page.get_by_role("button", name="Conversations and tools").click()
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_role("alert")).to_have_text("You are signed out.")
        page.goto(f"{url}/#code={PersonKeys().new_code()}")
        expect(page.get_by_label("Message", exact=True)).to_be_focused()
        assert "code" not in page.url


def test_with_a_token_the_person_needs_none(folder: Path, opened: Open) -> None:
    (folder / "nlui.yaml").write_text(f"{SLOW}\nserver: {{token: t0ken-t0ken}}\n")
    with nlui(folder, "--port", "0") as url:
        page = opened(url)
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(245, 246, 249)"
        expect(page.get_by_label("Message", exact=True)).to_be_focused()

        say(page, "hello")
        expect(log(page).get_by_text("Yes.")).to_be_visible()
        page.close()


@pytest.mark.covers("UI-HTTP-14", "UI-PAGE-3")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_unknown_address_has_the_look_of_the_chat_and_leads_back_to_it(opened: Open, url: str, scheme: str) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    lost = opened(url, scheme=scheme, width=390, strict=False)
    look = lost.evaluate(background)

    lost.goto(f"{url}/<b>{'x' * 100}")

    expect(lost.get_by_role("heading", name="Not found")).to_be_visible()
    expect(lost.locator("main")).to_contain_text("/<b>xxx")
    assert lost.evaluate(background) == look
    assert lost.evaluate("document.documentElement.scrollWidth") == 390
    assert complaints(lost) == []
    lost.get_by_role("link", name="Go to the start page").click()
    expect(lost.get_by_text("Ask for something")).to_be_visible()


@pytest.mark.covers("UI-PAGE-3")
def test_the_button_that_chooses_a_file_looks_and_answers_like_every_button(page: Page) -> None:
    page.get_by_role("button", name="Add an API").click()
    file, other = page.get_by_label("or its OpenAPI document"), page.get_by_role("button", name="Cancel")
    look = """(element, part) => {
        const { borderTopColor, borderRadius, backgroundColor, color, cursor } = getComputedStyle(element, part);
        return { borderTopColor, borderRadius, backgroundColor, color, cursor };
    }"""
    choosing, usual = "::file-selector-button", None

    assert file.evaluate(look, choosing) == other.evaluate(look, usual)
    file.hover(position={"x": 30, "y": 18})
    pointed_at = file.evaluate(look, choosing)
    other.hover()
    assert pointed_at == other.evaluate(look, usual)
    assert pointed_at != file.evaluate(look, choosing)


@pytest.mark.covers("R-UI-12")
@pytest.mark.parametrize(("scheme", "width"), [("light", 1100), ("dark", 390)])
def test_reasoning_is_folded_while_it_arrives_and_stays_with_the_answer(
    folder: Path, opened: Open, scheme: Scheme, width: int
) -> None:
    with nlui(folder, "--port", "0") as url:
        page = opened(url, scheme=scheme, width=width)
        say(page, "think")
        expect(page.get_by_text("Thinking…")).to_be_visible()

        expect(log(page).get_by_text("Done.")).to_be_visible(timeout=90_000)
        reasoning = page.get_by_role("article", name="Reasoning")
        expect(reasoning).to_contain_text("1,200 tokens in, 34 out")
        expect(reasoning.locator("strong")).to_be_hidden()
        reasoning.locator("summary").click()
        expect(reasoning.locator("strong")).to_be_visible()
        page.reload()
        expect(page.get_by_role("article", name="Reasoning")).to_be_visible()
        assert complaints(page) == []
        page.close()
