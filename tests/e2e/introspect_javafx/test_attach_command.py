"""`ui-mcp attach` as a person types it, and the agent that sees the program afterwards."""

import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from e2e.introspect_javafx.conftest import Programs
from interaction.lineclient import LineClient
from introspect.demos import running
from ui_mcp.introspect.backends.javafx import Address, JavaFxBackend, agent_jar
from ui_mcp.introspect.contract import Ask

pytestmark = [pytest.mark.slow, pytest.mark.anyio]


def attach(cwd: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "ui_mcp", "attach", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=60, check=True).stdout


def drive(cwd: Path, pid: int) -> dict[str, str]:
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


@pytest.mark.covers("IN-76")
async def test_a_person_attaches_a_program_and_the_agent_operates_it(
    programs: Programs, screen: str, tmp_path: Path
) -> None:
    async with running(programs.command("mixed"), screen) as pid:
        listed = await anyio.to_thread.run_sync(attach, tmp_path)
        said = await anyio.to_thread.run_sync(attach, tmp_path, str(pid))
        seen = await anyio.to_thread.run_sync(drive, tmp_path, pid)
        kept = [file.stat().st_mode & 0o777 for file in (tmp_path / ".claude/ui/storage/targets").glob("*.json")]
        again = await anyio.to_thread.run_sync(attach, tmp_path, "--detach", f"javafx-{pid}")

    assert f"{pid}  JavaFX  Demo" in listed
    assert said == f'Attached Demo; agents call it target "javafx-{pid}".\n'
    assert '#okButton "OK"' in seen["outline"]
    assert '#status "clicked 1"' in seen["observed"]
    assert (seen["picture"], seen["targets"]) == ("image", ["page", "browser", f"javafx-{pid}"])
    assert kept == [0o600]
    assert again == f"Forgotten: javafx-{pid}\n"


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
        seen = await backend.capture(Ask(depth=0))
        await backend.close()

    assert seen["app"]["mainClass"] == "Embedded"
