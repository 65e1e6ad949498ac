"""Our client against servers that others wrote: the SDKs, FastMCP and the reference server, over their transports."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest

from conformance.node import NODE, NPX, environment, npm
from ui_mcp.jsontypes import JsonObject
from ui_mcp.mcp_client.client import McpClient, Options, connect
from ui_mcp.mcp_client.transport import Address, Command, HttpUrl, SseUrl
from ui_mcp.toolkit.tool import Call, Relayed, ToolResult

HERE = Path(__file__).parent
SCRIPTS = HERE.parents[2] / "scripts"
PACKAGES = (
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server@2.4.0",
    "@modelcontextprotocol/node@2",
    "zod@4",
)
STARTS = 240.0
"""Seconds for a server to listen, which takes long only on a busy machine."""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install what npm has of servers, and return the folder."""
    folder = tmp_path_factory.mktemp("npm")
    done = npm("install", "--no-audit", "--no-fund", *PACKAGES, cwd=folder)
    assert done.returncode == 0, done.stderr
    (folder / "server.mjs").write_bytes((HERE / "typescript_server.mjs").read_bytes())
    return folder


def python_of(library: str) -> str:
    """Return the Python that has a library, in an environment made on first use."""
    if library == "sdk":
        return sys.executable
    command = [sys.executable, str(SCRIPTS / "clients.py"), library]
    return subprocess.run(command, capture_output=True, text=True, timeout=800, check=True).stdout.strip()


@contextmanager
def listening(command: list[str], port: int, **options: Any) -> Iterator[None]:
    """Run a server until the block ends, from when its port answers."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options) as process:
        try:
            limit = time.monotonic() + STARTS
            while not _answers(port):
                assert process.poll() is None, "the server has ended"
                assert time.monotonic() < limit, "the server does not listen"
            yield
        finally:
            process.kill()


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=0.2):
            return True
    except OSError:
        return False


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def python_server(library: str, transport: str) -> Iterator[Address]:
    port = free_port()
    command = [python_of(library), str(HERE / "python_server.py"), library, transport, str(port)]
    if transport == "stdio":
        yield Command(command[0], tuple(command[1:]))
        return
    with listening(command, port):
        base = f"http://127.0.0.1:{port}"
        yield HttpUrl(f"{base}/mcp") if transport == "http" else SseUrl(f"{base}/sse")


def text_of(result: ToolResult) -> str:
    (part,) = result.content
    assert isinstance(part, Relayed)
    return str(part.block["text"])


class Caller:
    """A client that answers what a server asks, and hears its progress."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.heard: list[float] = []
        able: JsonObject = {"sampling": {}, "elicitation": {}}
        self.call = Call(ask_client=self._answer, capabilities=able, progress=self._progress)

    async def _answer(self, method: str, params: JsonObject) -> JsonObject:
        self.asked.append(method)
        if method == "elicitation/create":
            return {"action": "decline"}
        return {"role": "assistant", "content": {"type": "text", "text": "sampled"}, "model": "m"}

    async def _progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        self.heard.append(done)


@pytest.mark.covers("MCP-CLIENT-1")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("transport", ["stdio", "http", "sse"])
@pytest.mark.parametrize("library", ["sdk", "mcp1", "fastmcp"])
async def test_a_python_server_is_listed_read_and_called(library: str, transport: str, mode: Any) -> None:
    caller = Caller()
    options = Options(mode=mode, start_seconds=STARTS)
    with python_server(library, transport) as address:
        async with connect(address, options) as server:
            tools = {tool.name for tool in await server.tools(Call())}
            echoed = await server.call("echo", {"text": "hö"}, Call())
            counted = await server.call("count", {}, caller.call)
            (greeting,) = await server.read("x://greeting", Call())
            prompt = await server.get("greet", {"name": "Ada"}, Call())

    assert (server.name, server.instructions) == ("foreign", "Be kind.")
    assert {"echo", "count"} <= tools
    assert (text_of(echoed), text_of(counted), greeting.body) == ("hö", "counted", "hello")
    assert caller.heard == [1, 2, 3]
    assert prompt["messages"][0]["content"]["text"] == "Greet Ada"
    if library == "sdk":
        assert server.modern is (mode == "auto" and transport != "stdio")


@pytest.mark.covers("MCP-CLIENT-2")
async def test_a_call_whose_stream_breaks_is_resumed_where_it_was() -> None:
    with python_server("sdk", "http") as address:
        async with connect(address, Options(mode="legacy", start_seconds=STARTS)) as server:
            answer = await server.call("interrupted", {}, Call())

    assert text_of(answer) == "resumed"


@pytest.mark.covers("MCP-CLIENT-1")
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_typescript_server_answers_in_both_eras(mode: Any, packages: Path) -> None:
    port = free_port()
    with listening([str(NODE), "server.mjs", str(port)], port, cwd=packages):
        async with connect(HttpUrl(f"http://127.0.0.1:{port}/mcp"), Options(mode=mode, start_seconds=STARTS)) as server:
            tools = [tool.name for tool in await server.tools(Call())]
            echoed = await server.call("echo", {"text": "hö"}, Call())

    assert server.modern is (mode == "auto")
    assert tools == ["echo"]
    assert echoed.content == (Relayed({"type": "text", "text": "hö", "_meta": {"x.test/any": {"kept": True}}}),)


@pytest.mark.covers("MCP-CLIENT-1")
@pytest.mark.parametrize("transport", ["stdio", "sse", "streamableHttp"])
async def test_the_reference_server_asks_reports_progress_and_announces(transport: str, packages: Path) -> None:
    script = str(packages / "node_modules/@modelcontextprotocol/server-everything/dist/index.js")
    port = free_port()
    if transport == "stdio":
        await _use_everything(Command(str(NODE), (script, "stdio"), environment()))
        return
    with listening([str(NODE), script, transport], port, env={**os.environ, "PORT": str(port)}):
        base = f"http://127.0.0.1:{port}"
        await _use_everything(SseUrl(f"{base}/sse") if transport == "sse" else HttpUrl(f"{base}/mcp"))


async def _use_everything(address: Address) -> None:
    updated = anyio.Event()
    options = Options(start_seconds=STARTS, resource_updated=lambda uri, extra: updated.set(), roots=["file:///tmp"])
    caller = Caller()
    async with connect(address, options) as server:
        with anyio.fail_after(STARTS):
            while "trigger-sampling-request" not in {tool.name for tool in await server.tools(Call())}:
                await anyio.lowlevel.checkpoint()  # the server adds tools after it learnt what its client can do
        await server.call("trigger-long-running-operation", {"duration": 0.1, "steps": 3}, caller.call)
        sampled = await server.call("trigger-sampling-request", {"prompt": "p", "maxTokens": 5}, caller.call)
        await server.call("trigger-elicitation-request", {}, caller.call)
        roots = await server.call("get-roots-list", {}, caller.call)
        await _cancelled(server, caller.call)
        await server.subscribe("demo://resource/dynamic/text/1")
        await server.call("toggle-subscriber-updates", {}, Call())
        with anyio.fail_after(STARTS):
            await updated.wait()

    assert caller.heard == [1, 2, 3]
    assert caller.asked == ["sampling/createMessage", "elicitation/create"]
    assert "sampled" in text_of(sampled)
    assert "file:///tmp" in text_of(roots)


async def _cancelled(server: McpClient, call: Call) -> None:
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(server.call, "trigger-long-running-operation", {"duration": 600, "steps": 2}, call)
            await server.ping()
            scope.cancel()
    await server.ping()


@pytest.mark.covers("MCP-CLIENT-7")
async def test_the_file_server_is_started_by_npx_and_keeps_to_its_folder(tmp_path: Path) -> None:
    shared = tmp_path.resolve() / "shared"
    shared.mkdir()
    (shared / "note.txt").write_text("from a file")
    arguments = (str(NPX), "-y", "@modelcontextprotocol/server-filesystem", str(shared))

    async with connect(Command(str(NODE), arguments, environment()), Options(start_seconds=STARTS)) as server:
        inside = await server.call("read_text_file", {"path": str(shared / "note.txt")}, Call())
        outside = await server.call("read_text_file", {"path": str(tmp_path / "other.txt")}, Call())

    assert text_of(inside) == "from a file"
    assert outside.is_error


@pytest.mark.covers("MCP-CLIENT-7")
async def test_the_sqlite_server_creates_a_table_and_answers_a_query(tmp_path: Path) -> None:
    program = str(Path(python_of("sqlite")).with_name("mcp-server-sqlite"))
    address = Command(program, ("--db-path", str(tmp_path / "orders.db")))

    async with connect(address, Options(start_seconds=STARTS)) as server:
        await server.call("create_table", {"query": "CREATE TABLE orders (id INTEGER, item TEXT)"}, Call())
        await server.call("write_query", {"query": "INSERT INTO orders VALUES (7, 'tea')"}, Call())
        found = await server.call("read_query", {"query": "SELECT * FROM orders"}, Call())

    assert text_of(found) == "[{'id': 7, 'item': 'tea'}]"
