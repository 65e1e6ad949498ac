"""NLUI's API around the chat: targets, presets, uploads, model settings, streams taken up again, and who may use it."""

import http.server
import json
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import yaml
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from integration.nlui import nlui, nlui_demo
from person_client import person
from security.neighbour import neighbour

pytestmark = pytest.mark.slow
YAML = """\
# My assistant.
data_dir: ./data
llm:
  provider: scripted   # no key needed
  script:
    - emit: [{say: "Hello."}]
"""
DELETED = "The conversation was deleted"
DOCUMENT = {
    "openapi": "3.1.0",
    "info": {"title": "Tiny", "version": "1"},
    "servers": [{"url": "http://127.0.0.1:9"}],
    "paths": {"/things": {"get": {"operationId": "things", "responses": {"200": {"description": "ok"}}}}},
}


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx2.Client]:
    with nlui_demo(tmp_path_factory.mktemp("nlui")) as url, person(url) as client:
        yield client


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "nlui.yaml").write_text(YAML)
    return tmp_path


@pytest.fixture
def chat(folder: Path) -> Iterator[httpx2.Client]:
    key = {"OPENAI_API_KEY": "sk-from-the-environment-1234"}
    with nlui(folder, "--port", "0", **key) as url, person(url) as client:
        yield client


def lines(text: str) -> list[tuple[str, str, Any]]:
    """Read a finished stream as (id, event, data)."""
    blocks = [
        dict(line.split(": ", 1) for line in block.splitlines()) for block in text.split("\n\n") if "data" in block
    ]
    return [(block["id"], block["event"], json.loads(block["data"])) for block in blocks]


@pytest.mark.covers("GW-API-1")
def test_a_dropped_stream_does_not_stop_the_turn_and_is_taken_up_where_it_broke(demo: httpx2.Client) -> None:
    with demo.stream("POST", "/api/chat", json={"message": "show the orders"}) as answer:
        session = next(json.loads(line[6:]) for line in answer.iter_lines() if line.startswith("data: "))["session_id"]

    whole = lines(demo.get(f"/api/chat/{session}/events").text)
    rest = lines(demo.get(f"/api/chat/{session}/events", headers={"Last-Event-ID": "2"}).text)

    assert [number for number, _, _ in whole] == [str(number) for number in range(1, len(whole) + 1)]
    assert (whole[0][1], whole[-1][1]) == ("session", "done")
    assert rest == whole[2:]
    assert demo.get("/api/chat/unknown/events").status_code == 404


@pytest.mark.covers("GW-API-2")
def test_only_the_person_confirms(demo: httpx2.Client) -> None:
    with demo.stream("POST", "/api/chat", json={"message": "ship order 2"}) as answer:
        asked: dict[str, Any] = {}
        conversation = ""
        for line in answer.iter_lines():
            if not line.startswith("data: "):
                continue
            data = json.loads(line[6:])
            conversation = conversation or data["conversation_id"]
            if "approval_id" in data:
                asked = data
                break
        body = {"conversation_id": conversation, "approved": True, "approval_id": asked["approval_id"]}
        confirm = f"{demo.base_url}/api/chat/confirm"
        program = httpx2.post(confirm, json=body, timeout=60)
        with_secret = httpx2.post(confirm, json={"session_id": asked["session_id"], "approved": True}, timeout=60)
        human = demo.post("/api/chat/confirm", json=body)

    assert (program.status_code, with_secret.status_code) == (403, 403)
    assert human.json()["status"] == "approved"


@pytest.mark.covers("GW-DIS-5")
def test_an_api_is_probed_added_reported_reloaded_and_removed(
    chat: httpx2.Client, demo: httpx2.Client, folder: Path
) -> None:
    shop = demo.get("/api/targets").json()[0]["where"]

    found = chat.post("/api/targets/probe", json={"base_url": shop}).json()
    added = chat.post("/api/targets", json={"name": "store", "base_url": shop})
    twice = chat.post("/api/targets", json={"name": "store", "base_url": shop})
    nothing = chat.post("/api/targets", json={"name": "x"})
    report = chat.get("/api/targets/store/report").json()
    again = chat.post("/api/targets/store/reload").json()

    assert (found["found"], found["spec_url"]) == (True, f"{shop}/openapi.json")
    assert added.status_code == 201
    assert added.json()["tools"] == ["store__list_orders", "store__get_order", "store__ship_order"]
    assert (twice.status_code, nothing.status_code) == (409, 400)
    assert {operation["status"] for operation in report["operations"]} == {"ok"}
    assert again["error"] is None
    text = (folder / "nlui.yaml").read_text()
    assert "# My assistant." in text
    assert "# no key needed" in text
    assert yaml.safe_load(text)["targets"] == [{"name": "store", "base_url": shop}]
    assert chat.delete("/api/targets/store").json() == {"ok": True}
    assert chat.get("/api/targets").json() == []
    assert chat.delete("/api/targets/store").status_code == 404


@pytest.mark.covers("GW-DIS-5")
def test_a_probe_that_finds_nothing_says_where_it_looked(chat: httpx2.Client) -> None:
    silent = chat.post("/api/targets/probe", json={"base_url": "http://127.0.0.1:9"}).json()
    found = chat.post("/api/targets/probe", json={"base_url": str(chat.base_url)}).json()

    assert (silent["found"], len(silent["tried"])) == (False, 1)
    assert "no answer" in silent["tried"][0]["outcome"]
    assert found["found"] is False
    assert len(found["tried"]) > 20


def test_a_preset_works_without_the_internet(chat: httpx2.Client) -> None:
    (preset,) = chat.get("/api/presets").json()
    imported = chat.post(f"/api/presets/{preset['name']}/import")

    assert imported.status_code == 201
    assert "shop__list_orders" in {tool["name"] for tool in chat.get("/api/tools").json()}
    assert chat.post("/api/presets/nothing/import").status_code == 404


def test_an_uploaded_document_becomes_tools_and_its_name_never_a_path(chat: httpx2.Client, folder: Path) -> None:
    file = ("../../../evil.yaml", json.dumps(DOCUMENT))
    added = chat.post("/api/specs/upload", files={"spec": file})

    assert (added.status_code, added.json()["tools"]) == (201, ["Tiny__things"])
    stored = list((folder / "data" / "specs").iterdir())
    assert [stat.S_IMODE(path.stat().st_mode) for path in stored] == [0o600]
    assert not list(folder.rglob("evil*"))
    assert chat.post("/api/specs/upload", files={"spec": ("a", "no document")}).status_code == 400
    assert chat.post("/api/specs/upload", data={"spec": "text"}).status_code == 400
    assert chat.post("/api/specs/upload", files={"spec": ("a", b"x" * (5 << 20))}).status_code == 413
    assert chat.post("/api/targets", json={"name": "f", "spec": "/etc/passwd"}).status_code == 400


def test_the_model_is_changed_shown_masked_and_written_as_a_reference(chat: httpx2.Client, folder: Path) -> None:
    changed = chat.put(
        "/api/config/llm",
        json={
            "provider": "openai",
            "api_base": "https://api.openai.com/v1",
            "model": "m",
            "api_key_env": "OPENAI_API_KEY",
        },
    ).json()
    written = yaml.safe_load((folder / "nlui.yaml").read_text())["llm"]

    assert changed["saved"] is True
    assert changed["api_key"] == "sk-f…1234"
    assert (written["api_key"], written["model"]) == ("${OPENAI_API_KEY}", "m")
    assert "# My assistant." in (folder / "nlui.yaml").read_text()
    typed = chat.put("/api/config/llm", json={"api_key": "sk-typed-by-hand-5678"}).json()
    assert typed["api_key"] == "sk-t…5678"
    assert "sk-typed" not in (folder / "nlui.yaml").read_text()
    assert chat.put("/api/config/llm", json={"api_key": "sk-t…5678"}).json()["has_key"] is True
    moved = chat.put("/api/config/llm", json={"api_base": "http://elsewhere.example/v1"}).json()
    assert moved["has_key"] is False
    assert chat.put("/api/config/llm", json={"api_key_env": "NOT THERE"}).status_code == 400


def test_a_model_that_cannot_answer_is_told_plainly(chat: httpx2.Client) -> None:
    down = {"provider": "openai", "api_base": "http://127.0.0.1:9/v1", "model": "m"}

    assert chat.post("/api/config/llm/test", json={}).json()["ok"] is True
    test = chat.post("/api/config/llm/test", json=down).json()
    assert test["ok"] is False
    assert "Cannot reach the model server at http://127.0.0.1:9/v1" in test["error"]
    assert chat.post("/api/config/llm/models", json=down).json() == {"models": []}
    names = {provider["name"] for provider in chat.get("/api/config/llm/providers").json()}
    assert {"OpenAI", "Anthropic", "Gemini", "Ollama", "LM Studio"} <= names


@pytest.mark.covers("GW-API-6", "GW-SRV-5")
def test_foreign_hosts_and_origins_are_refused_and_listed_ones_answered(demo: httpx2.Client) -> None:
    listed = {"Origin": "http://localhost:3000", "Sec-Fetch-Site": "cross-site"}
    wanted = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-ui-person"}

    assert demo.get("/api/info", headers={"Host": "evil.example"}).status_code == 421
    assert demo.get("/api/info", headers={"Origin": "http://evil.example"}).status_code == 403
    assert demo.post("/api/conversations", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    with httpx2.Client(base_url=demo.base_url, headers=listed, timeout=60) as front_end:
        allowed = front_end.get("/api/info")
        asked = front_end.options("/api/chat", headers={"Access-Control-Request-Method": "POST"})
        as_host = front_end.options("/mcp", headers={**wanted, "Access-Control-Request-Headers": "mcp-session-id"})
        as_person = front_end.options("/api/config/llm", headers=wanted)
        settings = [front_end.get(path) for path in ("/api/config/llm", "/api/targets", "/api/presets")]
    assert allowed.headers["access-control-allow-origin"] == "http://localhost:3000"
    assert asked.status_code == 200
    assert "access-control-allow-credentials" not in asked.headers
    assert as_host.status_code == 200
    assert allowed.headers["access-control-expose-headers"] == "mcp-session-id"
    assert as_person.status_code == 400
    assert {answer.status_code for answer in settings} == {403}


@pytest.mark.covers("GW-API-6", "GW-SRV-5")
def test_with_a_token_only_who_knows_it_gets_further_than_the_page(folder: Path) -> None:
    (folder / "nlui.yaml").write_text(YAML + "server:\n  token: t0ken-t0ken\n")
    with nlui(folder, "--port", "0") as url, httpx2.Client(base_url=url, timeout=60) as page:
        assert page.get("/").status_code == 200
        assert page.get("/person/assets/index.html").status_code == 200
        assert page.get("/api/conversations").status_code == 401
        assert page.get("/timeline").status_code == 401
        assert page.post("/mcp", json={}).status_code == 401
        bearer = {"Authorization": "Bearer t0ken-t0ken"}
        assert page.get("/api/conversations", headers=bearer).status_code == 200
        assert page.post("/api/conversations", headers=bearer).status_code == 403
        with person(url) as human:
            assert human.get("/api/conversations").status_code == 200
            assert human.post("/api/conversations").status_code == 201


@pytest.mark.covers("GW-API-7")
def test_a_program_follows_what_it_began_and_names_nothing_else(demo: httpx2.Client) -> None:
    of_person = demo.post("/api/conversations").json()["id"]
    with httpx2.Client(base_url=demo.base_url, timeout=60) as program:
        begun = lines(program.post("/api/chat", json={"message": "hello"}).text)[0][2]
        more = {"message": "show the orders", "session_id": begun["session_id"]}
        followed = lines(program.post("/api/chat", json=more).text)[0][2]
        stopped = program.post("/api/chat/stop", json={"session_id": followed["session_id"]})
        named = [
            program.post(path, json={"message": "x", "conversation_id": name}).status_code
            for path in ("/api/chat", "/api/chat/stop")
            for name in (of_person, begun["conversation_id"])
        ]

    assert followed["conversation_id"] == begun["conversation_id"]
    assert stopped.status_code == 200
    assert named == [403] * 4


@pytest.mark.covers("GW-API-8")
def test_an_mcp_server_is_added_by_its_address_and_removed(
    chat: httpx2.Client, demo: httpx2.Client, folder: Path
) -> None:
    url = f"{str(demo.base_url).rstrip('/')}/mcp"

    added = chat.post("/api/servers", json={"name": "other", "url": url})
    twice = chat.post("/api/servers", json={"name": "other", "url": url})
    refused = [chat.post("/api/servers", json=body) for body in ({"url": "file:///bin/sh"}, {"command": "sh"})]
    text = (folder / "nlui.yaml").read_text()
    [listed] = chat.get("/api/tools/sources").json()

    assert (added.status_code, added.json()["error"], added.json()["saved"]) == (201, None, True)
    assert "other__shop__list_orders" in added.json()["tools"]
    assert (twice.status_code, [answer.status_code for answer in refused]) == (409, [400, 400])
    assert (listed["name"], listed["kind"], listed["state"]) == ("other", "backend", "active")
    assert "# My assistant." in text
    assert yaml.safe_load(text)["mcp"]["servers"] == [{"name": "other", "url": url}]
    assert chat.delete("/api/servers/other").json() == {"ok": True}
    assert chat.get("/api/tools/sources").json() == []
    assert yaml.safe_load((folder / "nlui.yaml").read_text())["mcp"]["servers"] == []
    assert chat.delete("/api/servers/other").status_code == 404


@pytest.mark.covers("GW-API-8")
def test_a_server_that_does_not_answer_is_added_with_its_error(chat: httpx2.Client) -> None:
    added = chat.post("/api/servers", json={"url": "http://127.0.0.1:9/mcp"})

    assert (added.status_code, added.json()["name"], added.json()["tools"]) == (201, "s_127_0_0_1_9", [])
    assert added.json()["error"]


@pytest.mark.covers("GW-API-8")
def test_a_server_that_the_file_mounts_elsewhere_is_not_half_removed(folder: Path) -> None:
    text = f'{YAML}mcpServers: {{mine: {{url: "http://127.0.0.1:9/mcp"}}}}\n'
    (folder / "nlui.yaml").write_text(text)
    with nlui(folder, "--port", "0") as url, person(url) as client:
        answer = client.delete("/api/servers/mine")
        left = client.get("/api/tools/sources").json()

    assert (answer.status_code, [one["name"] for one in left]) == (400, ["mine"])
    assert (folder / "nlui.yaml").read_text() == text


@pytest.mark.covers("GW-API-7")
def test_no_program_or_listed_front_end_has_a_variable_sent_to_a_host(folder: Path) -> None:
    with neighbour() as other, nlui(folder, "--port", "0", X_SECRET="canary-canary") as url:
        facts = {"provider": "openai", "api_base": other.url, "model": "m", "api_key_env": "X_SECRET"}
        target = {"name": "t", "base_url": f"{other.url}/${{X_SECRET}}"}
        before = (folder / "nlui.yaml").read_text()
        statuses = [
            httpx2.request(method, f"{url}{path}", json=body, headers=headers, timeout=60).status_code
            for headers in ({}, {"origin": "http://localhost:3000", "sec-fetch-site": "cross-site"})
            for method, path, body in (
                ("POST", "/api/config/llm/models", facts),
                ("POST", "/api/config/llm/test", facts),
                ("PUT", "/api/config/llm", facts),
                ("PUT", "/api/config/proxy", {"proxy": other.url}),
                ("POST", "/api/targets", target),
                ("POST", "/api/targets/probe", target),
                ("POST", "/api/servers", {"url": f"{other.url}/mcp"}),
                ("DELETE", "/api/servers/x", {}),
                ("POST", "/api/presets/shop/import", {}),
            )
        ]

    assert set(statuses) == {403}
    assert other.requests == []
    assert (folder / "nlui.yaml").read_text() == before


@pytest.mark.covers("GW-API-3")
def test_a_model_that_goes_round_in_circles_is_stopped_after_25_answers(folder: Path) -> None:
    script = "data_dir: ./data\nllm: {provider: scripted, script: [{emit: [{call: nlui__search, args: {query: x}}]}]}\n"
    (folder / "nlui.yaml").write_text(script)
    with nlui(folder, "--port", "0") as url:
        told = lines(httpx2.post(f"{url}/api/chat", json={"message": "go"}, timeout=60).text)

    assert [name for _, name, _ in told].count("tool_call") == 25
    assert told[-2][1:] == ("error", {"error": told[-2][2]["message"], "message": told[-2][2]["message"]})
    assert "Stopped after 25 answers" in told[-2][2]["message"]
    assert told[-1][1] == "done"


@pytest.mark.covers("GW-API-2")
def test_a_conversation_deleted_while_a_call_runs_takes_nothing_else_with_it(folder: Path) -> None:
    called, go_on = threading.Event(), threading.Event()

    class Slow(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            called.set()
            go_on.wait(60)

        def log_message(self, *_: object) -> None: ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    (folder / "tiny.json").write_text(json.dumps(DOCUMENT))
    target = {"name": "tiny", "spec": "tiny.json", "base_url": f"http://127.0.0.1:{server.server_port}"}
    llm = {"provider": "scripted", "script": [{"emit": [{"call": "tiny__things"}]}]}
    (folder / "nlui.yaml").write_text(json.dumps({"data_dir": "./data", "llm": llm, "targets": [target]}))
    try:
        with nlui(folder, "--port", "0") as url, person(url) as chat:
            name = chat.post("/api/conversations").json()["id"]
            with chat.stream("POST", "/api/chat", json={"message": "go", "conversation_id": name}) as stream:
                assert called.wait(60)
                assert chat.delete(f"/api/conversations/{name}").json() == {"ok": True}
                told = "".join(stream.iter_text())
            answers = [chat.get(f"/api/conversations/{name}").status_code for _ in range(20)]
    finally:
        go_on.set()
        server.shutdown()
        server.server_close()

    assert lines(told)[-1][1:] == ("error", {"error": DELETED, "message": DELETED})
    assert answers == [404] * 20


@pytest.mark.covers("GW-API-4")
def test_the_model_is_told_of_sources_and_habits_not_of_every_tool(folder: Path) -> None:
    asked: list[dict[str, Any]] = []

    class Vendor(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(400)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Vendor)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    (folder / "tiny.json").write_text(json.dumps(DOCUMENT))
    llm = {"provider": "openai", "api_base": f"http://127.0.0.1:{server.server_port}/v1", "model": "m", "api_key": "k"}
    targets = [{"name": "tiny", "spec": "tiny.json"}]
    (folder / "nlui.yaml").write_text(json.dumps({"data_dir": "./data", "llm": llm, "targets": targets}))
    try:
        with nlui(folder, "--port", "0") as url:
            told = httpx2.post(f"{url}/api/chat", json={"message": "go"}, timeout=60).text
    finally:
        server.shutdown()
        server.server_close()

    system = asked[0]["messages"][0]["content"]
    assert "The model server answered 400" in told
    assert asked[0]["messages"][-1] == {"role": "user", "content": "go"}
    assert "tiny" in system.lower()
    assert "tiny__things" not in system
    assert "tiny__things" in {tool["function"]["name"] for tool in asked[0]["tools"]}


def test_answers_come_in_pieces_or_whole_as_wished(folder: Path) -> None:
    (folder / "nlui.yaml").write_text(YAML.replace("Hello.", "Hello " * 40))
    with nlui(folder, "--port", "0") as url, person(url) as chat:
        assert chat.put("/api/config/stream", json={"stream": "no"}).status_code == 400
        pieces = []
        for wish in (True, False):
            assert chat.put("/api/config/stream", json={"stream": wish}).json() == {"stream": wish}
            answer = lines(chat.post("/api/chat", json={"message": "hi"}).text)
            pieces.append([data["delta"] for _, event, data in answer if event == "content_delta"])
        shown = chat.get("/api/config/llm").json()["stream"]

    assert len(pieces[0]) > 1
    assert pieces[1] == ["".join(pieces[0])]
    assert (shown, yaml.safe_load((folder / "nlui.yaml").read_text())["llm"]["stream"]) == (False, False)


@pytest.mark.covers("UI-HTTP-14")
@pytest.mark.parametrize("path", ["/no-such-page", "/nlui/no-such-file", "/api/no-such-thing"])
def test_an_unknown_address_is_a_page_for_people_and_a_line_for_programs(demo: httpx2.Client, path: str) -> None:
    browser = demo.get(path, headers={"accept": "text/html,*/*;q=0.8"})
    program = demo.get(path)

    assert (browser.status_code, browser.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "<h1>Not found</h1>" in browser.text
    assert (program.status_code, program.text) == (404, "Not found\n")


@pytest.mark.covers("UI-HTTP-14")
def test_a_socket_at_an_unknown_address_is_told_so(demo: httpx2.Client) -> None:
    with pytest.raises(InvalidStatus) as refused, connect(f"ws{str(demo.base_url)[4:]}/nowhere"):
        pass

    assert refused.value.response.status_code == 404


@pytest.mark.covers("R-UI-9")
def test_conversations_are_renamed_pinned_found_and_exported(chat: httpx2.Client) -> None:
    for name, text in (("c-1", "Tell me about <b>penguins</b>"), ("c-2", "What is the weather?")):
        assert chat.post("/api/chat", json={"message": text, "conversation_id": name}).status_code == 200
    assert chat.patch("/api/conversations/c-1", json={"title": " Birds\n of the south ", "pinned": True}).is_success
    assert chat.patch("/api/conversations/c-2", json={"folder": " Out\ndoors "}).json()["folder"] == "Out doors"

    listed = [(one["id"], one["title"], one["pinned"]) for one in chat.get("/api/conversations").json()]
    found = chat.get("/api/conversations", params={"q": "PENGUIN"}).json()
    by_title = chat.get("/api/conversations", params={"q": "birds of"}).json()
    files = {
        form: chat.get("/api/conversations/c-1/export", params={"format": form}).text for form in ("md", "json", "html")
    }

    assert listed == [("c-1", "Birds of the south", True), ("c-2", "What is the weather?", False)]
    assert [(one["id"], one["match"]) for one in found] == [("c-1", "Tell me about <b>penguins</b>")]
    assert [one["id"] for one in by_title] == ["c-1"]
    assert files["md"].splitlines()[::2] == [
        "# Birds of the south",
        "## You",
        "Tell me about <b>penguins</b>",
        "## Assistant",
        "Hello.",
    ]
    assert [one["role"] for one in json.loads(files["json"])["messages"]] == ["user", "assistant"]
    assert "&lt;b&gt;penguins" in files["html"]
    assert chat.patch("/api/conversations/c-1", json={"pinned": "yes"}).status_code == 400
    assert chat.patch("/api/conversations/none", json={"pinned": True}).status_code == 404
    assert chat.get("/api/conversations/c-1/export", params={"format": "exe"}).status_code == 400
