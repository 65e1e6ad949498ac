"""The chat over plain HTTP, on a chat server's own listener and on the ui server's two."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import anyio
import httpx2 as httpx
import pytest

from chat.human_server import human_server
from person_client import let_in
from ui_mcp.agent.journal import AgentRequest
from ui_mcp.agent.journal_store import JournalStore
from ui_mcp.chat.identity import ROLES, AccessTokens, Role, principal
from ui_mcp.chat.message import Draft
from ui_mcp.chat.service import Chat
from ui_mcp.jsontypes import JsonObject, loads
from ui_mcp.webserver.auth import Rate
from ui_mcp.webserver.security import AccessRules, SecurityMiddleware
from ui_mcp.webserver.server import bind, listening, port_of
from ui_mcp.workspace import JOURNAL_FILE, Workspace


@asynccontextmanager
async def served(folder: Path, rate: float = 20) -> AsyncIterator[tuple[Chat, str]]:
    listener = bind("127.0.0.1", 0)
    port = port_of(listener)
    async with (
        human_server(folder, port, rate) as (chat, app),
        listening(SecurityMiddleware(app, AccessRules(frozenset({port}))), listener),
    ):
        yield chat, f"http://127.0.0.1:{port}"


async def person_at(url: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=url, timeout=40, headers=await anyio.to_thread.run_sync(let_in, url))


@pytest.fixture
async def http(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    async with AsyncExitStack() as stack:
        _, url = await stack.enter_async_context(served(tmp_path))
        yield await stack.enter_async_context(await person_at(url))


@pytest.mark.covers("R-BR-1", "R-IN-11")
async def test_a_post_is_created_once_and_read_back(http: httpx.AsyncClient) -> None:
    first = await http.post("/chat/messages", json={"content": "hi", "client_id": "c1"})
    again = await http.post("/chat/messages", json={"content": "hi", "client_id": "c1"})
    inbox = (await http.get("/chat/inbox")).json()
    page = (await http.get("/chat/messages", params={"limit": 5})).json()

    assert [first.status_code, again.status_code] == [201, 200]
    assert first.json() == again.json()
    expected = {**first.json(), "author": "user", "mime": "text/markdown", "content": "hi", "client_id": "c1"}
    assert inbox == {"last_id": first.json()["id"], "messages": [expected]}
    assert page == {"messages": [expected], "last_id": expected["id"], "head_id": expected["id"], "has_more": False}


@pytest.mark.covers("R-RS-10")
async def test_the_long_poll_answers_with_the_message_or_with_nothing(http: httpx.AsyncClient) -> None:
    nothing = await http.get("/chat/wait", params={"timeout": 0})
    answers: list[httpx.Response] = []

    async def wait() -> None:
        answers.append(await http.get("/chat/wait", params={"timeout": 20}))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await http.post("/chat/messages", json={"content": "now"})
    again = await http.get("/chat/wait")

    assert nothing.status_code == 204
    assert answers[0].json()["messages"][0]["content"] == "now"
    assert again.json() == answers[0].json()


async def test_history_is_paged_backwards(http: httpx.AsyncClient) -> None:
    await http.post("/chat/messages", json={"messages": [{"content": str(n)} for n in range(7)]})
    newest = (await http.get("/chat/messages", params={"before": "9" * 19, "limit": 3})).json()
    older = (await http.get("/chat/messages", params={"before": newest["messages"][0]["id"]})).json()

    assert [message["content"] for message in newest["messages"]] == ["4", "5", "6"]
    assert [message["content"] for message in older["messages"]] == ["0", "1", "2", "3"]
    assert [newest["has_earlier"], older["has_earlier"]] == [True, False]


@pytest.mark.covers("R-BR-2")
@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("POST", "/chat/messages", {"content": ""}, 400, "empty_content"),
        ("POST", "/chat/messages", {"content": "x", "mime": "text/html"}, 415, "unsupported_mime"),
        ("POST", "/chat/messages", {"content": "x" * 300_000}, 413, "content_too_large"),
        ("POST", "/chat/messages", {"content": "x" * 1_100_000}, 413, "content_too_large"),
        ("POST", "/chat/messages", {"contents": "x"}, 400, "invalid_argument"),
        ("GET", "/chat/messages?after=x", None, 400, "invalid_cursor"),
        ("GET", "/chat/messages?limit=x", None, 400, "invalid_argument"),
        ("GET", "/chat/messages?authors=god", None, 400, "invalid_argument"),
        ("GET", "/chat/wait?timeout=nan", None, 400, "invalid_argument"),
        ("GET", "/chat/inbox?conversation=a%20b", None, 404, "unknown_conversation"),
        ("GET", "/chat/stream?after=x", None, 400, "invalid_cursor"),
    ],
)
async def test_errors_have_a_code_and_a_fitting_status(
    http: httpx.AsyncClient, method: str, path: str, body: object, status: int, code: str
) -> None:
    answer = await http.request(method, path, json=body) if body else await http.request(method, path)

    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)


@pytest.mark.covers("R-BR-2")
async def test_foreign_hosts_origins_and_forms_are_refused(http: httpx.AsyncClient) -> None:
    async def status(**headers: str) -> int:
        answer = await http.post("/chat/messages", content=b'{"content":"x"}', headers=headers)
        return answer.status_code

    json = "application/json"
    assert await status(content_type=json, host="evil.example") == 421
    assert await status(**{"content-type": json, "origin": "http://evil.example"}) == 403
    assert await status(**{"content-type": json, "sec-fetch-site": "cross-site"}) == 403
    assert await status(**{"content-type": "text/plain"}) == 415
    assert (await http.get("/chat/inbox")).json()["messages"] == []


@pytest.mark.covers("R-BR-2")
async def test_posting_too_fast_is_slowed_down(tmp_path: Path) -> None:
    batch = {"messages": [{"content": "x"}] * 20}
    async with served(tmp_path, rate=0.1) as (_, url), await person_at(url) as http:
        taken, refused = [await http.post("/chat/messages", json=batch) for _ in range(2)]

    assert taken.status_code == 201
    assert refused.status_code == 429
    assert refused.json()["error"]["code"] == "rate_limited"
    assert int(refused.headers["retry-after"]) >= 1


def test_a_bucket_refills_with_time() -> None:
    now = [0.0]
    rate = Rate(10, lambda: now[0])
    taken = [rate.allow("a") for _ in range(20)]
    refused = rate.allow("a")
    other = rate.allow("b")
    now[0] = 0.1

    assert (taken, refused, other, rate.allow("a")) == ([0.0] * 20, 0.1, 0.0, 0.0)


@pytest.mark.covers("R-ID-2", "R-ID-6", "R-PO-3")
async def test_tokens_say_who_posts(tmp_path: Path) -> None:
    async with served(tmp_path) as (chat, url):
        keys = AccessTokens(chat.store)
        tokens = {name: await keys.create(name, ROLES[role]) for name, role in _ROLES.items()}
        async with httpx.AsyncClient(base_url=url, timeout=30) as http:
            answers = {
                name: await http.post(
                    "/chat/messages", json={"content": name}, headers={"authorization": f"Bearer {token}"}
                )
                for name, token in {**tokens, "nobody": "uimcp_x_y"}.items()
            }
            answers["anonymous"] = await http.post("/chat/messages", json={"content": "x"})
            page = await http.get("/chat/messages", headers={"authorization": f"Bearer {tokens['eve']}"})

    assert {name: answer.status_code for name, answer in answers.items()} == {
        "alice": 201,
        "bot": 201,
        "eve": 403,
        "nobody": 401,
        "anonymous": 401,
    }
    assert [(entry["content"], entry["author"]) for entry in page.json()["messages"]] == [
        ("alice", "user"),
        ("bot", "assistant"),
    ]


@pytest.mark.covers("R-ID-6", "UI-PERSON-6")
async def test_the_human_side_refuses_requests_without_token_or_credential(tmp_path: Path) -> None:
    async with served(tmp_path) as (_, url), httpx.AsyncClient(base_url=url, timeout=30) as http:
        assert (await http.get("/chat/inbox")).status_code == 401
        assert (await http.post("/chat/messages", json={"content": "x"})).status_code == 401
        assert (await http.post("/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "ping"})).status_code == 401


_ROLES: dict[str, Role] = {"alice": "human", "bot": "agent", "eve": "observer"}


@pytest.mark.covers("CHAT-STREAM-1", "R-BR-5")
async def test_the_event_stream_resumes_where_it_was_cut(http: httpx.AsyncClient) -> None:
    await http.post("/chat/messages", json={"messages": [{"content": str(n)} for n in range(3)]})
    first = await _events(http, {}, "/chat/stream?after=", 2)
    rest = await _events(http, {"last-event-id": first[1]["id"]}, "/chat/stream", 1)

    assert [event["data"]["content"] for event in first + rest] == ["0", "1", "2"]


async def _events(http: httpx.AsyncClient, headers: dict[str, str], path: str, count: int) -> list[JsonObject]:
    found: list[JsonObject] = []
    async with http.stream("GET", path, headers=headers) as response:
        assert response.headers["x-accel-buffering"] == "no"
        event: JsonObject = {}
        async for line in response.aiter_lines():
            name, _, value = line.partition(": ")
            if name in {"id", "event"}:
                event[name] = value
            elif name == "data" and event.get("event") == "message":
                found.append({**event, "data": loads(value)})
            if len(found) == count:
                break
    return found


@pytest.mark.covers("R-OR-11")
async def test_only_people_and_their_tokens_stop_an_agent(tmp_path: Path) -> None:
    async with served(tmp_path) as (chat, url), await person_at(url) as person:
        tokens = AccessTokens(chat.store)
        human, observer = await tokens.create("h", ROLES["human"]), await tokens.create("o", ROLES["observer"])
        journal = JournalStore(Workspace.at(tmp_path).state_dir / JOURNAL_FILE)
        await journal.take_lease("default", "an agent", 60)
        async with httpx.AsyncClient(base_url=url) as program:
            answers = [
                await program.post("/agents/default/abort", json={}, headers={"Authorization": f"Bearer {token}"})
                for token in (human, observer)
            ]
        answers.append(await person.post("/agents/default/resume", json={}))
        request = await journal.take_request("default")
        await journal.close()

    assert [answer.status_code for answer in answers] == [202, 401, 202]
    assert request == AgentRequest("resume", 0)


@pytest.mark.covers("R-BR-5")
async def test_an_observer_who_posts_learns_what_a_person_would_need(tmp_path: Path) -> None:
    async with served(tmp_path) as (chat, url):
        token = await AccessTokens(chat.store).create("o", ROLES["observer"])
        async with httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {token}"}) as program:
            refused = await program.post("/chat/messages", json={"content": "x"})

    assert refused.status_code == 403
    assert "o may not do this: scope chat.post.user is missing" in refused.text


async def test_pages_get_the_name_of_an_agent_that_has_one(tmp_path: Path) -> None:
    async with served(tmp_path) as (chat, url), await person_at(url) as person:
        for name in ("agent", "Ada"):
            await chat.post(principal(name, "agent"), "assistant", "default", [Draft(f"I am {name}")])
        await person.post("/chat/messages", json={"content": "hello"})
        listed = (await person.get("/chat/messages")).json()["messages"]

    assert [message.get("name") for message in listed] == [None, "Ada", None]


@pytest.mark.covers("CHAT-FILE-4")
async def test_a_person_sends_files_and_agents_and_observers_reach_none(tmp_path: Path) -> None:
    async with served(tmp_path) as (chat, url), await person_at(url) as person:
        tokens = {name: await AccessTokens(chat.store).create(name, ROLES[role]) for name, role in _ROLES.items()}
        stored = (await person.post("/chat/attachments", params={"name": "a.txt"}, content=b"tea")).json()
        content = f"Look\n\n[a.txt](attachment:{stored['id']})"
        sent = await person.post("/chat/messages", json={"content": content})
        unknown = await person.post("/chat/messages", json={"content": f"[a](attachment:{'0' * 64})"})
        async with httpx.AsyncClient(base_url=url) as program:
            path = f"/chat/attachments/{stored['id']}"
            reads = {
                name: await program.get(path, headers={"authorization": f"Bearer {token}"})
                for name, token in tokens.items()
            }
            anonymous = await program.post("/chat/attachments", content=b"x")

    assert sent.status_code == 201
    assert (unknown.status_code, unknown.json()["error"]["code"]) == (400, "invalid_argument")
    assert {name: answer.status_code for name, answer in reads.items()} == {"alice": 200, "bot": 403, "eve": 403}
    assert reads["alice"].content == b"tea"
    assert anonymous.status_code == 401
    kept = Workspace.at(tmp_path).attachments / stored["id"]
    assert kept.read_bytes() == b"tea"
