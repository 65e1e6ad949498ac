"""`/api/TOOL`: every tool over HTTP, for programs and never for pages."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from servers import running_server
from ui_mcp.toolkit.tool import Media, Relayed, Text, ToolResult
from ui_mcp.ui.http.tool_routes import answer_of
from ui_mcp.ui.states import Running


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[Running]:
    async with running_server(tmp_path) as running:
        yield running


@pytest.fixture
async def api(running: Running) -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{running.mcp_port}/api/", timeout=60) as client:
        yield client


@pytest.mark.covers("UI-HTTP-10")
async def test_a_tool_answers_its_json_as_json(api: httpx2.AsyncClient, running: Running) -> None:
    ran = await api.post("ui_run", json={"code": "return 'Ada'"})
    status = await api.get("ui_status")

    assert (ran.status_code, ran.json()) == (200, {"result": "Ada"})
    assert status.json()["result"]["url"] == running.url


@pytest.mark.covers("UI-HTTP-10")
async def test_a_failing_tool_is_a_client_error_with_its_message(api: httpx2.AsyncClient) -> None:
    failed = await api.post("ui_run", json={"code": "error('boom')"})
    unfit = await api.post("ui_run", json={"kode": "1"})
    unknown = await api.post("ui_fly", json={})
    again = await api.post("ui_start", json={})

    assert failed.status_code == 400
    assert "boom" in failed.json()["error"]
    assert (unfit.status_code, unknown.status_code, again.status_code) == (400, 404, 409)
    assert "code" in unfit.json()["error"]
    assert again.json()["error"].startswith("Server already running")


@pytest.mark.covers("UI-HTTP-10", "UI-SEC-5")
async def test_only_json_and_forms_of_scripts_are_arguments(api: httpx2.AsyncClient) -> None:
    code = {"code": "return 'a=b&c'"}
    bare = await api.post("ui_run", data=code)
    script = await api.post("ui_run", data=code, headers={"X-Ui-Mcp": "1"})
    broken = await api.post("ui_run", content=b"{", headers={"Content-Type": "application/json"})

    assert (bare.status_code, broken.status_code) == (415, 400)
    assert script.json() == {"result": "a=b&c"}


@pytest.mark.covers("UI-HTTP-10")
async def test_reading_tools_answer_get_and_changing_ones_name_post(api: httpx2.AsyncClient) -> None:
    themes = await api.get("ui_theme", params={"action": "list"})
    refused = await api.get("ui_run", params={"code": "return 1"})

    assert "light" in [theme["name"] for theme in themes.json()["result"]["themes"]]
    assert (refused.status_code, refused.headers["allow"]) == (405, "POST")


@pytest.mark.covers("UI-HTTP-10", "UI-SEC-5")
@pytest.mark.parametrize("header", [("Origin", "{ui}"), ("Origin", "{mcp}"), ("Sec-Fetch-Site", "same-origin")])
async def test_no_page_of_ours_calls_a_tool(api: httpx2.AsyncClient, running: Running, header: tuple[str, str]) -> None:
    mcp = f"http://127.0.0.1:{running.mcp_port}"
    headers = {header[0]: header[1].format(ui=running.url, mcp=mcp)}

    called = await api.post("ui_run", json={"code": "hacked = true"}, headers=headers)
    listed = await api.get("", headers=headers)

    assert (called.status_code, listed.status_code) == (403, 403)
    assert await running.sessions.get("1").run_lua("return hacked") == "null"


@pytest.mark.covers("UI-HTTP-10")
async def test_the_list_names_every_tool_that_agents_see(api: httpx2.AsyncClient) -> None:
    listed = (await api.get("")).json()["tools"]

    names = {tool["name"] for tool in listed}
    assert {"ui_run", "ui_display", "ui_audit", "chat_assistant_post", "ui_get_snapshot"} <= names
    assert "ui_sync" not in names
    assert next(tool for tool in listed if tool["name"] == "ui_run")["arguments"]["code"]["type"] == "string"


def test_every_kind_of_content_has_a_json_form() -> None:
    picture = Media("image", b"\x01", "image/png")
    result = ToolResult((Text("words"), Text("[1]"), picture, Relayed({"type": "x"})))

    body = answer_of(result).body

    shown = b'{"result":["words",[1],{"type":"image","mimeType":"image/png","data":"AQ=="},{"type":"x"}]}'
    assert body == shown
