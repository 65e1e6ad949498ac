"""The channel of Claude Code, switched on by a setting, on the assistant's face."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

UI_MCP = [sys.executable, "-m", "ui_mcp"]
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}


@pytest.mark.covers("CHAT-CHANNEL-1")
@pytest.mark.parametrize("switched", ["true", "false"])
def test_messages_are_pushed_to_the_channel_only_when_it_is_switched_on(tmp_path: Path, switched: str) -> None:
    (tmp_path / ".claude/ui/config").mkdir(parents=True)
    (tmp_path / ".claude/ui/config/config.toml").write_text(f"[mcp]\nclaude_channel = {switched}\n")
    command = [*UI_MCP, "chat", "--face", "assistant"]
    with subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as agent:
        assert agent.stdin is not None
        assert agent.stdout is not None

        def send(method: str, **more: Any) -> None:
            assert agent.stdin is not None
            agent.stdin.write(json.dumps({"jsonrpc": "2.0", "method": method, **more}) + "\n")
            agent.stdin.flush()

        send("initialize", id=1, params=HELLO)
        offered = json.loads(agent.stdout.readline())["result"]["capabilities"].get("experimental")
        send("notifications/initialized")
        send("ping", id=2)
        agent.stdout.readline()
        posted = subprocess.run(
            [*UI_MCP, "chat", "post", "psst"], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        arguments = {"authors": ["user"], "timeout_s": 20}
        send("tools/call", id=3, params={"name": "chat_wait_since", "arguments": arguments})
        lines = [json.loads(agent.stdout.readline())]
        if switched == "true" and "id" in lines[0]:
            lines.append(json.loads(agent.stdout.readline()))
        agent.stdin.close()
        lines += [json.loads(line) for line in agent.stdout]

    pushed = [line["params"] for line in lines if line.get("method") == "notifications/claude/channel"]
    meta = {"conversation": "default", "last_id": posted.stdout.strip()}
    assert offered == ({"claude/channel": {}} if switched == "true" else None)
    assert pushed == ([{"content": "psst", "meta": meta}] if switched == "true" else [])
