"""Hosts that are web pages: which of them may read the answers of the MCP port."""

from pathlib import Path

import httpx2
import pytest

from servers import running_server

HOST = "http://localhost:8080"
ASKS = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type,mcp-session-id"}


@pytest.mark.covers("MCP-APP-9")
@pytest.mark.parametrize(("origin", "readable"), [(HOST, True), ("http://localhost:9090", False)])
async def test_only_pages_of_allowed_origins_may_read_answers(origin: str, readable: bool, tmp_path: Path) -> None:
    async with running_server(tmp_path, server__allowed_origins=[HOST]) as running:
        address = f"http://127.0.0.1:{running.mcp_port}"
        async with httpx2.AsyncClient(base_url=address, headers={"Origin": origin}, timeout=60) as page:
            asked = await page.options("/mcp", headers=ASKS)
            answered = await page.get("/health")

    shared = origin if readable else None
    assert asked.headers.get("access-control-allow-origin") == shared
    assert asked.is_success == readable
    assert answered.headers.get("access-control-allow-origin") == shared
    assert answered.headers["access-control-expose-headers"] == "mcp-session-id"


@pytest.mark.covers("MCP-APP-9")
async def test_without_allowed_origins_no_page_may(tmp_path: Path) -> None:
    async with running_server(tmp_path) as running, httpx2.AsyncClient(headers={"Origin": HOST}, timeout=60) as page:
        asked = await page.options(f"http://127.0.0.1:{running.mcp_port}/mcp", headers=ASKS)

    assert asked.status_code == 403
    assert "access-control-allow-origin" not in asked.headers
