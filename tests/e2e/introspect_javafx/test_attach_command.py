"""`ui-mcp attach` as a person types it, and the agent that sees the program afterwards."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from agreeing import agree
from e2e.introspect_javafx.conftest import Programs
from integration.lineclient import LineClient
from introspection.demos import PATIENCE, running
from ui_mcp.introspection.backends.javafx import Address, JavaFxBackend, agent_jar
from ui_mcp.introspection.contract import CaptureRequest
from ui_mcp.jsontypes import JsonObject

pytestmark = [pytest.mark.slow, pytest.mark.anyio]


def attach(cwd: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "ui_mcp", "attach", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=240, check=True).stdout


def drive(cwd: Path, pid: int) -> JsonObject:
    """Do what an agent would, without a started server."""
    with LineClient(cwd=cwd) as agent:
        outline = agent.call("ui_get_snapshot", target="javafx")
        uid = agent.call("ui_query", selector={"css": "#okButton"})["matches"][0]["ref"]["uid"]
        done = agent.call(
            "ui_perform", actions=[{"type": "click", "target": uid}], observe="diff", target=f"javafx-{pid}"
        )
        picture = agent.request(
            "tools/call", {"name": "ui_screenshot", "arguments": {"target": "javafx", "maxWidth": 300}}
        )
        targets = agent.call("ui_targets")
    return {
        "outline": outline,
        "observed": done["observed"],
        "picture": picture["content"][0]["type"],
        "targets": [entry["id"] for entry in targets["targets"]],
    }


@pytest.mark.covers("IN-76", "IN-94")
async def test_a_person_attaches_a_program_and_the_agent_operates_it(
    programs: Programs, screen: str, tmp_path: Path
) -> None:
    async with running(programs.command("mixed"), screen) as pid:
        listed = await anyio.to_thread.run_sync(attach, tmp_path)
        said = await anyio.to_thread.run_sync(attach, tmp_path, str(pid))
        seen = await anyio.to_thread.run_sync(drive, tmp_path, pid)
        kept = [file.stat().st_mode & 0o777 for file in (tmp_path / ".claude/ui/.ui-mcp/targets").glob("*.json")]
        again = await anyio.to_thread.run_sync(attach, tmp_path, "--detach", f"javafx-{pid}")

    assert f"{pid}  JavaFX  Demo" in listed
    assert said == f'Attached Demo as target "javafx-{pid}".\n'
    assert '#okButton "OK"' in seen["outline"]
    assert '#status "clicked 1"' in seen["observed"]
    assert (seen["picture"], seen["targets"]) == ("image", ["page", "browser", f"javafx-{pid}"])
    assert kept == [0o600]
    assert again == f"Detached: javafx-{pid}\n"


async def test_a_program_may_carry_the_agent_itself(programs: Programs, screen: str, tmp_path: Path) -> None:
    jar, file = agent_jar(tmp_path), tmp_path / "mine.json"
    fx = str(programs.cell.modules)
    paths = f"{programs.classes}:{jar}:{tmp_path}"
    source = str(Path(__file__).with_name("Embedded.java"))
    modules = ["-p", fx, "--add-modules", "javafx.controls"]
    javac = ["javac", "--release", "11", *modules, "-cp", paths, "-d", str(tmp_path), source]
    await anyio.run_process(javac)
    async with running([programs.cell.java, *modules, "-cp", paths, "Embedded", str(file)], screen):
        backend = await JavaFxBackend.connect(Address.read(file))
        seen = await backend.capture(CaptureRequest(depth=0))
        await backend.close()

    assert seen["app"]["mainClass"] == "Embedded"


def attached_by_agent(cwd: Path, pid: int) -> dict[str, Any]:
    """Attach, ask and detach as an agent that may."""
    with LineClient(cwd=cwd) as agent:
        refused = agent.call("ui_attach", kind="javafx", match="No such program")
        made = agent.call("ui_attach", kind="javafx", match="Demo", pid=pid)
        scopes = [
            [match["id"] for match in agent.call("ui_query", selector={"css": "#okButton"}, scope=scope)["matches"]]
            for scope in ({}, {"stage": "index", "stageIndex": 0}, {"stage": "all"})
        ]
        labels = agent.call("ui_query", selector={"predicate": {"typeIs": ["Label", "Button"]}}, limit=3)
        wrong = agent.call("ui_query", selector={"text": "x"}, limit=0)
        node = agent.call("ui_get_node", ref=labels["matches"][0]["ref"]["uid"])
        box = node["layout"]["localToScreen"]
        at = agent.call("ui_element_at", x=box["x"] + 2, y=box["y"] + 2)
        gone = agent.call("ui_detach", target=made["target"])
        left = [entry["id"] for entry in agent.call("ui_targets")["targets"]]
    return {
        "refused": refused["error"]["code"], "made": made, "scopes": scopes, "labels": labels,
        "wrong": wrong["error"]["code"], "same": at["ref"] == node["ref"], "gone": gone, "left": left,
    }  # fmt: skip


@pytest.mark.covers("IN-45", "IN-51", "IN-90")
async def test_an_agent_that_may_attaches_a_program_itself(programs: Programs, screen: str, tmp_path: Path) -> None:
    config = tmp_path / ".claude/ui/config/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[introspection]\nallow_attach = true\n")
    agree(tmp_path / ".claude/ui")
    async with running(programs.command("mixed"), screen) as pid:
        seen = await anyio.to_thread.run_sync(attached_by_agent, tmp_path, pid)

    labels = seen.pop("labels")
    assert seen == {
        "refused": "MCP_UI_INVALID_ARGUMENT",
        "made": {"target": f"javafx-{pid}", "kind": "javafx", "title": "Demo"},
        "scopes": [["okButton"]] * 3,
        "wrong": "MCP_UI_INVALID_ARGUMENT",
        "same": True,
        "gone": {"detached": f"javafx-{pid}"},
        "left": ["page", "browser"],
    }
    assert (len(labels["matches"]), labels["truncated"]) == (3, True)
    assert labels["total"] > 10


@pytest.mark.covers("IN-110", "IN-73")
async def test_a_program_without_a_target_file_says_its_token_once_in_its_log(
    programs: Programs, screen: str, tmp_path: Path
) -> None:
    agent = f"-javaagent:{agent_jar(tmp_path)}=enabled=true"
    command = ["sh", "-c", f'exec "$@" 2>{tmp_path / "log"}', "sh", *programs.command("mixed", agent)]
    async with running(command, screen) as pid:
        with anyio.fail_after(PATIENCE):
            while not re.search("token .*\n", said := (tmp_path / "log").read_text()):
                await anyio.sleep(0.05)
        words = next(line for line in said.splitlines() if "token" in line).split()
        port, token = int(words[words.index("port") + 1]), words[words.index("token") + 1]
        backend = await JavaFxBackend.connect(Address(pid, port, token))
        seen = await backend.capture(CaptureRequest(depth=0))
        sockets = Path(f"/proc/{pid}/net/tcp").read_text() + Path(f"/proc/{pid}/net/tcp6").read_text()
        await backend.close()

    assert seen["app"]["mainClass"] == "Demo"
    assert said.count(token) == 1
    # A connection of anybody may have the same number at its near end; only who listens counts (state 0A).
    listening = [fields[1] for line in sockets.splitlines() if (fields := line.split())[3] == "0A"]
    heard = {where.rpartition(":")[0] for where in listening if where.endswith(f":{port:04X}")}
    assert heard
    assert heard <= {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
