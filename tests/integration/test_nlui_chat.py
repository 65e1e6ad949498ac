"""The chat API of nlui: one message and everything that comes of it."""

import json
import re
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from websockets.sync.client import connect
from websockets.typing import Origin

from integration.gateway_upstreams.test_odd_servers import SERVER as ODD_SERVER
from integration.nlui import nlui, nlui_demo
from person_client import person

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def chat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    with nlui_demo(tmp_path_factory.mktemp("nlui")) as url, person(url) as client:
        yield client


def events(chat: httpx2.Client, message: str, **body: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Say something and yield the events of the answer."""
    with chat.stream("POST", "/api/chat", json={"message": message, **body}) as answer:
        assert answer.status_code == 200
        name = ""
        for line in answer.iter_lines():
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                yield name, json.loads(line.removeprefix("data: "))


def test_a_question_is_answered_with_a_tool_and_text(chat: httpx2.Client) -> None:
    seen = list(events(chat, "show the orders"))

    names = [name for name, _ in seen if name != "content_delta"]
    assert names == ["session", "usage", "tool_call", "tool_result", "usage", "content", "done"]
    assert dict(seen)["usage"] == {"prompt_tokens": 580, "completion_tokens": 42, "total_tokens": 622}
    result = dict(seen)["tool_result"]
    assert result["name"] == "shop__list_orders"
    assert "Ada Lovelace" in json.dumps(result["result"])
    assert "".join(data["delta"] for name, data in seen if name == "content_delta") == dict(seen)["content"]["text"]


@pytest.mark.covers("GW-UPS-1", "GW-API-1")
def test_the_model_calls_a_tool_of_a_mounted_server(tmp_path: Path) -> None:
    script = [{"when": {"user": "."}, "emit": [{"call": "good__pid"}]}, {"emit": [{"say": "It is there."}]}]
    server = {"name": "good", "command": sys.executable, "args": [ODD_SERVER, "good"]}
    settings = {"data_dir": "./data", "llm": {"provider": "scripted", "script": script}, "mcp": {"servers": [server]}}
    (tmp_path / "nlui.yaml").write_text(json.dumps(settings))

    with nlui(tmp_path, "--port", "0") as url, person(url) as client:
        seen = dict(events(client, "who are you?"))

    assert seen["tool_result"]["name"] == "good__pid"
    assert re.search(r"\d+", json.dumps(seen["tool_result"]["result"]))
    assert seen["content"]["text"] == "It is there."


def test_a_message_sent_again_is_answered_again_and_not_asked_twice(chat: httpx2.Client) -> None:
    first = dict(events(chat, "show the orders", client_id="retry"))
    conversation = first["done"]["conversation_id"]
    again = list(events(chat, "show the orders", client_id="retry", conversation_id=conversation))

    assert [name for name, _ in again] == ["session", "tool_call", "tool_result", "content", "done"]
    assert dict(again)["content"] == first["content"]


def test_a_call_that_changes_something_waits_for_a_yes(chat: httpx2.Client) -> None:
    names: list[str] = []
    for name, data in events(chat, "ship order 3"):
        names.append(name)
        if name == "tool_confirm":
            assert json.loads(data["arguments"]) == {"id": 3}
            reply = {"session_id": data["session_id"], "approved": True}
            assert chat.post("/api/chat/confirm", json=reply).json()["status"] == "approved"
            assert chat.post("/api/chat/confirm", json=reply).status_code == 409
        if name == "content":
            assert data["text"] == "Order 3 is on its way."

    assert [name for name in names if name != "content_delta"] == [
        "session", "usage", "tool_call", "tool_confirm", "tool_result", "content", "done",
    ]  # fmt: skip


def test_a_no_is_told_to_the_model(chat: httpx2.Client) -> None:
    text = ""
    for name, data in events(chat, "ship order 1"):
        if name == "tool_confirm":
            chat.post("/api/chat/confirm", json={"session_id": data["session_id"], "approved": False})
        if name == "content":
            text = data["text"]

    assert text == "Then I leave it."


def test_conversations_are_listed_read_edited_asked_again_and_deleted(chat: httpx2.Client) -> None:
    first = dict(list(events(chat, "hello there")))["session"]
    name = first["conversation_id"]
    path = f"/api/conversations/{name}"

    assert chat.get("/api/conversations").json()[0]["title"] == "hello there"
    messages = chat.get(path).json()["messages"]
    assert [(message["index"], message["role"]) for message in messages] == [(0, "user"), (1, "assistant")]

    assert chat.put(f"{path}/messages/0", json={"content": "show the orders"}).json() == {"ok": True}
    roles = _until(chat, path, 3)
    assert roles == ["user", "tool", "assistant"]

    assert chat.post(f"{path}/regenerate", json={"from_index": 2}).json() == {"ok": True}
    assert _until(chat, path, 3) == ["user", "tool", "assistant"]

    assert chat.delete(path).json() == {"ok": True}
    assert chat.get(path).status_code == 404


def _until(chat: httpx2.Client, path: str, count: int) -> list[str]:
    limit = time.monotonic() + 60
    while True:
        messages = chat.get(path).json()["messages"]
        if len(messages) == count and messages[-1]["role"] == "assistant":
            return [message["role"] for message in messages]
        assert time.monotonic() < limit, messages


def test_tools_can_be_switched_off_for_one_conversation(chat: httpx2.Client) -> None:
    name = chat.post("/api/conversations").json()["id"]
    chat.put(f"/api/conversations/{name}/tools", json={"enabled_sources": []})

    seen = list(events(chat, "show the orders", conversation_id=name))

    assert dict(seen)["tool_result"]["is_error"] is True
    assert "switched off" in json.dumps(dict(seen)["tool_result"]["result"])


def test_the_facts_of_the_page_are_served(chat: httpx2.Client) -> None:
    assert chat.get("/api/health").json()["status"] == "ok"
    assert chat.get("/api/tools/sources").json()[0]["name"] == "shop"
    assert chat.get("/api/config/llm").json()["provider"] == "scripted"
    assert {tool["name"] for tool in chat.get("/api/tools").json()} >= {"shop__list_orders", "shop__ship_order"}


@pytest.mark.parametrize("body", [b"", b"[]", b'{"message": ""}', b'{"message": 7}'])
def test_senseless_requests_are_refused_plainly(chat: httpx2.Client, body: bytes) -> None:
    answer = chat.post("/api/chat", content=body, headers={"content-type": "application/json"})

    assert answer.status_code == 400
    assert answer.json()["error"]


def test_the_timeline_is_served_as_a_snapshot(chat: httpx2.Client) -> None:
    session = dict(list(events(chat, "hello again")))["session"]
    snapshot = chat.get("/timeline", params={"conversation": session["conversation_id"]}).json()

    assert snapshot["type"] == "ui_state_snapshot"
    assert snapshot["state"]["items"][0]["text"] == "hello again"


def test_a_client_that_comes_back_gets_only_what_it_lacks(chat: httpx2.Client) -> None:
    session = dict(list(events(chat, "show the orders once more")))["session"]
    where = {"conversation": session["conversation_id"]}
    whole = chat.get("/timeline", params=where).json()

    missed = chat.get("/timeline", params={**where, "after_seq": whole["seq"] - 2}).json()
    strange = chat.get("/timeline", params={**where, "after_seq": 10_000}).json()

    assert [frame["seq"] for frame in missed] == [whole["seq"] - 1, whole["seq"]]
    assert [frame["type"] for frame in strange] == ["ui_state_snapshot"]


@pytest.mark.covers("R-UI-8")
def test_pieces_of_an_answer_travel_outside_the_count_of_changes(chat: httpx2.Client) -> None:
    name = chat.post("/api/conversations").json()["id"]
    url = str(chat.base_url)
    with connect(
        f"{url.replace('http', 'ws').rstrip('/')}/ws/timeline", origin=Origin(url.rstrip("/")), open_timeout=60
    ) as socket:
        socket.send(json.dumps({"type": "hello", "conversation": name}))
        frames = [json.loads(socket.recv(timeout=60))]  # from now on it watches
        list(events(chat, "hello", conversation_id=name))
        while frames[-1].get("run") != "sleeping":
            frames.append(json.loads(socket.recv(timeout=60)))

    pieces = [frame for frame in frames if frame["type"] == "assistant_delta"]
    deltas = [frame for frame in frames if frame["type"] == "ui_state_delta"]
    (answer,) = (
        op["item"]["md"] for delta in deltas for op in delta["ops"] if op["item"]["kind"] == "assistant_markdown"
    )
    assert "".join(piece["text"] for piece in pieces) == answer
    assert all("seq" not in piece for piece in pieces)
    assert [delta["seq"] for delta in deltas] == list(range(1, len(deltas) + 1))
