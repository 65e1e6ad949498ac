"""Servers other people wrote, mounted: from npm, and one made with FastMCP."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

import needs
from conformance import node
from gateway.gateways import gateway
from ui_mcp.errors import UpstreamError
from ui_mcp.gateway.mcp import MountedPrompts, MountedResources
from ui_mcp.gateway.service import GatewayService
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.tool import Call, Relayed

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]
PACKAGES = ("@modelcontextprotocol/server-everything", "@modelcontextprotocol/server-filesystem")
ALLOW = {"rules": [{"decision": "allow"}]}


@pytest.fixture(scope="module")
def node_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The servers from npm, installed once; they look for Node in the path."""
    folder = tmp_path_factory.mktemp("npm")
    if node.npm("install", "--silent", "--prefer-offline", "--no-fund", "--no-audit", *PACKAGES, cwd=folder).returncode:
        needs.missing("A registry from which npm installs the servers")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", node.environment()["PATH"])
        yield folder / "node_modules" / ".bin"


def first(blocks: tuple[object, ...]) -> JsonObject:
    assert isinstance(blocks[0], Relayed)
    return blocks[0].block


async def up(found: GatewayService) -> None:
    with anyio.fail_after(240):
        while not all(mount.connection for mount in found.sources.mounts.values()):
            await anyio.sleep(0.05)


@pytest.mark.covers("GW-UPS-1", "GW-UPS-3", "GW-UPS-4")
async def test_everything_is_relayed(node_servers: Path, tmp_path: Path) -> None:
    server = {"name": "everything", "command": str(node_servers / "mcp-server-everything"), "args": ["stdio"]}
    seen: list[float] = []

    async def progress(done: float, total: float | None = None, message: str | None = None) -> None:
        seen.append(done)

    async with gateway(tmp_path, mcp={"servers": [server], "startup_wait_ms": 60000}, policy=ALLOW) as found:
        await up(found)
        echo = await found.enforcer.call("everything__echo", {"message": "hi"}, Call())
        image = await found.enforcer.call("everything__get-tiny-image", {}, Call())
        structured = await found.enforcer.call("everything__get-structured-content", {"location": "Chicago"}, Call())
        await found.enforcer.call(
            "everything__trigger-long-running-operation", {"duration": 1, "steps": 4}, Call(progress=progress)
        )
        wrong = await found.enforcer.call("everything__get-sum", {"a": "x", "b": 1}, Call())
        resources = await MountedResources(found).resources(Call())
        read = await MountedResources(found).read(resources[0].uri, Call())
        prompts = MountedPrompts(found)
        names = [prompt["name"] for prompt in await prompts.prompts(Call())]
        prompt = await prompts.get(names[0], {}, Call())

    assert first(echo.content)["text"] == "Echo: hi"
    assert any(isinstance(part, Relayed) and part.block["type"] == "image" for part in image.content)
    assert structured.structured is not None
    assert len(seen) >= 3
    assert wrong.is_error
    assert read
    assert all(name.startswith("everything__") for name in names)
    assert prompt["messages"]


@pytest.mark.covers("GW-UPS-1", "GW-UPS-7", "GW-NAM-1")
async def test_the_file_server_is_used_killed_and_back(node_servers: Path, tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.txt").write_text("hello")
    command = str(node_servers / "mcp-server-filesystem")
    server = {"name": "filesystem", "command": command, "args": [str(root)]}
    async with gateway(tmp_path, mcp={"servers": [server], "startup_wait_ms": 60000}, policy=ALLOW) as found:
        await up(found)
        arguments = {"path": str(root / "a.txt")}
        before = await found.enforcer.call("filesystem__read_text_file", arguments, Call())
        for pid in _children_running(command):
            os.kill(pid, signal.SIGKILL)
        killed = time.monotonic()
        after = None
        while after is None and time.monotonic() - killed < 120:
            try:
                after = await found.enforcer.call("filesystem__read_text_file", arguments, Call())
            except UpstreamError:
                await anyio.sleep(0.05)
        tries = found.sources.mounts["filesystem"].health().restarts

    assert after is not None
    assert first(before.content)["text"] == first(after.content)["text"] == "hello"
    assert tries == 1


def _children_running(command: str) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes().decode(errors="replace")
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        if command in line and parent == os.getpid():
            found.append(int(folder.name))
    return found


FASTMCP = """
from fastmcp import FastMCP
mcp = FastMCP("fast", instructions="count things")

@mcp.tool
def add(a: int, b: int) -> int:
    "Add two numbers."
    return a + b

@mcp.resource("data://answer")
def answer() -> str:
    return "42"

mcp.run(show_banner=False)
"""


@pytest.mark.covers("GW-UPS-1")
async def test_a_fastmcp_server_is_mounted(tmp_path: Path) -> None:
    python = os.environ.get("UI_MCP_FASTMCP_PYTHON") or _with_fastmcp()
    (tmp_path / "fast.py").write_text(FASTMCP)
    server = {"name": "fast", "command": python, "args": [str(tmp_path / "fast.py")]}
    async with gateway(tmp_path, mcp={"servers": [server], "startup_wait_ms": 60000}, policy=ALLOW) as found:
        await up(found)
        result = await found.enforcer.call("fast__add", {"a": 2, "b": 3}, Call())
        read = await MountedResources(found).read("data://answer", Call())

    assert first(result.content)["text"] == "5"
    assert result.structured == {"result": 5}
    assert read[0].body == "42"


def _with_fastmcp() -> str:
    """Return the Python of an environment of its own: FastMCP and our SDK want different versions of things."""
    script = Path(__file__).parents[3] / "scripts" / "clients.py"
    made = subprocess.run(
        [sys.executable, str(script), "fastmcp"], capture_output=True, text=True, check=False, timeout=1000
    )
    if made.returncode:
        needs.missing("A package index from which fastmcp is installed")
    return made.stdout.strip()
