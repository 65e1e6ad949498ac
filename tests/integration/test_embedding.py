"""The gateway inside another Python program."""

from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import pytest

from ui_mcp.errors import LifecycleError
from ui_mcp.gateway import Gateway
from ui_mcp.gateway.web.demo import SCRIPT, serve_demo_api
from ui_mcp.jsontypes import dumps
from ui_mcp.toolkit.tool import Text


@pytest.fixture
async def config(tmp_path: Path) -> AsyncIterator[Path]:
    async with anyio.create_task_group() as tasks:
        shop = await tasks.start(serve_demo_api)
        file = tmp_path / "nlui.yaml"
        llm = {"provider": "scripted", "script": SCRIPT}
        targets = [{"name": "shop", "base_url": shop}]
        file.write_text(dumps({"data_dir": str(tmp_path / "data"), "targets": targets, "llm": llm}))
        yield file
        tasks.cancel_scope.cancel()


@pytest.mark.covers("GW-API-5")
async def test_tools_calls_and_chat_need_no_server(config: Path) -> None:
    async with Gateway.from_config(config) as gateway:
        names = {tool["name"] for tool in await gateway.tools()}
        result = await gateway.call("shop__get_order", {"id": 2})
        events = [event async for event in gateway.chat("show the orders")]

    assert {"shop__list_orders", "shop__ship_order"} <= names
    assert isinstance(result.content[0], Text)
    assert "Grace Hopper" in result.content[0].text
    kinds = [name for name, _ in events if name not in {"content_delta", "usage"}]
    assert kinds == ["session", "tool_call", "tool_result", "content", "done"]


async def test_outside_its_block_it_says_how_to_use_it(tmp_path: Path) -> None:
    with pytest.raises(LifecycleError, match="async with"):
        await Gateway.from_config(tmp_path / "nlui.yaml").tools()
