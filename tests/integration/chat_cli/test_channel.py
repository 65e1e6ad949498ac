"""The channel of Claude Code, switched on by a setting, on the assistant's side."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from integration.lineclient import LineClient
from terminals import with_terminal

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
            with_terminal([*UI_MCP, "chat", "post", "psst"]), cwd=tmp_path, capture_output=True, text=True, check=True
        )
        arguments = {"authors": ["user"], "timeout_s": 60}
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


@pytest.mark.covers("CHAT-CHANNEL-1", "MCP-CHAN-1")
@pytest.mark.parametrize("started", [False, True])
def test_the_ui_server_pushes_to_the_channel_too_and_the_event_stays_readable(tmp_path: Path, started: bool) -> None:
    (tmp_path / ".claude/ui/config").mkdir(parents=True)
    (tmp_path / ".claude/ui/config/config.toml").write_text("[mcp]\nclaude_channel = true\n")
    with LineClient(cwd=tmp_path) as agent:
        agent.call("ui_start" if started else "ui_status")
        agent.call("chat_read_since")
        posting = with_terminal([*UI_MCP, "chat", "post", "psst"])
        posted = subprocess.run(posting, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=60)
        while (line := agent.receive()).get("method") != "notifications/claude/channel":
            pass
        queued = agent.call("ui_wait", timeout=60) if started else []

    meta = {"app": "ui-mcp", "event": "chat_message", "conversation": "default", "last_id": posted.stdout.strip()}
    assert agent.hello["capabilities"]["experimental"] == {"claude/channel": {}}
    assert line["params"] == {"content": "psst", "meta": meta}
    assert [event["last_id"] for event in queued] == ([meta["last_id"]] if started else [])


@pytest.mark.covers("CHAT-UI-1", "R-NO-1")
def test_who_subscribes_on_the_ui_server_is_told_before_anything_was_started_or_read(tmp_path: Path) -> None:
    with LineClient(cwd=tmp_path) as agent:
        agent.request("resources/subscribe", {"uri": "ui://chat/inbox"})
        agent.call("ui_status")
        bells = tmp_path / ".claude/ui/.ui-mcp/runtime.db-bells"
        while not bells.is_dir() or not any(bells.glob("*.bell")):  # the chat is being opened
            agent.request("ping")
        subprocess.run(
            with_terminal([*UI_MCP, "chat", "post", "hello"]), cwd=tmp_path, capture_output=True, check=True, timeout=60
        )
        while (line := agent.receive()).get("method") != "notifications/resources/updated":
            pass

    assert [message["content"] for message in line["params"]["messages"]] == ["hello"]
