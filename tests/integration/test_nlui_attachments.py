"""Files of messages over NLUI's API: uploaded by the person, sent to the model, exported, deleted in the end."""

import base64
import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from integration.nlui import nlui
from person_client import person

pytestmark = [pytest.mark.slow, pytest.mark.covers("CHAT-FILE-1", "CHAT-FILE-2")]
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@contextmanager
def vendor(asked: list[dict[str, Any]], usage: dict[str, int] | None = None) -> Iterator[str]:
    """A model server that records requests with their keys and always says "Seen."."""

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            asked.append({**body, "key": self.headers["authorization"]})
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'data: {"choices":[{"delta":{"content":"Seen."},"finish_reason":"stop"}]}\n\n')
            self.wfile.write(f"data: {json.dumps({'choices': [], 'usage': usage})}\n\ndata: [DONE]\n\n".encode())

        def log_message(self, *_: object) -> None: ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


def configured(folder: Path, base: str, **more: object) -> None:
    llm = {"provider": "openai", "api_base": base, "model": "m", "api_key": "k", **more}
    (folder / "nlui.yaml").write_text(json.dumps({"data_dir": "./data", "llm": llm}))


def upload(chat: httpx2.Client, name: str, data: bytes) -> dict[str, Any]:
    answer = chat.post("/api/attachments", params={"name": name}, content=data)
    assert answer.status_code == 201, answer.text
    stored: dict[str, Any] = answer.json()
    return stored


def send(chat: httpx2.Client, conversation: str, message: str, *files: dict[str, Any]) -> httpx2.Response:
    body = {"message": message, "conversation_id": conversation, "attachments": list(files)}
    return chat.post("/api/chat", json=body)


def stored(folder: Path) -> list[bytes]:
    files = (folder / "data" / "attachments").rglob("*")
    return [file.read_bytes() for file in files if file.is_file()]


def test_an_image_reaches_the_model_outlives_a_restart_and_goes_with_its_last_conversation(tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = []
    with vendor(asked) as base:
        configured(tmp_path, base, vision="on")
        with nlui(tmp_path, "--port", "0") as url, person(url) as chat:
            photo, notes = upload(chat, "../photo.png", PNG), upload(chat, "notes.txt", b"buy tea")
            assert send(chat, "c-1", "What is this?", photo, notes).is_success
            assert send(chat, "c-2", "", photo).is_success
        with nlui(tmp_path, "--port", "0") as url, person(url) as chat:
            files = {
                form: chat.get("/api/conversations/c-1/export", params={"format": form}).text
                for form in ("md", "json", "html")
            }
            again = chat.get(f"/api/attachments/{photo['id']}")
            titles = {one["id"]: one["title"] for one in chat.get("/api/conversations").json()}
            chat.delete("/api/conversations/c-1")
            kept = stored(tmp_path)
            chat.delete("/api/conversations/c-2")

    picture = f"data:image/png;base64,{base64.b64encode(PNG).decode()}"
    text, image = asked[0]["messages"][-1]["content"]
    assert "buy tea\n</untrusted-" in text["text"]
    assert image["image_url"]["url"] == picture
    assert (again.content, again.headers["content-type"]) == (PNG, "image/png")
    assert "attachment" in again.headers["content-disposition"]
    assert titles == {"c-1": "What is this? photo.png notes.txt", "c-2": "photo.png"}
    assert "Attached: photo.png" in files["md"]
    assert picture in files["html"]
    names = [one["name"] for one in json.loads(files["json"])["messages"][0]["attachments"]]
    assert names == ["photo.png", "notes.txt"]
    assert kept == [PNG]
    assert stored(tmp_path) == []


def test_a_model_that_does_not_see_is_told_the_name_of_an_image(tmp_path: Path) -> None:
    asked: list[dict[str, Any]] = []
    with vendor(asked) as base:
        configured(tmp_path, base, vision="off")
        with nlui(tmp_path, "--port", "0") as url, person(url) as chat:
            send(chat, "c-1", "What is this?", upload(chat, "photo.png", PNG))

    told = asked[0]["messages"][-1]["content"]
    assert f"[Attached: photo.png, image/png, {len(PNG)} bytes; this model takes no images]" in told


def test_only_the_person_uploads_and_what_is_not_stored_is_refused(tmp_path: Path) -> None:
    configured(tmp_path, "http://127.0.0.1:9/v1")
    other_origin = {"origin": "http://localhost:3000"}
    with nlui(tmp_path, "--port", "0") as url, person(url) as chat:
        program = httpx2.post(f"{url}/api/attachments?name=a", content=b"x", timeout=60)
        foreign = httpx2.get(f"{url}/api/attachments/{'0' * 64}", headers=other_origin, timeout=60)
        missing = send(chat, "c-1", "Look", {"id": "0" * 64, "name": "photo.png"})
        empty = chat.post("/api/attachments", params={"name": "a"}, content=b"")
        large = chat.post("/api/attachments", params={"name": "a"}, content=b"x" * (10 * 1024 * 1024 + 1))
        many = send(chat, "c-1", "Look", *[{"id": "0" * 64, "name": "a"}] * 11)
        nothing = send(chat, "c-1", " ")
        largest = upload(chat, "largest", b"x" * (10 * 1024 * 1024))

    assert program.status_code in {401, 403}
    assert foreign.status_code == 403
    assert [one.status_code for one in (missing, empty, large, many, nothing)] == [404, 400, 400, 400, 400]
    assert largest["size"] == 10 * 1024 * 1024
    assert "larger than 10 MB" in large.json()["error"]
