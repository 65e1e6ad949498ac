"""From a post to the moment a second client has read it, against one bare echo call of the SDK.

Both servers run as separate processes over streamable HTTP, both with the SDK's client. A post is one call, an
announcement and one read, with a write to disk in between: the ratio to a single echo shows what that costs.

Bars: half of the posts are read within 20 ms in one process and within 100 ms across two. Posts are further apart than
the window in which announcements are coalesced, as posts of people are; the waiting call has no such window.
"""

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import anyio
from claims import claim
from mcp import Client

ROUNDS = 100
APART = 0.12
ECHO = Path(__file__).with_name("mcp_echo.py")
SCALE = 1e3


@contextmanager
def started(command: list[str]) -> Iterator[str]:
    """Run a server; yield the last word of its first line."""
    with subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[-1]
        finally:
            process.terminate()


async def echo_times(url: str) -> list[float]:
    spent = []
    async with Client(url) as client:
        for n in range(ROUNDS):
            start = time.perf_counter()
            await client.call_tool("echo", {"text": f"message {n}"})
            spent.append(time.perf_counter() - start)
    return spent


async def chat_times(human: str, assistant: str) -> list[float]:
    spent = []
    async with Client(human) as poster, Client(assistant) as reader:
        newest = (await reader.call_tool("chat_read_since", {"after_id": "9" * 18})).structured_content
        after = newest["head_id"] if newest else None
        async with reader.listen(resource_subscriptions=["ui://chat/inbox"]) as hints:
            for n in range(ROUNDS):
                await anyio.sleep(APART)
                start = time.perf_counter()
                await poster.call_tool("chat_human_post", {"content": f"message {n}"})
                await anext(hints)
                page = (await reader.call_tool("chat_read_since", {"after_id": after})).structured_content
                spent.append(time.perf_counter() - start)
                assert page is not None
                assert len(page["messages"]) == 1
                after = page["last_id"]
    return spent


async def wait_times(human: str, assistant: str) -> list[float]:
    """Time posts to a reader without subscriptions that is blocked in `chat_wait_since`."""
    spent: list[float] = []
    async with Client(human) as poster, Client(assistant) as reader:
        newest = (await reader.call_tool("chat_read_since", {"after_id": "9" * 18})).structured_content
        after = newest["head_id"] if newest else None
        for n in range(ROUNDS):
            read = anyio.Event()

            async def wait(cursor: str | None = after, read: anyio.Event = read) -> None:
                nonlocal after
                page = (await reader.call_tool("chat_wait_since", {"after_id": cursor})).structured_content
                assert page is not None
                after = page["last_id"]
                read.set()

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(wait)
                await anyio.sleep(0.02)  # the call is blocked by now
                start = time.perf_counter()
                await poster.call_tool("chat_human_post", {"content": f"wait {n}"})
                await read.wait()
                spent.append(time.perf_counter() - start)
    return spent


def summary(name: str, spent: list[float], bar: float | None = None) -> tuple[float, bool]:
    middle, late = statistics.median(spent) * SCALE, statistics.quantiles(spent, n=100)[98] * SCALE
    held = claim(f"{name}, p50 ms", middle, at_most=bar)
    claim(f"{name}, p99 ms", late)
    return middle, held


async def main() -> int:
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        face = ["-m", "ui_mcp", "chat", "--dir", folder, "--port", "0", "--face"]
        port = stack.enter_context(started([str(ECHO), "bare", "http"]))
        human = stack.enter_context(started([*face, "human"])) + "/mcp"
        assistant = stack.enter_context(started([*face, "assistant"])) + "/mcp"
        base, _ = summary("bare SDK echo, one call", await echo_times(f"http://127.0.0.1:{port}/mcp"))
        one, near = summary("post → read, one process", await chat_times(human, human), 20.0)
        two, far = summary("post → read, two processes on one file", await chat_times(human, assistant), 100.0)
        summary("post → waiting call, one process", await wait_times(human, human))
        summary("post → waiting call, two processes", await wait_times(human, assistant))
    claim("post → read / one echo, one process", one / base)
    claim("post → read / one echo, two processes", two / base)
    return 0 if near and far else 1


if __name__ == "__main__":
    sys.exit(anyio.run(main))
