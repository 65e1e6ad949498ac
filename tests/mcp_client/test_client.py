"""A foreign server as one of our toolsets, over each transport and in each era."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import anyio
import pytest

from mcp_server.definitions import sample_definition
from mcp_server.web import served
from ui_mcp.errors import MountError, ResourceNotFoundError, UpstreamError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.mcp_client.client import McpClient, Options, connect
from ui_mcp.mcp_client.transport import Address, Command, HttpUrl, SseUrl
from ui_mcp.toolkit.announcements import Announcements, ListKind
from ui_mcp.toolkit.tool import Call, Relayed

pytestmark = pytest.mark.slow
TESTS = Path(__file__).parents[1]
PROGRAM = Command(sys.executable, ("-m", "mcp_server.serve_stdio"), {"PYTHONPATH": str(TESTS)})
PATIENCE = 120.0
"""Seconds for what takes none, except on a busy machine."""
Mode = Literal["modern", "legacy"]
Transport = Literal["stdio", "http", "sse"]


@asynccontextmanager
async def mounted(transport: Transport, options: Options) -> AsyncIterator[McpClient]:
    if transport == "stdio":
        async with connect(PROGRAM, options) as server:
            yield server
        return
    async with served(sample_definition()) as client:
        base = str(client.base_url).rstrip("/")
        address: Address = HttpUrl(f"{base}/mcp") if transport == "http" else SseUrl(f"{base}/sse")
        async with connect(address, options) as server:
            yield server


@pytest.mark.covers("MCP-SDK-5")
@pytest.mark.parametrize("mode", ["modern", "legacy"])
@pytest.mark.parametrize("transport", ["stdio", "http", "sse"])
async def test_tools_and_resources_of_a_mounted_server_are_ours(transport: Transport, mode: Mode) -> None:
    heard: list[tuple[float, float | None, str | None]] = []

    async def progress(done: float, total: float | None = None, message: str | None = None) -> None:
        heard.append((done, total, message))

    async with mounted(transport, Options(mode=mode, start_seconds=PATIENCE)) as server:
        tools = await server.tools(Call())
        echoed = await server.call("echo", {"text": "x"}, Call())
        facts = await server.call("facts", {}, Call())
        counted = await server.call("count", {}, Call(progress=progress))
        listed = await server.resources(Call())
        templates = await server.templates(Call())
        (guide,) = await server.read("ui://reference", Call())
        await server.ping()

    assert server.modern is (mode == "modern")
    assert (server.name, server.instructions) == ("test", "Call echo.")
    assert [tool.name for tool in tools][:2] == ["echo", "wait"]
    assert tools[0].annotations.read_only is True
    assert echoed.content == (Relayed({"type": "text", "text": "x"}),)
    era = "modern" if mode == "modern" else "handshake"
    assert facts.structured == {"ä": 1, "era": era, "principal": "local", "client": "ui-mcp"}
    assert counted.content == (Relayed({"type": "text", "text": "counted"}),)
    assert heard == [(1, 2, "step 1"), (2, 2, "step 2")]
    assert [resource.uri for resource in listed] == ["ui://state", "ui://reference"]
    assert [template.uri_template for template in templates] == ["ui://{path}"]
    assert (guide.body, guide.mime_type) == ("# Guide", "text/markdown")


@pytest.mark.parametrize("mode", ["modern", "legacy"])
async def test_failures_of_a_mounted_server_become_ours(mode: Mode, monkeypatch: pytest.MonkeyPatch) -> None:
    async with mounted("stdio", Options(mode=mode, start_seconds=PATIENCE)) as server:
        failed = await server.call("fail", {}, Call())
        with pytest.raises(UpstreamError, match="Unknown tool: nope"):
            await server.call("nope", {}, Call())
        with monkeypatch.context() as hurried:
            hurried.setattr(server, "_seconds", 0.3)
            with pytest.raises(UpstreamError, match=r"hang did not answer within 0\.3 s"):
                await server.call("hang", {}, Call())
        with pytest.raises(ResourceNotFoundError):
            await server.read("ui://missing", Call())
        after = await server.call("echo", {"text": "still there"}, Call())

    assert failed.is_error
    assert after.content == (Relayed({"type": "text", "text": "still there"}),)


@pytest.mark.parametrize("mode", ["modern", "legacy"])
async def test_announcements_of_a_mounted_server_are_relayed(mode: Mode) -> None:
    lists: list[ListKind] = []
    updates: list[tuple[str, JsonObject | None]] = []
    bus = Announcements()

    def updated(uri: str, extra: JsonObject | None) -> None:
        updates.append((uri, extra))

    options = Options(mode=mode, start_seconds=PATIENCE, list_changed=lists.append, resource_updated=updated)
    async with (
        served(sample_definition(announcements=bus)) as client,
        connect(HttpUrl(f"{str(client.base_url).rstrip('/')}/mcp"), options) as server,
    ):
        await server.subscribe("ui://state")
        with anyio.fail_after(PATIENCE):
            while not (lists and updates):
                bus.list_changed("resources")
                bus.resource_updated("ui://state")
                await anyio.sleep(0.05)
        await server.unsubscribe("ui://state")

    assert set(lists) == {"resources"}
    assert updates[0][0] == "ui://state"


async def test_a_server_that_cannot_be_reached_is_a_mount_error(tmp_path: Path) -> None:
    told: list[str] = []
    complaint = (sys.executable, ("-c", "import sys; print('no config', file=sys.stderr)"))
    silent = Command(sys.executable, ("-c", "import time; time.sleep(600)"))
    for address, seconds in (
        (Command(str(tmp_path / "missing")), PATIENCE),
        (Command(*complaint), PATIENCE),
        (silent, 0.5),
        (HttpUrl("http://127.0.0.1:9/mcp"), PATIENCE),
        (SseUrl("http://127.0.0.1:9/sse"), PATIENCE),
    ):
        with pytest.raises(MountError):
            async with connect(address, Options(start_seconds=seconds, stderr=told.append)):
                pass

    assert told == ["no config"]


async def test_the_end_of_a_mounted_process_is_noticed() -> None:
    async with connect(PROGRAM, Options(start_seconds=PATIENCE)) as server:
        with pytest.raises(UpstreamError):
            await server.call("die", {}, Call())
        with anyio.fail_after(PATIENCE):
            await server.lost.wait()


async def test_an_error_in_the_block_leaves_it_unwrapped() -> None:
    with pytest.raises(ZeroDivisionError):
        async with connect(PROGRAM, Options(start_seconds=PATIENCE)):
            raise ZeroDivisionError
