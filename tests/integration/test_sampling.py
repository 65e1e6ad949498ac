"""`nlui__ask` with the model of a real SDK client: its sampling answers, our tools act."""

import sys
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from mcp_types import TextContent

from ui_mcp.gateway.web.demo import demo_api
from ui_mcp.jsontypes import dumps
from ui_mcp.webserver.server import bind, listening, port_of


class Mind:
    """A client's model: lists the orders, then says how many it saw."""

    def __init__(self) -> None:
        self.asked: list[types.CreateMessageRequestParams] = []

    async def sample(self, context: Any, params: types.CreateMessageRequestParams) -> Any:
        self.asked.append(params)
        newest = params.messages[-1].content
        blocks = newest if isinstance(newest, list) else [newest]
        if blocks[0].type == "tool_result":
            (text,) = (part.text for part in blocks[0].content if part.type == "text")
            said = types.TextContent(type="text", text=f"Orders: {text.count('customer')}")
            return types.CreateMessageResult(role="assistant", content=said, model="mine", stop_reason="endTurn")
        if not params.tools:
            said = types.TextContent(type="text", text="I have no tools.")
            return types.CreateMessageResult(role="assistant", content=said, model="mine", stop_reason="endTurn")
        use = types.ToolUseContent(type="tool_use", id="u1", name="shop__list_orders", input={})
        return types.CreateMessageResultWithTools(role="assistant", content=[use], model="mine", stop_reason="toolUse")


def nlui(folder: Path, url: str) -> StdioServerParameters:
    (folder / "nlui.yaml").write_text(dumps({"data_dir": "./data", "targets": [{"name": "shop", "base_url": url}]}))
    return StdioServerParameters(
        command=sys.executable, args=["-m", "ui_mcp", "nlui", "--mcp", "nlui.yaml"], cwd=folder
    )


@pytest.mark.slow
@pytest.mark.parametrize("with_tools", [True, False])
@pytest.mark.covers("AGENT-SAMPLING")
async def test_a_clients_own_model_uses_our_tools(tmp_path: Path, with_tools: bool) -> None:
    mind, socket = Mind(), bind("127.0.0.1", 0)
    offers = types.SamplingCapability(tools=types.SamplingToolsCapability() if with_tools else None)
    async with (
        listening(demo_api(), socket),
        Client(
            nlui(tmp_path, f"http://127.0.0.1:{port_of(socket)}"),
            mode="legacy",
            sampling_callback=mind.sample,
            sampling_capabilities=offers,
        ) as client,
    ):
        listed = {tool.name for tool in (await client.list_tools()).tools}
        result = await client.call_tool("nlui__ask", {"question": "How many orders are there?"})

    assert "nlui__ask" in listed
    assert not result.is_error
    used = [{"name": "shop__list_orders", "status": "done"}] if with_tools else []
    said = "Orders: 3" if with_tools else "I have no tools."
    assert result.structured_content == {"answer": said, "calls": used}
    assert ("shop__list_orders" in {tool.name for tool in mind.asked[0].tools or []}) == with_tools
    assert mind.asked[0].system_prompt


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["legacy", "auto"])
@pytest.mark.covers("AGENT-SAMPLING")
async def test_a_client_that_lends_no_model_is_told_so(tmp_path: Path, mode: Any) -> None:
    socket = bind("127.0.0.1", 0)
    async with (
        listening(demo_api(), socket),
        Client(nlui(tmp_path, f"http://127.0.0.1:{port_of(socket)}"), mode=mode) as client,
    ):
        listed = {tool.name for tool in (await client.list_tools()).tools}
        result = await client.call_tool("nlui__ask", {"question": "How many?"})

    assert "nlui__ask" not in listed
    assert result.is_error
    content = result.content[0]
    assert isinstance(content, TextContent)
    assert "lends no model" in content.text
