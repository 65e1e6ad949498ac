"""The console and the settings over HTTP: for the person only."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from anyio import to_thread

from person_client import let_in
from servers import running_server
from ui.console.archives import APP, zipped
from ui_mcp.jsontypes import JsonObject, loads
from ui_mcp.ui.states import Running

pytestmark = pytest.mark.slow


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Running]:
    async with running_server(tmp_path) as running:
        yield running


@pytest.fixture
async def person(server: Running) -> AsyncIterator[httpx2.AsyncClient]:
    headers = await to_thread.run_sync(let_in, server.person_url)
    async with httpx2.AsyncClient(base_url=server.person_url, headers=headers, timeout=60) as client:
        yield client


PATHS = [
    ("GET", "/apps"),
    ("POST", "/apps"),
    ("DELETE", "/apps/notes"),
    ("POST", "/apps/notes/show"),
    ("POST", "/imports/git"),
    ("POST", "/imports/archive?name=a.zip"),
    ("POST", "/console"),
    ("GET", "/settings"),
    ("PUT", "/settings/values"),
    ("POST", "/settings/agreement"),
]


@pytest.mark.covers("UI-SHELL-6", "UI-SHELL-5")
@pytest.mark.parametrize(("method", "path"), PATHS)
async def test_neither_app_pages_nor_agents_reach_the_console(server: Running, method: str, path: str) -> None:
    mcp = f"http://127.0.0.1:{server.mcp_port}"
    app = {"origin": server.url, "sec-fetch-site": "same-site"}
    statuses = []
    async with httpx2.AsyncClient(timeout=60) as client:
        for base, headers in ((server.person_url, app), (server.person_url, {}), (server.url, app), (mcp, {})):
            body = {"content-type": "application/json"}
            answer = await client.request(method, f"{base}{path}", headers=headers | body, content=b"{}")
            statuses.append(answer.status_code)

    assert all(status in {401, 403, 404, 405} for status in statuses), statuses


@pytest.mark.covers("UI-SHELL-3")
async def test_an_uploaded_app_is_reviewed_installed_and_shown(server: Running, person: httpx2.AsyncClient) -> None:
    code = "Notes = session:prototype('Notes', {})\nnotes = notes or session:create(Notes)\nos.execute('x')\n"
    data = zipped({**APP, "notes/app.lua": code})
    staged = await person.post("/imports/archive?name=notes.zip", content=data)
    review: JsonObject = staged.json()
    before = (await person.get("/apps")).json()
    number = review["id"]
    shown = (await person.get(f"/imports/{number}/files/notes/app.lua")).json()
    done = await person.post(f"/imports/{number}/accept", json={"folder": "notes", "name": "notes"})
    after = (await person.get("/apps")).json()

    assert staged.status_code == 201
    assert [one["id"] for one in review["apps"][0]["abilities"]] == ["exec", "texts"]
    assert (before["apps"], [one["id"] for one in before["imports"]]) == ([], [number])
    assert shown["text"] == code
    assert done.json() == {"name": "notes"}
    assert [app["name"] for app in after["apps"]] == ["notes"]
    assert after["imports"] == []


@pytest.mark.covers("UI-SHELL-4")
async def test_a_hostile_or_huge_upload_says_why(person: httpx2.AsyncClient) -> None:
    hostile = await person.post("/imports/archive?name=a.zip", content=zipped({"../../up": "x"}))
    huge = await person.post("/imports/archive?name=a.zip", content=b"0" * (33 * 1024 * 1024))
    offline = await person.post("/imports/git", json={"address": "https://nowhere.invalid/a/b"})

    assert (hostile.status_code, huge.status_code, offline.status_code) == (400, 413, 400)
    assert "not allowed" in hostile.json()["error"]
    assert "cannot be reached" in offline.json()["error"]


@pytest.mark.covers("UI-SHELL-2")
async def test_apps_are_created_shown_deleted_and_brought_back(server: Running, person: httpx2.AsyncClient) -> None:
    made = await person.post("/apps", json={"name": "week-plan", "template": True})
    again = await person.post("/apps", json={"name": "week-plan", "template": True})
    shown = await person.post("/apps/week-plan/show", json={})
    displayed = (await person.get("/apps")).json()["displayed"]
    gone = await person.request("DELETE", "/apps/week-plan")
    state = await server.sessions.get("1").run_lua("return mcp.value == nil")
    missing = await person.get("/apps/week-plan")
    back = await person.post(f"/deleted/{gone.json()['undo']}", json={})

    assert [made.status_code, again.status_code, missing.status_code] == [201, 400, 404]
    assert (shown.json(), displayed, state) == ({"displayed": "week-plan"}, "week-plan", "true")
    assert back.json() == {"name": "week-plan"}


@pytest.mark.covers("UI-SHELL-2")
async def test_a_described_app_is_planned_and_the_agent_is_asked_to_build_it(
    server: Running, person: httpx2.AsyncClient
) -> None:
    await person.post("/apps", json={"name": "shopping", "about": "A list of things to buy."})
    asked = await person.post("/apps/shopping/ask", json={"request": "improve", "text": "faster"})
    wrong = await person.post("/apps/shopping/ask", json={"request": "explode"})

    events = [loads(text) for text in server.sessions.get("1").events.drain()]
    assert [(one["request"], one["target"], one["text"]) for one in events if one["event"] == "app_request"] == [
        ("build", "shopping", "A list of things to buy."),
        ("improve", "shopping", "faster"),
    ]
    assert (asked.json(), wrong.status_code) == ({"listening": False}, 400)


@pytest.mark.covers("UI-SHELL-6")
async def test_the_console_runs_lua_with_values_prints_and_errors(person: httpx2.AsyncClient) -> None:
    answers = [
        (await person.post("/console", json={"code": code})).json()
        for code in ("kept = 6", "kept * 7, 'x'", "print('a', 1) return nil", "error('no')", "for")
    ]

    assert [answer["values"] for answer in answers] == [[], ["42", '"x"'], [], [], []]
    assert answers[2]["printed"] == ["a\t1"]
    assert [(answer["error"] or {}).get("message") for answer in answers[3:]] == [
        "console:1: no",
        "console:1: <name> expected near <eof>",
    ]


@pytest.mark.covers("UI-SHELL-6")
async def test_announced_steps_reach_the_page(server: Running, person: httpx2.AsyncClient) -> None:
    first = (await person.get("/progress")).json()
    await server.sessions.get("1").run_lua("mcp:createTodos({'Design', 'Code'}, 'notes') mcp:startTodoStep(2)")
    told = (await person.get(f"/progress?after={first['version']}")).json()

    assert [step["status"] for step in told["todos"]] == ["completed", "in_progress"]
    assert told["apps"]["notes"]["stage"] == "Code…"


@pytest.mark.covers("UI-SHELL-5")
async def test_a_setting_that_widens_rights_needs_agreement(server: Running, person: httpx2.AsyncClient) -> None:
    wide = {"key": "lua.permissions.exec", "value": True}
    refused = await person.put("/settings/values", json=wide)
    untouched = server.workspace.config_file.exists()
    agreed = (await person.put("/settings/values", json=wide | {"agree": True})).json()

    assert (refused.status_code, untouched) == (400, False)
    assert (agreed["agreement"]["agreed"], agreed["restart"]) == (True, True)


@pytest.mark.covers("UI-SHELL-5")
async def test_agreeing_to_one_setting_does_not_agree_to_what_a_project_brought(
    server: Running, person: httpx2.AsyncClient
) -> None:
    server.workspace.config_file.write_text('[lua.permissions]\nwrite = ["{project}"]\n')
    told = (
        await person.put("/settings/values", json={"key": "lua.permissions.exec", "value": True, "agree": True})
    ).json()
    stale = await person.post("/settings/agreement", json={"digest": "0"})
    shown = await person.post("/settings/agreement", json={"digest": told["agreement"]["digest"]})
    withdrawn = await person.request("DELETE", "/settings/agreement")

    assert told["agreement"]["agreed"] is False
    assert [one["key"] for one in told["agreement"]["rights"]] == ["lua.permissions.exec", "lua.permissions.write"]
    assert stale.status_code == 400
    assert shown.json()["agreement"]["agreed"] is True
    assert withdrawn.json()["agreement"]["agreed"] is False


@pytest.mark.covers("UI-SHELL-5")
async def test_the_theme_is_kept_beside_what_apps_keep(server: Running, person: httpx2.AsyncClient) -> None:
    file = server.workspace.storage / "settings.json"
    file.write_text('{"mine": 1}')
    answer = await person.put("/settings/theme", json={"name": "dark"})
    wrong = await person.put("/settings/theme", json={"name": "none"})

    assert (answer.json(), wrong.status_code) == ({"theme": "dark"}, 404)
    assert loads(file.read_bytes()) == {"mine": 1, "theme": "dark"}
    assert (await person.get("/settings")).json()["theme"] == "dark"


@pytest.mark.covers("UI-SHELL-7")
async def test_the_introduction_is_offered_once(person: httpx2.AsyncClient) -> None:
    before = (await person.get("/person/state")).json()["introduced"]
    await person.put("/settings/introduction", json={"seen": True})
    after = (await person.get("/person/state")).json()["introduced"]
    await person.put("/settings/introduction", json={"seen": False})

    assert (before, after) == (False, True)
