"""Files of messages on the chat page: chosen, dropped, previewed, removed; drafts that outlive failures and reloads."""

import base64
from pathlib import Path

import pytest
from playwright.sync_api import FilePayload, Page, Route, expect

from chromium import Scheme
from e2e.nlui_chat.conftest import Open, complaints, log, say
from integration.nlui import nlui

pytestmark = [pytest.mark.slow, pytest.mark.covers("CHAT-FILE-3")]
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
YAML = "data_dir: ./data\nllm: {provider: scripted, script: [{emit: [{say: 'You said: {{user}}'}]}]}\n"


def attach(page: Page, name: str, data: bytes) -> None:
    page.get_by_label("Files to attach").set_input_files(FilePayload(name=name, mimeType="", buffer=data))


def arrive_unanswered(route: Route) -> None:
    """Let a message arrive, but not its answer."""
    route.fetch()
    route.abort()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "nlui.yaml").write_text(YAML)
    return tmp_path


@pytest.mark.parametrize(("scheme", "width"), [("light", 1100), ("dark", 390)])
def test_a_file_is_shown_before_and_after_it_is_sent(folder: Path, opened: Open, scheme: Scheme, width: int) -> None:
    with nlui(folder, "--port", "0") as url:
        page = opened(url, scheme=scheme, width=width)
        attach(page, "photo.png", PNG)
        attach(page, "notes.txt", b"buy tea")
        files = page.get_by_role("list", name="Attached files")
        expect(files.get_by_role("listitem")).to_have_count(2)
        expect(files.locator("img")).to_have_count(1)
        page.get_by_role("button", name="Remove notes.txt").click()
        assert complaints(page) == []
        say(page, "Look at this")

        expect(page.get_by_role("img", name="photo.png")).to_be_visible()
        expect(log(page).get_by_text("You said: Look at this")).to_be_visible()
        expect(files).to_be_hidden()
        page.reload()
        expect(page.get_by_role("img", name="photo.png")).to_be_visible()
        expect(page.get_by_label("Message", exact=True)).to_have_value("")
        assert complaints(page) == []
        page.close()


def test_text_and_files_survive_a_failed_send_and_a_reload_and_arrive_once(folder: Path, opened: Open) -> None:
    with nlui(folder, "--port", "0") as url:
        page = opened(url, strict=False)
        expect(page.get_by_text("Ask for something")).to_be_visible()
        attach(page, "photo.png", PNG)
        expect(page.get_by_text("uploading…")).to_have_count(0)
        page.route("**/api/chat", arrive_unanswered)
        say(page, "Look at this")
        expect(page.get_by_text("The server cannot be reached.")).to_be_visible()
        expect(page.get_by_label("Message", exact=True)).to_have_value("Look at this")
        expect(page.get_by_role("button", name="Remove photo.png")).to_be_visible()
        page.unroute("**/api/chat")
        page.get_by_label("Message", exact=True).press("Enter")
        expect(page.get_by_label("Message", exact=True)).to_have_value("")
        expect(page.get_by_role("article", name="You")).to_have_count(1)

        attach(page, "notes.txt", b"buy tea")
        page.get_by_label("Message", exact=True).fill("half a thou")
        expect(page.get_by_text("uploading…")).to_have_count(0)
        page.reload()
        expect(page.get_by_label("Message", exact=True)).to_have_value("half a thou")
        expect(page.get_by_role("button", name="Remove notes.txt")).to_be_visible()
        page.get_by_role("button", name="New conversation").click()
        expect(page.get_by_label("Message", exact=True)).to_have_value("")
        page.close()


def test_a_dropped_file_is_taken_and_a_large_one_refused_by_name(folder: Path, opened: Open) -> None:
    with nlui(folder, "--port", "0") as url:
        page = opened(url)
        drop = """(element, [name, size]) => {
            const data = new DataTransfer();
            data.items.add(new File(["x".repeat(size)], name));
            element.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
        }"""
        page.locator("main").evaluate(drop, ["dropped.txt", 5])
        expect(page.get_by_role("button", name="Remove dropped.txt")).to_be_visible()
        page.locator("main").evaluate(drop, ["huge.bin", 10 * 1024 * 1024 + 1])
        expect(page.get_by_text("huge.bin is larger than 10 MB.")).to_be_visible()
        page.close()


@pytest.mark.covers("CHAT-VERSION-1")
def test_versions_of_a_message_are_switched_with_their_answers(folder: Path, opened: Open) -> None:
    with nlui(folder, "--port", "0") as url:
        page = opened(url)
        say(page, "first")
        expect(log(page).get_by_text("You said: first")).to_be_visible()
        page.get_by_role("article", name="You").hover()
        page.get_by_role("button", name="Edit").click()
        page.get_by_label("Edit message").fill("second")
        page.keyboard.press("Enter")
        expect(log(page).get_by_text("You said: second")).to_be_visible()
        versions = page.get_by_role("group", name="Versions")
        expect(versions).to_contain_text("2/2")

        page.get_by_role("button", name="Previous version").click()
        expect(log(page).get_by_text("You said: first")).to_be_visible()
        expect(log(page).get_by_text("You said: second")).to_have_count(0)
        expect(versions).to_contain_text("1/2")
        expect(page.get_by_role("button", name="Previous version")).to_be_disabled()
        say(page, "go on")
        expect(log(page).get_by_text("You said: go on")).to_be_visible()
        page.reload()
        page.get_by_role("button", name="Next version").click()
        expect(log(page).get_by_text("You said: second")).to_be_visible()
        expect(log(page).get_by_text("go on", exact=True)).to_have_count(0)
        assert complaints(page) == []
        page.close()
