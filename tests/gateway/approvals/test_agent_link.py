"""Approvals in the journals of agents: only those of calls that the agent itself made."""

from pathlib import Path

from gateway.conftest import Recorder
from gateway.gateways import gateway
from ui_mcp.agent.calls import Fetch
from ui_mcp.agent.journal import MemoryJournal
from ui_mcp.agent.journal_writer import JournalWriter
from ui_mcp.gateway.approvals.agent_link import ApprovalWatch
from ui_mcp.gateway.service import GatewayService
from ui_mcp.toolkit.tool import Call

CLIENT = Call(client_name="a/b", connection="stdio")


async def journal_of(agent: str) -> JournalWriter:
    journal = MemoryJournal()
    lease = await journal.take_lease(agent, agent, 60)
    assert lease is not None
    return JournalWriter(journal, agent, lease)


async def looked_up(found: GatewayService, journal: JournalWriter) -> Fetch | None:
    """Find the approval of call "b" of agent "a"."""
    writers = {"a": journal}
    watch = ApprovalWatch(found.approvals, found.announcements, found.enforcer.outcome, writers.get, "agent")
    return await watch.find("a", "b")


async def test_a_client_whose_name_contains_a_slash_is_not_taken_for_an_agent(
    recorder: Recorder, tmp_path: Path
) -> None:
    journal = await journal_of("a")
    async with gateway(tmp_path, recorder) as found:
        await found.enforcer.call("shop__addThing", {"body": {"name": "boat"}}, CLIENT)
        fetch = await looked_up(found, journal)

    assert fetch is None
    assert journal.events == []


async def test_an_approval_is_recorded_in_the_journal_of_the_agent_that_called(
    recorder: Recorder, tmp_path: Path
) -> None:
    journal = await journal_of("a")
    async with gateway(tmp_path, recorder) as found:
        call = Call(principal="agent", agent="a", call_id="b")
        await found.enforcer.call("shop__addThing", {"body": {"name": "boat"}}, call)
        fetch = await looked_up(found, journal)

    assert fetch is not None
    assert [(event.type, event.data["call_id"]) for event in journal.events] == [("approval_requested", "b")]


async def test_a_client_with_the_name_of_an_agents_call_does_not_hide_its_approval(
    recorder: Recorder, tmp_path: Path
) -> None:
    journal = await journal_of("a")
    async with gateway(tmp_path, recorder) as found:
        call = Call(principal="agent", agent="a", call_id="b")
        await found.enforcer.call("shop__addThing", {"body": {"name": "boat"}}, call)
        await found.enforcer.call("shop__addThing", {"body": {"name": "oars"}}, CLIENT)

        assert await looked_up(found, journal) is not None


async def test_the_calls_of_a_client_with_a_slash_in_its_name_carry_no_persons_token(
    recorder: Recorder, tmp_path: Path
) -> None:
    async with gateway(tmp_path, recorder) as found:
        found.forward_token("agent", "a", "persons-own")
        await found.enforcer.call("shop__listThings", {}, Call("agent", "stdio", client_name="a/b"))
        await found.enforcer.call("shop__listThings", {}, Call("agent", agent="a", call_id="b"))

    assert [request.headers.get("authorization") for request in recorder.requests] == [None, "Bearer persons-own"]
