"""What the runtime adds to a turn: message → model request, tool result → next request, against a bare HTTP client.

The model is a local server that answers immediately, so only our own work is measured; each step is written to disk
before the next.
"""

import statistics
import tempfile
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import anyio
import httpx2
from claims import claim
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from ui_mcp.agent.conversation import Conversation, MakeLoop
from ui_mcp.agent.journal import NewEvent
from ui_mcp.agent.journal_store import JournalStore
from ui_mcp.agent.journal_writer import JournalWriter
from ui_mcp.agent.loop import Loop, LoopSettings
from ui_mcp.agent.models.http import Endpoint, ModelHttp
from ui_mcp.agent.models.openai import OpenAiModel
from ui_mcp.agent.orchestrator import InboxPage
from ui_mcp.agent.sampler import Deltas
from ui_mcp.jsontypes import JsonObject, dumps
from ui_mcp.toolkit.functions import FunctionToolset, NoArgs, tool
from ui_mcp.toolkit.tool import Call, ToolResult, structured_result
from ui_mcp.webserver.server import bind, listening, port_of

TURNS = 60


@dataclass(frozen=True, slots=True)
class PostArgs:
    """A message."""

    content: str
    mime: str = ""
    client_id: str = ""


@tool("chat_assistant_post", PostArgs, title="Post")
async def post(context: None, args: PostArgs, call: Call) -> ToolResult:
    """Post."""
    return structured_result({"id": args.client_id, "ts": ""})


@tool("noop", NoArgs, title="Nothing")
async def noop(context: None, args: NoArgs, call: Call) -> JsonObject:
    """Do nothing."""
    return {}


class Vendor:
    """Answers a message with a call and a result with text; records when each request arrived."""

    def __init__(self) -> None:
        self.asked: list[float] = []

    async def answer(self, request: Request) -> Response:
        self.asked.append(time.perf_counter())
        body = await request.json()
        call = {"index": 0, "id": "c", "function": {"name": "noop", "arguments": "{}"}}
        delta = {"content": "ok"} if body["messages"][-1]["role"] == "tool" else {"tool_calls": [call]}

        async def lines() -> AsyncIterator[str]:
            yield f"data: {dumps({'choices': [{'delta': delta}]})}\n\n"
            yield "data: [DONE]\n\n"

        return StreamingResponse(lines(), media_type="text/event-stream")


class People:
    """An inbox that wakes the agent as soon as something is posted."""

    def __init__(self) -> None:
        self.messages: list[JsonObject] = []
        self.news = anyio.Event()

    def say(self) -> float:
        self.messages.append({"id": f"{len(self.messages):06}", "mime": "text/plain", "content": "go"})
        self.news.set()
        return time.perf_counter()

    async def read(self, after: str | None, limit: int) -> InboxPage:
        new = [message for message in self.messages if message["id"] > (after or "")]
        return InboxPage(new, new[-1]["id"] if new else after, has_more=False)

    async def hint(self, seconds: float) -> None:
        with anyio.move_on_after(seconds):
            await self.news.wait()
        self.news = anyio.Event()


async def bare(url: str) -> list[float]:
    """Time the same two requests with only the HTTP client."""
    times = []
    async with httpx2.AsyncClient() as client:
        for _ in range(TURNS):
            began = time.perf_counter()
            async with client.stream(
                "POST", f"{url}/chat/completions", json={"messages": [{"role": "user"}]}
            ) as answer:
                async for _ in answer.aiter_lines():
                    pass
            times.append(time.perf_counter() - began)
    return times


def loop_for(url: str) -> MakeLoop:
    """Return a factory of loops whose model is at `url`."""

    def make_loop(writer: JournalWriter, deltas: Deltas) -> Loop:
        tools = FunctionToolset(None, [post, noop])
        settings = LoopSettings(text_policy="implicit_post")
        return Loop(OpenAiModel("m", ModelHttp(Endpoint(url))), tools, writer, settings, deltas)

    return make_loop


async def ours(url: str, vendor: Vendor, folder: Path) -> tuple[list[float], list[float]]:
    """Time message → first request, and first request → second (one call between them)."""
    people, journal = People(), JournalStore(folder / "j.db")
    conversation = Conversation("bench", journal, people, loop_for(url))
    first, second = [], []
    async with anyio.create_task_group() as tasks:
        await tasks.start(conversation.run)
        for turn in range(TURNS):
            vendor.asked.clear()
            said = people.say()
            while sum(event.type == "ui_end_turn" for event in conversation.journal.events) <= turn:
                await anyio.sleep(0.0005)
            first.append(vendor.asked[0] - said)
            second.append(vendor.asked[1] - vendor.asked[0])
        tasks.cancel_scope.cancel()
    await journal.close()
    return first, second


async def resume(folder: Path) -> float:
    """Time the update of a client that lacks the last 100 of 5,000 items."""
    journal = JournalStore(folder / "r.db")
    conversation = Conversation("resume", journal, People(), loop_for("http://127.0.0.1:9"))
    async with anyio.create_task_group() as tasks:
        await tasks.start(conversation.run)
        await conversation.journal.write(*(NewEvent("notice", {"level": "info", "text": "x"}) for _ in range(5000)))
        times = []
        for _ in range(20):
            began = time.perf_counter()
            assert len(conversation.since(4900)) == 100
            times.append(time.perf_counter() - began)
        tasks.cancel_scope.cancel()
    await journal.close()
    return statistics.median(times)


async def main() -> None:
    vendor = Vendor()
    socket = bind("127.0.0.1", 0)
    url = f"http://127.0.0.1:{port_of(socket)}"
    app = Starlette(routes=[Route("/chat/completions", vendor.answer, methods=["POST"])])
    with tempfile.TemporaryDirectory() as folder:
        async with listening(app, socket):
            floor = statistics.median(await bare(url))
            first, second = await ours(url, vendor, Path(folder))
        print(f"bare HTTP request and answer      p50 {floor * 1000:6.2f} ms   1.00")
        for name, times in (("message → model request", first), ("model → call → next request", second)):
            middle = statistics.median(times)
            print(f"{name:33} p50 {middle * 1000:6.2f} ms")
            claim(f"{name} / bare HTTP request", middle / floor)
        claim("resume 100 of 5,000 timeline items, ms", await resume(Path(folder)) * 1000)


if __name__ == "__main__":
    anyio.run(main)
