"""Real hosts from npm, driven by a scripted model: set up, build, click, wait, run, look, test, talk."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hosts.drivers import DRIVERS, Driver, Place
from hosts.loop import SAID, STEPS
from hosts.model_server import FINISHED, Script, named, scripted_model

HOSTS = Path(os.environ["UI_MCP_HOSTS"])
SECONDS = 300
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def converse(driver: Driver, place: Place) -> str:
    """Set the host up as a person would, and let it talk to its model; return its last words."""
    programs = [HOSTS / driver.name / "node_modules" / ".bin", Path(sys.executable).parent, "/usr/bin", "/bin"]
    environment = {
        "HOME": str(place.home), "PATH": ":".join(map(str, programs)), "LANG": "C.UTF-8", "NO_COLOR": "1",
        "CI": "1", "TERM": "dumb", **driver.environment(place),
    }  # fmt: skip
    done = subprocess.CompletedProcess([], 0, "", "")
    subprocess.run(["git", "init", "-q"], cwd=place.project, check=True)
    setup = ["ui-mcp", "setup", "--yes", driver.name]
    subprocess.run(setup, cwd=place.project, env=environment, check=True, capture_output=True, timeout=SECONDS)
    driver.prepare(place)
    for command in driver.commands(place):
        done = subprocess.run(
            command, cwd=place.project, env=environment, capture_output=True, text=True, timeout=SECONDS,
            stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
    # Not every version of a host has or needs the commands before.
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


def unsaid(script: Script) -> dict[str, str]:
    """Return the results that do not say what they should, by tool."""
    shown = {tool: one.text for tool, _ in STEPS for one in script.outcomes if named(one.tool, tool)}
    return {tool: shown.get(tool, "absent")[:300] for tool, words in SAID.items() if words not in shown.get(tool, "")}


@pytest.mark.covers("HOST-LOOP-1")
@pytest.mark.parametrize("driver", DRIVERS, ids=[driver.name for driver in DRIVERS])
def test_a_host_goes_through_the_whole_loop(driver: Driver, tmp_path: Path) -> None:
    for name in ("home", "project"):
        (tmp_path / name).mkdir()

    with scripted_model(STEPS) as (address, script):
        words = converse(driver, Place(tmp_path / "home", tmp_path / "project", address))

    assert unsaid(script) == {}
    assert FINISHED in words
    if driver.passes_pictures:
        assert script.pictures + sum(one.pictures for one in script.outcomes) >= 1
