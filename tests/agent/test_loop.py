"""Turns of the agent on the scripted model: what is posted, recorded, stopped."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
import pytest

from ui_mcp.agent.journal_store import JournalStore
from ui_mcp.agent.journal_writer import JournalWriter
from ui_mcp.agent.loop import Loop, LoopSettings
from ui_mcp.agent.models.scripted import ScriptedModel, read_script
from ui_mcp.agent.timeline import replay
from ui_mcp.errors import DeniedError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.functions import FunctionToolset, NoArgs, tool
from ui_mcp.toolkit.tool import Call, ToolResult, structured_result


@dataclass(frozen=True, slots=True)
class PostArgs:
    content: str
    mime: str = "text/markdown"
    client_id: str = ""


@dataclass(frozen=True, slots=True)
class CalcArgs:
    a: int
    b: int = 1


class ToolContext:
    """A chat and a calculator."""

    def __init__(self) -> None:
        self.posted: list[str] = []
        self.by_client: dict[str, str] = {}
        self.hold = anyio.Event()
        self.held = anyio.Event()
        self.added = anyio.Event()


@tool("chat_assistant_post", PostArgs, title="Post")
async def post(context: ToolContext, args: PostArgs, call: Call) -> ToolResult:
    """Post."""
    if args.client_id not in context.by_client:
        context.posted.append(args.content)
        context.by_client[args.client_id] = str(len(context.posted))
    return structured_result({"id": context.by_client[args.client_id], "ts": "now"})


@tool("calc__add", CalcArgs, title="Add")
async def add(context: ToolContext, args: CalcArgs, call: Call) -> JsonObject:
    """Add."""
    context.added.set()
    return {"sum": args.a + args.b}


@tool("slow", NoArgs, title="Slow")
async def slow(context: ToolContext, args: NoArgs, call: Call) -> str:
    """Wait."""
    context.held.set()
    await context.hold.wait()
    return "done"


@tool("forbidden", NoArgs, title="Forbidden")
async def forbidden(context: ToolContext, args: NoArgs, call: Call) -> str:
    """Never allowed."""
    raise DeniedError("not today", decision="deny_continue")


@tool("fatal", NoArgs, title="Fatal")
async def fatal(context: ToolContext, args: NoArgs, call: Call) -> str:
    """Ends the turn."""
    raise DeniedError("stop", decision="deny_abort")


@tool("broken", NoArgs, title="Broken")
async def broken(context: ToolContext, args: NoArgs, call: Call) -> str:
    """Has a mistake."""
    nothing: dict[str, str] = {}
    return nothing["no such key"]


class Stage:
    """A loop with its context, journal and person."""

    def __init__(self, folder: Path) -> None:
        self.context = ToolContext()
        self.journal = JournalStore(folder / "journal.db")
        self.tools = FunctionToolset(self.context, [post, add, slow, forbidden, fatal, broken])
        self.writer: JournalWriter

    async def open(self) -> None:
        lease = await self.journal.take_lease("a", "test", 60)
        assert lease is not None
        self.writer = JournalWriter(self.journal, "a", lease)
        await self.writer.open()

    async def person(self, text: str, number: str = "1") -> None:
        message = {"message_id": number, "mime": "text/markdown", "text": text}
        await self.writer.inject([message], number)

    async def turn(self, script: list[Any], **settings: Any) -> str:
        loop = Loop(ScriptedModel(read_script(script)), self.tools, self.writer, LoopSettings(**settings))
        async with anyio.create_task_group() as background:
            return await loop.turn(_nothing_new, background)
        raise AssertionError("the turn was cancelled")

    @property
    def items(self) -> list[dict[str, Any]]:
        return list(self.writer.timeline.state.items)


async def _nothing_new() -> None:
    return None


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    stage = Stage(tmp_path)
    await stage.open()
    yield stage
    await stage.journal.close()


ANSWER_AND_YIELD = [
    {"when": {"user": "sum"}, "emit": [{"call": "calc__add", "args": {"a": 2, "b": 3}}]},
    {
        "when": {"tool": "calc__add"},
        "emit": [
            {"call": "chat_assistant_post", "args": {"content": "It is {{result.sum}}."}},
            {"call": "loop_yield_turn"},
        ],
    },
]


@pytest.mark.covers("R-LO-1", "R-LO-4", "R-LO-6", "R-UI-2", "R-PO-4")
async def test_a_question_is_answered_through_tools_and_the_turn_yields(stage: Stage) -> None:
    await stage.person("What is the sum?")

    assert await stage.turn(ANSWER_AND_YIELD) == "yield"
    assert stage.context.posted == ["It is 5."]
    assert [(item["kind"], item.get("status")) for item in stage.items] == [
        ("user_message", None),
        ("tool", "done"),
        ("assistant_markdown", None),
        ("end_turn", None),
    ]
    assert stage.items[1]["content"] == {"kind": "json", "result": '{"sum":5}', "is_error": False}
    assert replay(await stage.journal.events("a")) == stage.writer.timeline.state


@pytest.mark.covers("R-LO-3", "R-NA-2")
@pytest.mark.parametrize("end", ["ui_end_turn", "ui.end_turn", "loop.yield_turn"])
async def test_deprecated_and_dotted_spellings_still_work(stage: Stage, end: str) -> None:
    await stage.person("hello")
    script = [{"emit": [{"call": "chat_assistant_post", "args": {"content": "hi"}}, {"call": end}]}]

    assert await stage.turn(script) == "yield"
    assert stage.context.posted == ["hi"]


@pytest.mark.covers("R-LO-8", "R-PO-4", "R-LO-5")
async def test_plain_text_is_never_shown_and_three_in_a_row_end_the_turn(stage: Stage) -> None:
    await stage.person("hello")

    assert await stage.turn([{"emit": [{"say": "I talk to nobody."}]}]) == "limit"
    assert stage.context.posted == []
    assert [item["kind"] for item in stage.items] == ["user_message", "notice", "end_turn"]


@pytest.mark.covers("R-LO-8")
async def test_implicit_posting_posts_the_final_text_once(stage: Stage) -> None:
    await stage.person("hello")

    assert await stage.turn([{"emit": [{"say": "Hello there."}]}], text_policy="implicit_post") == "yield"
    assert stage.context.posted == ["Hello there."]
    assert [item["kind"] for item in stage.items] == ["user_message", "assistant_markdown", "end_turn"]


@pytest.mark.covers("R-LO-5")
@pytest.mark.parametrize(
    ("script", "settings", "reason"),
    [
        ([{"emit": [{"call": "forbidden"}]}], {}, "limit"),
        ([{"emit": [{"call": "fatal"}]}], {}, "abort"),
        ([{"emit": [{"call": "calc__add", "args": {"a": 1}}]}], {"max_samplings": 4}, "limit"),
        ([{"emit": [{"error": "no credit"}]}], {}, "error"),
    ],
)
async def test_turns_that_lead_nowhere_end_with_a_notice(
    stage: Stage, script: list[Any], settings: dict[str, Any], reason: str
) -> None:
    await stage.person("go")

    assert await stage.turn(script, **settings) == reason
    assert stage.items[-2]["kind"] == "notice"
    assert stage.items[-1]["reason"] == reason


@pytest.mark.covers("R-MP-6")
async def test_wrong_arguments_and_unknown_tools_come_back_as_errors_for_the_model(stage: Stage) -> None:
    await stage.person("go")
    script = [
        {"when": {"user": "go"}, "emit": [{"call": "calc__add", "args": {"a": "x"}}, {"call": "nonsense"}]},
        {"emit": [{"call": "loop_yield_turn"}]},
    ]

    assert await stage.turn(script) == "yield"
    assert [item["status"] for item in stage.items if item["kind"] == "tool"] == ["error", "error"]


@pytest.mark.covers("R-LO-10")
async def test_a_stopped_turn_leaves_every_call_with_an_outcome(stage: Stage) -> None:
    await stage.person("go")
    script = [{"emit": [{"call": "slow"}, {"call": "calc__add", "args": {"a": 1}}]}]
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(stage.turn, script)
            await stage.context.held.wait()
            await stage.context.added.wait()
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()

    assert [item["status"] for item in stage.items if item["kind"] == "tool"] == ["aborted", "done"]
    assert replay(await stage.journal.events("a")) == stage.writer.timeline.state


async def test_a_tool_that_breaks_is_an_outcome_and_does_not_end_the_agent(stage: Stage) -> None:
    await stage.person("go")
    script = [{"when": {"user": "go"}, "emit": [{"call": "broken"}]}, {"emit": [{"call": "loop_yield_turn"}]}]

    assert await stage.turn(script) == "yield"
    assert [item.get("status") for item in stage.items if item["kind"] == "tool"] == ["error"]
