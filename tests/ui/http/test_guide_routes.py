"""Pages of guides and READMEs: readable for people, plain for programs, harmless whatever they contain."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from servers import running_server
from ui_mcp.ui.http.guide_routes import rendered
from ui_mcp.ui.states import Running

PAGE = {"Accept": "text/html"}


@pytest.fixture
async def running(tmp_path: Path) -> AsyncIterator[Running]:
    async with running_server(tmp_path) as running:
        yield running


@pytest.fixture(params=["mcp", "ui"])
async def client(request: pytest.FixtureRequest, running: Running) -> AsyncIterator[httpx2.AsyncClient]:
    address = running.url if request.param == "ui" else f"http://127.0.0.1:{running.mcp_port}"
    async with httpx2.AsyncClient(base_url=address, timeout=60) as client:
        yield client


@pytest.mark.covers("UI-HTTP-11")
async def test_folders_are_listed_as_json_and_as_a_page(client: httpx2.AsyncClient, running: Running) -> None:
    own = running.workspace.resources / "mine"
    own.mkdir()
    (own / "a note.md").write_text("# Mine")
    (own / ".hidden").write_text("no")

    top = (await client.get("/api/resource/")).json()
    inner = (await client.get("/api/resource/mine")).json()
    page = await client.get("/api/resource/", headers=PAGE)

    assert {"name": "mine", "is_dir": True, "size": 0} in top["entries"]
    assert inner == {"path": "mine", "entries": [{"name": "a note.md", "is_dir": False, "size": 6}]}
    assert '<a href="/api/resource/lua.md">lua.md</a>' in page.text


@pytest.mark.covers("UI-HTTP-11")
async def test_a_guide_is_a_page_for_browsers_and_its_text_for_programs(client: httpx2.AsyncClient) -> None:
    page = await client.get("/api/resource/viewdefs.md", headers=PAGE)
    text = await client.get("/api/resource/viewdefs.md")

    assert "<h1>" in page.text
    assert "<table>" in page.text
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    assert text.text.startswith("# ")


@pytest.mark.covers("UI-HTTP-11", "UI-SEC-6")
@pytest.mark.parametrize(
    "path", ["../config/config.toml", "%2e%2e/README.md", ".hidden", "link.md", "nothing", "state"]
)
async def test_nothing_outside_is_served(client: httpx2.AsyncClient, running: Running, path: str) -> None:
    (running.workspace.base / "secret.md").write_text("secret")
    (running.workspace.resources / "link.md").symlink_to("../secret.md")
    (running.workspace.resources / ".hidden").write_text("secret")

    found = await client.get(f"/api/resource/{path}")

    assert found.status_code == 404
    assert "secret" not in found.text


@pytest.mark.covers("UI-HTTP-12")
async def test_the_readme_of_an_app_is_a_page(client: httpx2.AsyncClient, running: Running) -> None:
    (running.workspace.apps / "shop").mkdir()
    (running.workspace.apps / "shop" / "Readme.MD").write_text("# The shop\n\n<script>alert(1)</script>")

    page = await client.get("/api/readme/shop", headers=PAGE)
    missing = await client.get("/api/readme/other", headers=PAGE)

    assert "<h1>The shop</h1>" in page.text
    assert "<script>alert" not in page.text
    assert (page.status_code, missing.status_code) == (200, 404)


@pytest.mark.covers("UI-HTTP-12")
async def test_the_readme_has_the_address_of_the_original_too(running: Running) -> None:
    (running.workspace.apps / "shop").mkdir()
    (running.workspace.apps / "shop" / "README.md").write_text("# The shop")
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{running.mcp_port}") as client:
        page = await client.get("/app/shop/readme", headers=PAGE)

    assert "<h1>The shop</h1>" in page.text


@pytest.mark.covers("UI-HTTP-12", "UI-SEC-6")
async def test_a_readme_behind_a_link_out_of_the_project_is_not_served(running: Running, tmp_path: Path) -> None:
    outside = tmp_path.parent / f"{tmp_path.name}-outside.md"
    outside.write_text("secret")
    (running.workspace.apps / "shop").mkdir()
    (running.workspace.apps / "shop" / "README.md").symlink_to(outside)
    async with httpx2.AsyncClient(base_url=f"http://127.0.0.1:{running.mcp_port}") as client:
        found = await client.get("/app/shop/readme", headers=PAGE)

    assert found.status_code == 404


@pytest.mark.covers("UI-HTTP-11")
async def test_where_pages_need_a_link_guides_do_too(tmp_path: Path) -> None:
    async with (
        running_server(tmp_path, server__require_token=True) as running,
        httpx2.AsyncClient(base_url=running.url) as visitor,
    ):
        before = await visitor.get("/api/resource/lua.md", headers=PAGE)
        await visitor.get(running.local_url.removeprefix(running.url))
        after = await visitor.get("/api/resource/lua.md", headers=PAGE)

    assert (before.status_code, after.status_code) == (403, 200)


def test_html_and_scripts_in_a_text_stay_text() -> None:
    shown = rendered("---\ndescription: x\n---\n<img src=x onerror=alert(1)> [a](javascript:alert(1)) **b**")

    assert "<img" not in shown
    assert "href" not in shown
    assert "<strong>b</strong>" in shown
    assert "description" not in shown
