"""What app code can do from its page, in a person's browser and in the one that the agent drives."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.sync_api import Browser, Page

from agreeing import agree, agree_to_gateway
from chromium import launched
from integration.chat_ui.test_ui_server import ui_mcp
from integration.lineclient import LineClient
from integration.test_serve import get
from person_client import let_in
from route_table import filled
from security.neighbour import Neighbour, neighbour
from ui_mcp.app.commands.approvals import ApprovalCommand, act

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
OPERATION = {
    "operationId": "ship",
    "parameters": [{"name": "id", "in": "query", "schema": {"type": "integer"}}],
    "responses": {},
}
SHOP = {"openapi": "3.0.0", "info": {"title": "t", "version": "1"}, "paths": {"/ship": {"post": OPERATION}}}
STILL_WAITING = ["pending", "There are no rules."]
ATTACK = Path(__file__).with_name("attack.js")


@dataclass
class Project:
    """A server whose agent has asked for something and waits."""

    agent: LineClient
    folder: Path
    neighbour: Neighbour
    approval: dict[str, Any]
    url: str = ""
    person_url: str = ""

    def show(self, script: str) -> None:
        """Let the agent write an app whose view runs a script."""
        self.agent.call("ui_run", code="Evil = session:prototype('Evil', {n = 1}) mcp.value = Evil:new()")
        quoted = script.replace("&", "&amp;").replace('"', "&quot;")
        view = f'<template><div><img src="data:," onerror="{quoted}"></div></template>'
        told = self.agent.call("ui_upload_viewdef", type="Evil", namespace="DEFAULT", content=view)
        assert "rror" not in str(told)[:20], told

    def decided(self) -> list[str]:
        """Say what became of the question, and which rules there are."""
        store = str(self.folder / "data" / "approvals.db")
        wishes = ApprovalCommand("show", (self.approval["approval_id"],)), ApprovalCommand("rules")
        with ThreadPoolExecutor(1) as elsewhere:  # the browser's own loop runs in this thread
            shown, rules = (elsewhere.submit(act, store, wish).result() for wish in wishes)
        return [json.loads(shown[0])["status"], *rules]

    def said_by_human(self) -> list[str]:
        """Return what the chat holds of the human."""
        messages = self.agent.call("chat_read_since")["messages"]
        return [message["content"] for message in messages if message["author"] == "user"]


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    with neighbour() as other:
        (tmp_path / "shop.json").write_text(json.dumps({**SHOP, "servers": [{"url": f"{other.url}/api"}]}))
        settings = {
            "data_dir": str(tmp_path / "data"),
            "targets": [{"name": "shop", "spec": "./shop.json"}],
            "policy": {"mode": "guard"},
            "approvals": {"sync_wait_s": 0.2},
        }
        (tmp_path / "nlui.yaml").write_text(json.dumps(settings))
        config = tmp_path / ".claude/ui/config/config.toml"
        config.parent.mkdir(parents=True)
        config.write_text('[gateway]\nconfig = "nlui.yaml"\n')
        agree(config.parent.parent)
        with LineClient(cwd=tmp_path) as agent:
            url = agent.call("ui_start")
            waiting = agent.call("shop__ship", id=42)
            assert waiting["status"] == "awaiting_approval", waiting
            yield Project(agent, tmp_path, other, waiting, url, agent.call("ui_status").get("person_url", ""))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.fixture
def signed_in(chromium: Browser, project: Project) -> Iterator[Page]:
    """A browser whose person has been let in at their own page, with that page open."""
    with chromium.new_context() as context:
        page = context.new_page()
        page.goto(f"{project.person_url}/person/assets/none")
        credential = let_in(project.person_url)["x-ui-person"]
        page.evaluate("credential => localStorage.setItem('ui-person', credential)", credential)
        yield page


def attack(project: Project) -> str:
    """Return everything an app's page may try to answer, to make a rule and to write as the human.

    The agent that wrote the app asked the question, so the page knows its digest without reading it here.
    """
    return ATTACK.read_text().replace("NEIGHBOUR", project.neighbour.url).replace("DIGEST", project.approval["digest"])


@pytest.mark.covers("UI-PERSON-6", "UI-PERSON-5")
def test_an_app_in_the_persons_browser_can_answer_and_write_nothing(project: Project, signed_in: Page) -> None:
    project.show(attack(project))
    tab = signed_in.context.new_page()
    tab.goto(project.url)
    project.neighbour.wait_for("/done")

    report = next(one.path for one in project.neighbour.requests if one.path.startswith("/done"))
    assert "saw=1" in report, report  # it could read what waits, so it knew everything there is to know
    assert project.decided() == STILL_WAITING
    assert project.said_by_human() == []
    assert "/api/ship" not in project.neighbour.paths


@pytest.mark.covers("UI-PERSON-6", "UI-PERSON-4")
def test_an_app_in_the_driven_browser_can_answer_and_write_nothing(project: Project) -> None:
    project.show(attack(project))
    project.agent.call("ui_get_snapshot")
    project.neighbour.wait_for("/done")

    assert project.decided() == STILL_WAITING
    assert project.said_by_human() == []
    assert "/api/ship" not in project.neighbour.paths


@pytest.mark.covers("UI-PERSON-5")
def test_what_another_server_gets_from_an_app_page_opens_nothing_of_the_persons(
    project: Project, signed_in: Page
) -> None:
    other = project.neighbour
    project.show(attack(project))
    tab = signed_in.context.new_page()
    tab.goto(project.url)
    tab.locator("#link").click(timeout=60_000)
    for path in ("/image", "/link", "/popup", "/done"):
        other.wait_for(path)
    accepted = replayed(other, project)

    assert accepted == []
    assert {one.method for one in other.requests} == {"GET"}  # no form, fetch, beacon or ping got out
    assert not {"/form", "/fetch", "/beacon", "/ping", "/frame"} & other.paths


def replayed(other: Neighbour, project: Project) -> list[str]:
    """Send everything that arrived to every route of the person's listener; name what was accepted."""
    changing = [
        ("POST", "/chat/messages"),
        ("POST", f"/approvals/{project.approval['approval_id']}/decision"),
        ("POST", "/approvals/decisions"),
        ("POST", "/approvals/proposals/x"),
        ("POST", "/person/leave"),
    ]
    reading = [("GET", path) for path in ("/person/state", "/person/nonce", "/approvals", "/chat/messages")]
    accepted = []
    for got in other.requests:
        headers = {name: value for name, value in got.headers.items() if name not in {"host", "content-length"}}
        query = got.path.partition("?")[2]
        for method, path in (*changing, *reading):
            for origin in (got.headers.get("origin", ""), project.person_url):
                told = {**headers, **({"origin": origin} if origin else {}), "accept": "application/json"}
                answer = httpx2.request(
                    method, f"{project.person_url}{filled(path)}?{query}", headers=told, content=got.body, timeout=60
                )
                if answer.status_code < 400:
                    accepted.append(f"{method} {path} after {got.path}")
    return accepted


@pytest.mark.covers("UI-PERSON-6")
@pytest.mark.parametrize("role", ["human", "admin", "agent", "orchestrator"])
def test_no_token_decides_or_writes_as_the_human_on_the_mcp_port(project: Project, role: str) -> None:
    token = ui_mcp("token", "create", role, "--role", role, cwd=project.folder)
    mcp = f"http://127.0.0.1:{(project.folder / '.claude/ui/mcp-port').read_text()}"
    bearer = {"authorization": f"Bearer {token}"}
    listed = get(f"{mcp}/approvals", headers=bearer)
    assert listed.status_code in {200, 403}
    answer = {"decision": "approve", "digest": project.approval["digest"], "scope": "always"}
    one = project.approval["approval_id"]
    with httpx2.Client(base_url=mcp, headers=bearer, timeout=60) as client:
        statuses = [
            client.post(f"/approvals/{one}/decision", json=answer).status_code,
            client.post("/approvals/decisions", json={"decisions": [{"id": one, **answer}]}).status_code,
            client.post("/approvals/proposals/x", json={"decision": "accepted"}).status_code,
        ]
        client.post("/chat/messages", json={"content": "as the human"})

    assert set(statuses) <= {404, 405}
    assert project.decided() == STILL_WAITING
    assert project.said_by_human() == []


@pytest.mark.covers("R-AP-16", "UI-PERSON-6")
def test_app_pages_see_no_proof_by_which_another_client_could_fetch_the_result(project: Project) -> None:
    json_please = {"accept": "application/json"}
    with httpx2.Client(base_url=project.url, timeout=60) as page:
        page.get("/")
        waiting = page.get("/approvals", headers=json_please).json()["approvals"]
        token = ui_mcp("token", "create", "looker", "--role", "human", cwd=project.folder)
        mcp = f"http://127.0.0.1:{(project.folder / '.claude/ui/mcp-port').read_text()}"
        by_token = get(f"{mcp}/approvals", headers={"authorization": f"Bearer {token}"}).json()["approvals"]
        one = project.approval["approval_id"]
        answer = {"decision": "approve", "digest": project.approval["digest"]}
        with httpx2.Client(base_url=project.person_url, headers=let_in(project.person_url), timeout=60) as person:
            assert person.post(f"/approvals/{one}/decision", json=answer).status_code == 200
            project.agent.call("approvals__result", approval_id=one, wait_s=60)
            kept = person.get("/approvals?status=history", headers=json_please).json()["approvals"]
        history = page.get("/approvals?status=history", headers=json_please).json()["approvals"]

    assert [row["id"] for row in (*waiting, *by_token, *history)] == [one] * 3
    assert [row for row in (*waiting, *by_token, *history) if {"digest", "result"} & row.keys()] == []
    assert project.approval["digest"] not in str((waiting, by_token, history))
    assert kept[0]["result"] is not None


@pytest.mark.covers("UI-PERSON-6")
def test_without_a_gateway_of_its_own_the_server_shows_app_pages_nobody_elses_questions(
    project: Project, tmp_path: Path
) -> None:
    folder = tmp_path / "other"
    folder.mkdir()
    (folder / "nlui.yaml").write_text((tmp_path / "nlui.yaml").read_text())
    agree_to_gateway(folder / "nlui.yaml")
    with LineClient(cwd=folder) as agent:
        url = agent.call("ui_start")
        person_url = agent.call("ui_status")["person_url"]
        with httpx2.Client(base_url=url, timeout=60) as page:
            page.get("/")
            shown = page.get("/approvals", headers={"accept": "application/json"}).json()
        own = get(f"{person_url}/approvals", headers=let_in(person_url)).json()

    assert project.approval["answer_at"] == f"{project.person_url}/approvals"  # a bare address
    assert shown == {"approvals": [], "proposals": []}
    assert [row["id"] for row in own["approvals"]] == [project.approval["approval_id"]]
