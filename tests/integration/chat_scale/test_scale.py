"""Five hundred subscribers, a hundred thousand messages, and one subscriber that stopped reading."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from anyio.streams.buffered import BufferedByteReceiveStream

from integration.chat_clients.room import running
from terminals import human_token, with_terminal
from ui_mcp.chat.message import Draft
from ui_mcp.chat.service import open_store
from ui_mcp.chat.store import Post

SUBSCRIBERS, STORED = 500, 100_000
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "scale", "version": "1"},
}


class Connection:
    """One HTTP connection that speaks the modern era by hand."""

    token = ""
    """Of the human."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def open(cls, port: int) -> "Connection":
        return cls(*await asyncio.open_connection("127.0.0.1", port, limit=1 << 22))

    def send(self, method: str, params: dict[str, Any], name: str = "") -> None:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}}).encode()
        head = [
            *("POST /mcp HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json"),
            *("Accept: application/json, text/event-stream", "MCP-Protocol-Version: 2026-07-28"),
            f"Authorization: Bearer {self.token}",
            *(f"Mcp-Method: {method}", f"Content-Length: {len(body)}"),
            *([f"Mcp-Name: {name}"] if name else []),
        ]
        port = self._writer.get_extra_info("peername")[1]
        text = "\r\n".join(head).replace("Host: 127.0.0.1", f"Host: 127.0.0.1:{port}")
        self._writer.write(text.encode() + b"\r\n\r\n" + body)

    async def until(self, words: bytes) -> bytes:
        """Read lines until one holds the words."""
        with anyio.fail_after(240):
            while words not in (line := await self._reader.readline()):
                assert line, "the stream ended"
            return line

    async def count(self, words: bytes) -> int:
        """Count the lines with these words until the server ends the connection or the answer."""
        found = 0
        with anyio.fail_after(240):
            while (line := await self._reader.readline()) and not line.startswith(b"0\r\n"):
                found += words in line
        return found

    async def call(self, name: str, **arguments: Any) -> Any:
        self.send("tools/call", {"name": name, "arguments": arguments}, name)
        head = await self._reader.readuntil(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1]) for line in head.lower().splitlines() if line.startswith(b"content-length")
        )
        with anyio.fail_after(240):
            return json.loads(await self._reader.readexactly(length))["result"]["structuredContent"]

    def close(self) -> None:
        self._writer.close()


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[tuple[int, int]]:
    """Run the human side; yield its port and process id."""
    command = [sys.executable, "-m", "ui_mcp", "chat", "--face", "human", "--port", "0", "--dir", str(folder)]
    Connection.token = await human_token(folder)
    async with running(with_terminal(command)) as process:
        assert process.stdout is not None
        line = (await BufferedByteReceiveStream(process.stdout).receive_until(b"\n", 1000)).decode()
        yield int(line.rpartition(":")[2]), process.pid
        process.terminate()


async def fill(folder: Path) -> None:
    batch = Post("default", "user", "human", tuple(Draft(f"an old message, number {n}") for n in range(100)))
    async with open_store(f"sqlite:///{folder}/.ui-mcp/runtime.db") as store, anyio.create_task_group() as tasks:
        for _ in range(STORED // 100):
            tasks.start_soon(store.append, batch)


def resident(pid: int) -> float:
    """Megabytes a process holds."""
    text = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) / 1024 for line in text.splitlines() if line.startswith("VmRSS"))


@pytest.mark.slow
@pytest.mark.covers("R-NO-9", "R-IN-8", "CHAT-SCALE-1")
async def test_five_hundred_followers_of_a_long_inbox_all_get_the_message_and_memory_stays_bounded(
    tmp_path: Path,
) -> None:
    await fill(tmp_path)
    async with AsyncExitStack() as stack:
        port, pid = await stack.enter_async_context(served(tmp_path))
        asking = await Connection.open(port)
        stack.callback(asking.close)
        before_id = (await asking.call("chat_read_since", limit=1))["head_id"]
        calm = resident(pid)
        followers = [await Connection.open(port) for _ in range(SUBSCRIBERS + 1)]
        for follower in followers:
            stack.callback(follower.close)
            follower.send("subscriptions/listen", {"notifications": {"resourceSubscriptions": ["ui://chat/inbox"]}})
        _, *alive = followers  # one subscribes and never reads again
        for follower in alive:
            await follower.until(b"acknowledged")

        asking = await Connection.open(port)  # the first one has been idle, and the server may have ended it
        stack.callback(asking.close)
        posted = [await asking.call("chat_human_post", content=f"news {n}") for n in range(5)]
        for follower in alive:
            await follower.until(posted[-1]["id"].encode())
        news = await asking.call("chat_read_since", after_id=before_id)
        seen, after, more = 0, None, True
        while more:
            page = await asking.call("chat_read_since", after_id=after)
            assert len(page["messages"]) <= 1000
            seen, after, more = seen + len(page["messages"]), page["last_id"], page["has_more"]

        assert [message["id"] for message in news["messages"]] == [post["id"] for post in posted]
        assert seen == STORED + 5
        grown = resident(pid) - calm
        assert grown < 150


FLOOD, READERS = 1500, 4


@pytest.mark.slow
@pytest.mark.covers("R-NO-9", "CHAT-SCALE-1")
async def test_in_a_flood_one_who_does_not_read_is_cut_off_and_the_others_get_everything(tmp_path: Path) -> None:
    """Each announcement carries 30 KB, far more in all than the system buffers and our queue hold for a dead client."""
    uris = [f"ui://chat/inbox/c{n}" for n in range(FLOOD)]
    async with AsyncExitStack() as stack:
        port, pid = await stack.enter_async_context(served(tmp_path))
        asking, dead, *alive = [await Connection.open(port) for _ in range(READERS + 2)]
        for connection in (asking, dead, *alive):
            stack.callback(connection.close)
        for follower in (dead, *alive):
            follower.send("subscriptions/listen", {"notifications": {"resourceSubscriptions": uris}})
            await follower.until(b"acknowledged")
        calm = resident(pid)
        told: list[set[str]] = [set() for _ in alive]

        async def follow(follower: Connection, mine: set[str]) -> None:
            while len(mine) < FLOOD:
                line = await follower.until(b"resources/updated")
                mine.add(json.loads(line.removeprefix(b"data: "))["params"]["uri"])

        async with anyio.create_task_group() as tasks:
            for follower, mine in zip(alive, told, strict=True):
                tasks.start_soon(follow, follower, mine)
            for n in range(FLOOD):
                await asking.call("chat_human_post", content="x" * 15_000, conversation=f"c{n}")
        grown = resident(pid) - calm
        missed = FLOOD - await dead.count(b"resources/updated")
        recovered = await asking.call("chat_read_since", conversation=f"c{FLOOD - 1}")

        assert told == [set(uris)] * READERS
        assert missed > 0
        assert len(recovered["messages"]) == 1
        assert grown < 150
