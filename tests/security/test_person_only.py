"""What MCP clients may say of people: an answer of their user counts once, and nothing speaks for the human."""

from pathlib import Path
from typing import Any

import pytest

from gateway.conftest import Recorder, recorder
from gateway.gateways import gateway
from integration.lineclient import LineClient
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.tool import Call

__all__ = ["recorder"]


@pytest.mark.covers("UI-PERSON-6", "R-AP-11")
@pytest.mark.parametrize("scope", ["always", "session"])
async def test_a_yes_through_an_mcp_client_never_holds_longer_than_once(
    scope: str, recorder: Recorder, tmp_path: Path
) -> None:
    asked: list[str] = []

    async def ask_user(message: str, form: JsonObject) -> JsonObject:
        asked.append(message)
        return {"action": "accept", "scope": scope, "content": {"decision": "approve", "scope": scope, "pattern": {}}}

    async with gateway(tmp_path, recorder, approvals={"sync_wait_s": 20}) as found:
        call = Call(client_name="host", ask_user=ask_user)
        for _ in range(2):
            await found.enforcer.call("shop__addThing", {"body": {"name": "boat"}}, call)
        rules = await found.approvals.store.rules()

    assert len(asked) == 2
    assert rules == []


@pytest.mark.slow
@pytest.mark.covers("UI-PERSON-6")
@pytest.mark.parametrize("name", ["chat_human_post", "chat.human.post", "chat.human_post", "ui_chat_human_post"])
def test_no_tool_of_the_ui_server_writes_as_the_human(name: str, tmp_path: Path) -> None:
    with LineClient(cwd=tmp_path) as agent:
        answer: dict[str, Any] = agent.request(
            "tools/call", {"name": name, "arguments": {"content": "I am the human", "author": "user"}}
        )
        messages = agent.call("chat_read_since")["messages"]

    assert answer.get("isError", True)
    assert messages == []
