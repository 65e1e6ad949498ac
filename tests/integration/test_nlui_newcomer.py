"""What a person meets who has just installed nlui."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from integration.gateway_service.nlui_client import NluiClient
from integration.nlui import nlui
from ui_mcp.gateway.config import loader

pytestmark = pytest.mark.slow
ENTRY = "from ui_mcp.cli.entry import nlui_main; raise SystemExit(nlui_main())"


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    home = {"HOME": str(folder), "XDG_CONFIG_HOME": str(folder / "c"), "XDG_DATA_HOME": str(folder / "d")}
    command = [sys.executable, "-c", ENTRY, *words]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, **home}, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize("words", [[], ["serve"], ["check"], ["tools"], ["call"], ["init"], ["audit"]])
def test_every_help_says_what_the_command_is_for(tmp_path: Path, words: list[str]) -> None:
    told = run(tmp_path, *words, "--help")

    assert told.returncode == 0
    assert told.stdout.startswith("usage: nlui")
    assert len(told.stdout.splitlines()) >= 6


def test_init_writes_a_file_that_is_understood_and_served_and_never_overwrites(tmp_path: Path) -> None:
    first, again = run(tmp_path, "init"), run(tmp_path, "init")
    loaded = loader.load(tmp_path / "nlui.yaml")

    assert "Start the chat with: nlui" in first.stdout
    assert (again.returncode, "already exists" in again.stderr) == (3, True)
    assert stat.S_IMODE((tmp_path / "nlui.yaml").stat().st_mode) == 0o600
    assert loaded.settings.policy.mode == "guard"
    assert "names no targets and no servers" in run(tmp_path, "check").stdout
    with nlui(tmp_path, "serve", "--port", "0") as url:
        answer = httpx2.post(f"{url}/api/chat", json={"message": "hello"}, timeout=60).text
    assert "No model is set up yet." in answer


@pytest.mark.covers("GW-CLI-5")
def test_a_desktop_host_starts_it_at_the_root_with_hardly_a_variable(tmp_path: Path) -> None:
    greeting = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "desktop", "version": "1"}}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": greeting},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    done = subprocess.run(
        [sys.executable, "-c", ENTRY, "--mcp"],
        input="".join(f"{json.dumps(line)}\n" for line in lines),
        cwd="/",
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    first, second = map(json.loads, done.stdout.splitlines())
    assert (done.returncode, first["result"]["protocolVersion"]) == (0, "2024-11-05")
    assert "nlui__describe" in {tool["name"] for tool in second["result"]["tools"]}


@pytest.mark.covers("GW-CLI-5", "GW-SRV-6", "GW-SRV-8")
def test_on_stdio_only_protocol_reaches_stdout_and_the_end_of_input_is_the_end(tmp_path: Path) -> None:
    with NluiClient("--mcp", cwd=tmp_path) as client:
        words = client.hello["instructions"]
        assert client.process.stdin is not None
        assert client.process.stdout is not None
        client.send({"jsonrpc": "2.0", "id": 9, "method": "ping"})
        client.process.stdin.close()
        rest = client.process.stdout.read().decode().splitlines()
        code = client.process.wait(60)

    assert code == 0
    assert all(line.startswith("{") for line in rest)
    assert any('"id":9' in line.replace(" ", "") for line in rest)
    assert "_fields" in words
    assert "nlui__describe" in words
    assert len(words.encode()) <= 2048
