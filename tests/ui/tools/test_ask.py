"""`ui_ask`: what the person answers on their page reaches the agent, now or later."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import anyio
import httpx2
import pytest
from anyio import to_thread

from person_client import let_in
from servers import running_server
from ui_mcp.errors import NotFoundError
from ui_mcp.inbox.service import inbox_url, opened
from ui_mcp.jsontypes import JsonObject, dumps, loads
from ui_mcp.toolkit.tool import Call, Text
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.states import Running
from ui_mcp.ui.toolset import ui_toolset

TWO: JsonObject = {
    "questions": [{"text": "Colour?", "choices": ["red", "blue"], "multiple": True}, {"text": "Why?"}],
    "wait": 0,
}


async def asked(host: UiServer, arguments: JsonObject, task: "Handle | None" = None) -> JsonObject:
    result = await ui_toolset(host).call("ui_ask", arguments, Call(client_name="claude-code", task=task))
    (text,) = result.content
    assert isinstance(text, Text)
    return dict(loads(text.text))


@dataclass
class Handle:
    """The task of a call that may be continued by the next process."""

    resumed: JsonObject | None = None
    is_cancelled: bool = False
    on_checkpoint: Callable[[], None] = lambda: None

    async def checkpoint(self, state: JsonObject) -> None:
        self.resumed = dict(loads(dumps(state)))
        self.on_checkpoint()


async def answered(url: str, question_id: str, values: JsonObject) -> int:
    headers = await to_thread.run_sync(let_in, url)
    async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=60) as person:
        body = {"decision": "answer", "values": values}
        return (await person.post(f"/inbox/{question_id}/answer", json=body)).status_code


@pytest.mark.covers("INBOX-5", "INBOX-2")
async def test_an_agent_that_goes_on_hears_of_the_answer_and_finds_it_by_its_id(
    host: UiServer, running: Running
) -> None:
    pending = await asked(host, TWO)
    url = running.person_url
    statuses = [await answered(url, pending["id"], {"1": ["red", "mauve"], "2": "It is warm"}) for _ in range(2)]
    event = {**pending, "status": "answered", "answers": [["red", "mauve"], "It is warm"]}

    assert pending["status"] == "pending"
    assert statuses == [200, 409]
    assert running.sessions.get("1").events.peek() == [{**event, "app": "ui-mcp", "event": "question_answered"}]
    assert await asked(host, {"id": pending["id"]}) == event
    assert await asked(host, {}) == {"questions": [{**event, "title": "Claude Code has 2 questions"}]}


@pytest.mark.covers("INBOX-5")
async def test_an_agent_that_waits_gets_the_answer(host: UiServer, running: Running) -> None:
    results: list[JsonObject] = []

    async def wait() -> None:
        results.append(await asked(host, {"questions": [{"text": "Which boat?", "file": False}], "wait": 60}))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        while not (await asked(host, {}))["questions"]:
            await anyio.lowlevel.checkpoint()
        (waiting,) = (await asked(host, {}))["questions"]
        await answered(running.person_url, waiting["id"], {"1": "the old one"})

    assert [result["answers"] for result in results] == [["the old one"]]
    assert waiting["title"] == "Claude Code asks: Which boat?"


def killed() -> None:
    raise InterruptedError


@pytest.mark.covers("INBOX-2", "GW-TASK-1")
@pytest.mark.parametrize("moment", ["before the question is stored", "after it"])
async def test_a_task_whose_server_was_killed_waits_on_for_the_same_question(
    host: UiServer, running: Running, moment: str
) -> None:
    first = Handle(on_checkpoint=killed if moment == "before the question is stored" else lambda: None)
    with suppress(InterruptedError):
        await asked(host, {**TWO, "wait": 0}, first)
    assert first.resumed is not None
    handle = Handle({**first.resumed, "until": time.time() + 60})
    results: list[JsonObject] = []

    async def wait() -> None:
        results.append(await asked(host, {}, handle))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        while not (await asked(host, {}))["questions"]:
            await anyio.lowlevel.checkpoint()
        (waiting,) = (await asked(host, {}))["questions"]
        await answered(running.person_url, waiting["id"], {"1": ["blue"], "2": "Why not"})

    assert [result["answers"] for result in results] == [[["blue"], "Why not"]]
    assert len((await asked(host, {}))["questions"]) == 1


@pytest.mark.covers("INBOX-2")
async def test_a_question_is_answered_by_the_next_server(tmp_path: Path, host: UiServer) -> None:
    pending = await asked(host, TWO)
    async with running_server(tmp_path) as next_server:
        status = await answered(next_server.person_url, pending["id"], {"1": ["blue"], "2": "Why not"})

    assert status == 200
    assert (await asked(host, {"id": pending["id"]}))["answers"] == [["blue"], "Why not"]


@pytest.mark.covers("INBOX-4")
async def test_only_the_person_sees_the_words_and_answers(host: UiServer, running: Running) -> None:
    pending = await asked(host, TWO)
    headers = await to_thread.run_sync(let_in, running.person_url)
    async with httpx2.AsyncClient(timeout=60, follow_redirects=True) as app:
        await app.get(running.url)
        shown = (await app.get(f"{running.url}/inbox")).json()["questions"]
        body = {"decision": "decline"}
        tries = [
            (await app.post(f"{running.url}/inbox/{pending['id']}/answer", json=body)).status_code,
            (await app.post(f"{running.person_url}/inbox/{pending['id']}/answer", json=body)).status_code,
            (await app.get(f"{running.person_url}/inbox")).status_code,
        ]
        person = (await app.get(f"{running.person_url}/inbox", headers=headers)).json()["questions"]
        state = (await app.get(f"{running.person_url}/person/state", headers=headers)).json()

    assert [sorted(one) for one in shown] == [["agent", "created_at", "id", "kind"]]
    assert tries[0] in {404, 405}
    assert tries[1:] == [403, 401]
    assert [one["title"] for one in person] == ["Claude Code has 2 questions"]
    assert (state["pending"], state["inbox"]) == (1, True)


async def test_questions_of_others_are_none_of_the_agents_business(host: UiServer, running: Running) -> None:
    configured = host.configured()
    async with opened(inbox_url(configured.config, configured.workspace)) as inbox:
        other = await inbox.ask(inbox.new("permission", "x", {}, source="codex", agent="Codex", lifetime=600))
    with pytest.raises(NotFoundError):
        await asked(host, {"id": other.id})

    assert await asked(host, {}) == {"questions": []}
