"""Clients of other libraries as processes of their own, and both sides of the chat as they are really started."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from terminals import human_token, with_terminal

HERE = Path(__file__).parent
UI_MCP = [sys.executable, "-c", "import sys; from ui_mcp.cli.entry import main; sys.exit(main())"]
PATHS = {"sse": "/sse", "http": "/mcp"}
CLIENTS = {
    "mcp 2 modern": ("mcp2.py", "auto", None),
    "mcp 2 legacy": ("mcp2.py", "legacy", None),
    "mcp 1": ("mcp1.py", "-", "mcp1"),
    "fastmcp": ("fast.py", "auto", "fastmcp"),
}
LIMIT = 240


@dataclass
class Client:
    """A client process: commands in, answers and notifications out."""

    process: Process
    updates: list[dict[str, Any]] = field(default_factory=list)
    version: str = ""

    def __post_init__(self) -> None:
        assert self.process.stdout is not None
        self._lines = BufferedByteReceiveStream(self.process.stdout)

    async def call(self, name: str, **arguments: object) -> Any:
        answer = await self.ask(op="call", name=name, arguments=arguments)
        assert answer["same"]
        return answer["answer"]

    async def read(self, uri: str = "ui://chat/inbox") -> Any:
        answer = await self.ask(op="read", uri=uri)
        assert answer["mime"] == "application/json"
        return answer["answer"]

    async def subscribe(self, uri: str = "ui://chat/inbox") -> None:
        await self.ask(op="subscribe", uri=uri)

    async def texts(self) -> list[str]:
        return [message["content"] for message in (await self.call("chat_read_since"))["messages"]]

    async def ask(self, **command: object) -> dict[str, Any]:
        assert self.process.stdin is not None
        await self.process.stdin.send(json.dumps(command).encode() + b"\n")
        return await self.line(lambda line: "answer" in line)

    async def update(self, count: int = 1) -> dict[str, Any]:
        """Wait until so many updates were heard in all, and return the last."""
        while len(self.updates) < count:
            await self.line(lambda line: line.get("event") == "updated")
        return self.updates[count - 1]

    async def line(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        with anyio.fail_after(LIMIT):
            while True:
                line: dict[str, Any] = json.loads(await self._lines.receive_until(b"\n", 1 << 24))
                if line.get("event") == "updated":
                    self.updates.append(line)
                self.version = line.get("version", self.version)
                if wanted(line):
                    return line


def python_of(environment: str | None) -> str:
    """Return the Python that has a client's library."""
    if environment is None:
        return sys.executable
    script = Path(__file__).parents[3] / "scripts" / "clients.py"
    done = subprocess.run([sys.executable, str(script), environment], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@dataclass
class Room:
    """A chat directory with one server per transport that needs one."""

    folder: Path
    stack: AsyncExitStack
    urls: dict[str, str] = field(default_factory=dict)
    _token: str = ""

    async def server(self, side: str) -> str:
        """Start a side on a port; return its URL."""
        process = await self.stack.enter_async_context(
            running(with_terminal([*UI_MCP, "chat", "--face", side, "--port", "0", "--dir", str(self.folder)]))
        )
        assert process.stdout is not None
        with anyio.fail_after(LIMIT):
            line = await BufferedByteReceiveStream(process.stdout).receive_until(b"\n", 1000)
        self.urls[side] = line.decode().split()[-1]
        return self.urls[side]

    async def client(self, kind: str, transport: str, side: str) -> Client:
        """Connect a client to a side; on stdio it starts a server of its own."""
        script, mode, environment = CLIENTS[kind]
        token = await self.token() if side == "human" else ""
        if transport == "stdio":
            command = ["env", f"UI_MCP_TOKEN={token}", *UI_MCP, "chat", "--face", side, "--dir", str(self.folder)]
            target = json.dumps(command)
        else:
            target = (self.urls.get(side) or await self.server(side)) + PATHS[transport]
        command = [python_of(environment), str(HERE / script), mode, transport, target]
        client = Client(await self.stack.enter_async_context(running(command, CHAT_TOKEN=token)))
        await client.line(lambda line: line.get("event") == "connected")
        return client

    async def token(self) -> str:
        """Return the token by which clients speak for the human."""
        self._token = self._token or await human_token(self.folder)
        return self._token


@asynccontextmanager
async def running(command: list[str], **environment: str) -> AsyncIterator[Process]:
    """Run a process for the length of the block; its children end with its pipes."""
    async with await anyio.open_process(command, stderr=None, env={**os.environ, **environment}) as process:
        try:
            yield process
        finally:
            if process.stdin is not None:
                await process.stdin.aclose()
            with anyio.move_on_after(3, shield=True):
                await process.wait()
            if process.returncode is None:
                process.kill()
