"""Forms of mounted servers in the chat: asked above the composer, answered there, and the answer reaches the server."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from playwright.sync_api import Locator, Page, expect

from e2e.nlui_chat.conftest import Open, complaints, log, say
from integration.nlui import nlui
from person_client import let_in

pytestmark = pytest.mark.slow
SERVER = Path(__file__).parent / "asking_server.py"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("forms")
    script = [
        {"when": {"tool_result": "."}, "emit": [{"say": "The server said: {{tool_result}}"}]},
        {"emit": [{"call": "post__order"}]},
    ]
    config = {
        "data_dir": str(folder / "data"),
        "llm": {"provider": "scripted", "script": script},
        "mcp": {
            "startup_wait_ms": 120_000,
            "servers": [{"name": "post", "command": sys.executable, "args": [str(SERVER)]}],
        },
        "policy": {"mode": "guard", "rules": [{"tool": "post__*", "decision": "allow"}]},
    }
    (folder / "nlui.yaml").write_text(json.dumps(config))
    with nlui(folder, "--port", "0", str(folder / "nlui.yaml")) as url:
        yield url


def form(page: Page) -> Locator:
    return page.get_by_role("region", name="Questions of servers")


@pytest.mark.covers("INBOX-6")
@pytest.mark.parametrize("width", [390, 768, 1280])
def test_a_form_of_a_server_is_answered_in_the_chat(opened: Open, address: str, width: int) -> None:
    page = opened(address, width=width)
    say(page, "order")
    expect(
        form(page).get_by_role("heading", name="The server post asks: How shall the parcel be sent?")
    ).to_be_visible()
    expect(page.get_by_text("Waiting for your answer", exact=True)).to_be_visible()
    assert complaints(page) == []

    form(page).get_by_label("Name on the parcel").fill("Ada")
    form(page).get_by_label("Large").check()
    form(page).get_by_role("button", name="Send").click()

    expect(form(page)).to_be_hidden()
    expect(log(page)).to_contain_text('"action": "accept"')
    expect(log(page)).to_contain_text('"name": "Ada"')


@pytest.mark.covers("INBOX-6")
def test_a_declined_form_is_told_to_the_server(opened: Open, address: str) -> None:
    page = opened(address)
    say(page, "order")
    form(page).get_by_role("button", name="Not now").click()

    expect(log(page)).to_contain_text('"action": "decline"')


@pytest.mark.covers("INBOX-6")
def test_a_stopped_turn_takes_its_form_back(opened: Open, address: str) -> None:
    page = opened(address)
    say(page, "order")
    expect(form(page)).to_be_visible()

    page.get_by_role("button", name="Stop").click()

    expect(form(page)).to_be_hidden()


@pytest.mark.covers("INBOX-6")
def test_only_the_person_reads_and_answers_forms(address: str) -> None:
    with httpx2.Client(base_url=address) as client:
        assert client.get("/inbox").status_code == 401
        assert client.post("/inbox/x/answer", json={"decision": "answer"}).status_code in {401, 403}
        assert client.get("/inbox", headers=let_in(address)).json() == {"questions": []}
