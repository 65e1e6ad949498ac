"""`ui_history` and `ui_undo`, as agents call them."""

import pytest

from ui_mcp.errors import NotFoundError, RefusedError
from ui_mcp.jsontypes import Json, JsonObject, loads
from ui_mcp.toolkit.functions import FunctionToolset
from ui_mcp.toolkit.tool import Call, Text
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.states import Running
from ui_mcp.ui.tools.history import history
from ui_mcp.ui.tools.undo import undo

pytestmark = pytest.mark.anyio


async def call(host: UiServer, name: str, /, **arguments: Json) -> JsonObject:
    [text] = (await FunctionToolset(host, [history, undo]).call(name, arguments, Call())).content
    assert isinstance(text, Text)
    return dict(loads(text.text))


@pytest.mark.covers("STATE-5")
async def test_an_agent_sees_what_was_done_and_takes_its_own_back(host: UiServer, running: Running) -> None:
    session = running.sessions.get("1")
    await session.run_lua("count = 1")
    await session.history.steps()
    await session.run_lua("count = 2")

    [newest, *_] = (await call(host, "ui_history", limit=2))["steps"]
    assert (newest["by"], newest["label"], newest["at"][-1]) == ("agent", "Run count = 2", "Z")
    assert await call(host, "ui_undo") == {"step": newest["step"], "label": "Run count = 2"}
    assert await session.run_lua("return count") == "1"
    await call(host, "ui_undo", action="redo")
    assert await session.run_lua("return count") == "2"
    await call(host, "ui_undo", action="return", step=newest["step"] - 1)
    assert await session.run_lua("return count") == "1"


@pytest.mark.covers("STATE-6")
async def test_an_agent_tries_something_in_a_fork_and_throws_it_away(host: UiServer, running: Running) -> None:
    session = running.sessions.get("1")
    await session.run_lua("count = 1")

    fork = await call(host, "ui_undo", action="fork")
    await running.sessions.get(fork["sessionId"]).run_lua("count = count + 99")
    assert await running.sessions.get("2").run_lua("return count") == "100"
    assert await call(host, "ui_undo", action="discard", sessionId="2") == {"discarded": "2"}

    assert await session.run_lua("return count") == "1"
    with pytest.raises(NotFoundError):
        running.sessions.get("2")
    with pytest.raises(RefusedError, match="Session 1 is not a fork"):
        await call(host, "ui_undo", action="discard")
