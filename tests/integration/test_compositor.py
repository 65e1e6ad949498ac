"""The compositor's own tools over MCP: chat, loop and resources by the names of the specification."""

from pathlib import Path
from typing import Any

import pytest

from gateway.gateways import gateway
from integration.lineclient import LineClient
from ui_mcp.errors import RefusedError
from ui_mcp.gateway.config.configuration import GatewayOptions
from ui_mcp.gateway.mcp import gateway_definition
from ui_mcp.jsontypes import loads
from ui_mcp.toolkit.tool import Call, Text
from ui_mcp.workspace import AUDIT_FILE

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300), pytest.mark.covers("R-CO-11")]

SPELLINGS = ("loop.yield_turn", "loop__yield_turn", "loop_yield_turn", "ui.end_turn")


@pytest.mark.covers("R-LO-1", "R-RS-8")
def test_an_agent_of_another_host_finds_chat_loop_and_resources_at_the_ui_server(tmp_path: Path) -> None:
    with LineClient(cwd=tmp_path) as agent:
        posted = agent.call("chat__assistant_post", content="Done.")
        page = agent.call("chat__read_and_advance")
        yielded = [agent.call(name) for name in SPELLINGS]
        listed = agent.call("resources__list", uri_prefix="ui://lua")
        guide = agent.call("resources__read", uri="ui://lua", max_bytes=100)

    assert page["last_id"] == posted["id"]
    assert yielded == [{"ok": True}] * 4
    assert [one["uri"] for one in listed["resources"]] == ["ui://lua"]
    assert (guide["parts"][0]["text"][:2], guide["next_offset"]) == ("# ", 100)


@pytest.mark.covers("R-LO-1")
async def test_the_gateway_has_loop_and_resources_and_notes_their_calls(tmp_path: Path) -> None:
    async with gateway(tmp_path) as found:
        toolset = gateway_definition(found, GatewayOptions()).toolset
        yielded = await toolset.call("loop.yield_turn", {}, Call())
        listed = (await toolset.call("resources__list", {}, Call())).structured or {}
        names = [tool.name for tool in await toolset.tools(Call())]
        lines = [loads(line) for line in (tmp_path / "data" / AUDIT_FILE).read_text().splitlines()]

    assert yielded.content == (Text('{"ok":true}'),)
    assert "nlui://health" in [one["uri"] for one in listed["resources"]]
    assert [(line["source"], line["tool"]) for line in lines] == [
        ("loop", "loop_yield_turn"),
        ("resources", "resources__list"),
    ]
    assert "resources__list" not in names


@pytest.mark.covers("R-RS-8")
def test_a_subscription_by_tool_brings_notifications_until_it_is_taken_back(tmp_path: Path) -> None:
    with LineClient(cwd=tmp_path) as agent:
        began = agent.call("resources__subscribe", uri="ui://chat/head")
        post = {"name": "chat__assistant_post", "arguments": {"content": "One."}}
        agent.send({"jsonrpc": "2.0", "id": "post", "method": "tools/call", "params": post})
        heard: list[dict[str, Any]] = []
        while {one.get("id", one.get("method")) for one in heard} < {"post", "notifications/resources/updated"}:
            heard.append(agent.receive())
        ended = agent.call("resources.unsubscribe", uri="ui://chat/head")

    assert (began, ended) == (
        {"uri": "ui://chat/head", "subscribed": True},
        {"uri": "ui://chat/head", "subscribed": False},
    )
    [told] = [one for one in heard if one.get("method") == "notifications/resources/updated"]
    assert told["params"]["uri"] == "ui://chat/head"


@pytest.mark.covers("R-RS-8")
async def test_a_caller_without_notifications_is_told_what_else_there_is(tmp_path: Path) -> None:
    async with gateway(tmp_path) as found:
        toolset = gateway_definition(found, GatewayOptions()).toolset
        with pytest.raises(RefusedError, match=r"(?s)no notifications.*subscriptions/listen"):
            await toolset.call("resources__subscribe", {"uri": "nlui://health"}, Call())
