"""The timeline of an agent in another process, read from its journal and from the chat."""

from pathlib import Path

import pytest

from ui_mcp.agent.http import frames_of
from ui_mcp.agent.observer import TimelineObserver
from ui_mcp.agent.timeline import StoredEvent
from ui_mcp.chat.identity import principal
from ui_mcp.chat.message import Draft
from ui_mcp.chat.service import Chat, open_chat
from ui_mcp.errors import AgentError
from ui_mcp.jsontypes import JsonObject

AGENT = principal("agent", "agent")
PERSON = principal("person", "human")
CALL = StoredEvent(1, "2001-01-01T00:00:00.000000Z", "tool_call", {"call_id": "1-1", "name": "look", "args": {}})


class Busy:
    """A journal whose agent makes a call and posts its answer while it is observed."""

    def __init__(self, chat: Chat) -> None:
        self.served = True
        self.live: JsonObject | None = None
        self._chat = chat
        self._looks = 0

    async def news(self) -> list[StoredEvent]:
        self._looks += 1
        if self._looks == 1:
            await self._chat.post(AGENT, "assistant", "default", [Draft("Seen.")])
            return []
        if self._looks == 2:
            raise AgentError("Cannot read the journal: it is locked")
        return [CALL] if self._looks == 3 else []


@pytest.mark.covers("R-BR-4", "R-UI-6")
async def test_an_answer_never_stands_before_the_call_it_came_from_and_is_not_lost(tmp_path: Path) -> None:
    async with open_chat(f"sqlite:///{tmp_path}/runtime.db") as chat:
        observed = TimelineObserver("default", chat, Busy(chat))
        await observed.refresh()
        assert observed.snapshot()["state"]["items"] == []
        with pytest.raises(AgentError):
            await observed.refresh()
        await observed.refresh()
        await observed.refresh()

    assert [item["kind"] for item in observed.snapshot()["state"]["items"]] == ["tool", "assistant_markdown"]


class Absent:
    """A journal that no agent serves until `served` is set."""

    def __init__(self) -> None:
        self.served = False
        self.live: JsonObject | None = None

    async def news(self) -> list[StoredEvent]:
        return []


@pytest.mark.covers("R-UI-6")
async def test_a_message_without_an_agent_is_not_shown_as_work(tmp_path: Path) -> None:
    async with open_chat(f"sqlite:///{tmp_path}/runtime.db") as chat:
        agent = Absent()
        observed = TimelineObserver("default", chat, agent)
        frames = frames_of(observed, 0)
        assert [(await anext(frames))["type"] for _ in range(2)] == ["ui_state_snapshot", "run_status"]

        for asked in ("Anybody?", "Hello?"):
            await chat.post(PERSON, "user", "default", [Draft(asked)])
            assert (await anext(frames))["type"] == "ui_state_delta"
        agent.served = True
        assert (await anext(frames))["run"] == "running"
