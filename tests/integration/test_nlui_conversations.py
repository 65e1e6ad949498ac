"""Conversations of NLUI: their own settings, brought in from files, and the prompt library."""

from pathlib import Path
from typing import Any

import httpx2
import pytest

from integration.nlui import nlui
from integration.test_nlui_attachments import PNG, configured, send, upload, vendor
from person_client import person

pytestmark = pytest.mark.slow


@pytest.mark.covers("CHAT-SET-1")
def test_a_conversation_has_its_own_model_instructions_and_temperature_after_a_restart_too(tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = []
    wanted = {"model": {"model": "other"}, "instructions": "Answer in French.", "temperature": 0.5}
    with vendor(asked) as base:
        configured(tmp_path, base)
        with nlui(tmp_path, "--port", "0") as url, person(url) as chat:
            assert chat.put("/api/conversations/c-1/settings", json=wanted).json() == wanted
            send(chat, "c-1", "Hello")
            send(chat, "c-2", "Hello")
        with nlui(tmp_path, "--port", "0") as url, person(url) as chat:
            assert chat.get("/api/conversations/c-1/settings").json() == wanted
            send(chat, "c-1", "Again")

    own, plain, later = asked
    assert (own["model"], own["temperature"]) == (later["model"], later["temperature"]) == ("other", 0.5)
    assert "Answer in French." in own["messages"][0]["content"]
    assert plain["model"] == "m"
    assert "temperature" not in plain
    assert "French" not in plain["messages"][0]["content"]


@pytest.mark.covers("CHAT-SET-1")
def test_a_conversation_whose_budget_is_used_up_asks_no_model_until_it_is_raised(tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = []
    with vendor(asked, usage={"prompt_tokens": 90, "completion_tokens": 10}) as base:
        configured(tmp_path, base)
        with nlui(tmp_path, "--port", "0") as url, person(url) as chat:
            chat.put("/api/conversations/c-1/settings", json={"max_tokens": 100})
            send(chat, "c-1", "one")
            refused = send(chat, "c-1", "two").text
            count = len(asked)
            chat.put("/api/conversations/c-1/settings", json={"max_tokens": 1000})
            answered = send(chat, "c-1", "three").text

    assert "The budget of this conversation is used up: 100 of 100 tokens." in refused
    assert count == 1
    assert "Seen." in answered


@pytest.mark.covers("CHAT-SET-1")
def test_another_server_gets_no_key_of_the_configured_one(tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = []
    with vendor(asked) as base, vendor(asked) as other:
        configured(tmp_path, base)
        with nlui(tmp_path, "--port", "0") as url, person(url) as chat:
            choice = {"provider": "openai", "api_base": other, "model": "elsewhere"}
            chat.put("/api/conversations/c-1/settings", json={"model": choice})
            send(chat, "c-1", "Hello")

    assert [(one["model"], one["key"]) for one in asked] == [("elsewhere", "Bearer none")]


@pytest.mark.covers("CHAT-SET-1")
@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"temperature": 3}, "temperature"),
        ({"model": {"provider": "openaii"}}, "provider"),
        ({"model": {"api_key_env": "HOME"}}, "HOME"),
        ({"budget": 1}, "budget"),
    ],
)
def test_settings_that_cannot_be_used_are_refused_by_name(tmp_path: Path, body: dict[str, Any], words: str) -> None:
    configured(tmp_path, "http://127.0.0.1:9/v1")
    with nlui(tmp_path, "--port", "0") as url, person(url) as chat:
        answer = chat.put("/api/conversations/c-1/settings", json=body)

    assert answer.status_code == 400
    assert words in answer.json()["error"]


@pytest.mark.covers("CHAT-IMPORT-1")
def test_conversations_of_other_products_are_brought_in_and_continued(tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = []
    chatgpt = {
        "title": "Tea",
        "current_node": "3",
        "mapping": {
            "1": {"message": None, "parent": None},
            "2": {"message": {"author": {"role": "user"}, "content": {"parts": ["Which tea?"]}}, "parent": "1"},
            "x": {"message": {"author": {"role": "assistant"}, "content": {"parts": ["Left."]}}, "parent": "2"},
            "3": {"message": {"author": {"role": "assistant"}, "content": {"parts": ["Green."]}}, "parent": "2"},
        },
    }
    claude = {
        "name": "Milk",
        "chat_messages": [{"sender": "human", "text": "Milk?"}, {"sender": "assistant", "text": "Yes."}],
    }
    with vendor(asked) as base:
        configured(tmp_path, base)
        with nlui(tmp_path, "--port", "0") as url, person(url) as chat:
            answer = chat.post("/api/conversations/import", json=[chatgpt, claude])
            assert answer.status_code == 201, answer.text
            tea, milk = answer.json()["conversations"]
            titles = {one["id"]: one["title"] for one in chat.get("/api/conversations").json()}
            found = [one["id"] for one in chat.get("/api/conversations", params={"q": "green"}).json()]
            send(chat, tea, "And sugar?")
            again = chat.put(f"/api/conversations/{milk}/messages/0", json={"content": "Oat milk?"})

    assert titles == {tea: "Tea", milk: "Milk"}
    assert found == [tea]
    said = [(one["role"], one["content"]) for one in asked[0]["messages"][1:]]
    assert said == [("user", "Which tea?"), ("assistant", "Green."), ("user", "And sugar?")]
    assert again.is_success


@pytest.mark.covers("CHAT-IMPORT-1")
def test_an_exported_conversation_comes_back_with_its_files(tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = []
    with vendor(asked) as base:
        configured(tmp_path, base, vision="on")
        with nlui(tmp_path, "--port", "0") as url, person(url) as chat:
            photo = upload(chat, "photo.png", PNG)
            send(chat, "c-1", "Look", photo)
            saved = chat.get("/api/conversations/c-1/export", params={"format": "json"}).json()
            chat.delete("/api/conversations/c-1")
            (name,) = chat.post("/api/conversations/import", json=saved).json()["conversations"]
            messages = chat.get(f"/api/conversations/{name}").json()["messages"]
            kept = chat.get(f"/api/attachments/{photo['id']}").content

    assert [one["role"] for one in messages] == ["user", "assistant"]
    assert messages[0]["content"] == f"Look\n\n[photo.png](attachment:{photo['id']})"
    assert kept == PNG


@pytest.mark.covers("CHAT-IMPORT-1")
def test_a_file_without_conversations_is_refused_with_what_is_understood(tmp_path: Path) -> None:
    configured(tmp_path, "http://127.0.0.1:9/v1")
    with nlui(tmp_path, "--port", "0") as url, person(url) as chat:
        answer = chat.post("/api/conversations/import", json={"orders": []})

    assert answer.status_code == 400
    assert "ChatGPT" in answer.json()["error"]


@pytest.mark.covers("CHAT-PROMPT-1")
def test_prompts_are_kept_and_read_by_the_person_alone(tmp_path: Path) -> None:
    configured(tmp_path, "http://127.0.0.1:9/v1")
    with nlui(tmp_path, "--port", "0") as url:
        with person(url) as chat:
            chat.put("/api/prompts/Review", json={"text": "Review this."})
            chat.put("/api/prompts/a%20plan", json={"text": "Plan it."})
            chat.delete("/api/prompts/Review")
            gone = chat.delete("/api/prompts/Review").status_code
        program = httpx2.put(f"{url}/api/prompts/x", json={"text": "x"}).status_code
    with nlui(tmp_path, "--port", "0") as url, person(url) as chat:
        kept = chat.get("/api/prompts").json()

    assert kept == [{"name": "a plan", "text": "Plan it."}]
    assert gone == 404
    assert program in {401, 403}
