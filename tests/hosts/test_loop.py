"""Real hosts from npm, driven by a scripted model: set up, build, click, wait, run, look, test, talk."""

import os
import subprocess
from pathlib import Path

import pytest

import needs
from hosts.drivers import DRIVERS, Driver, Place
from hosts.loop import SAID, STEPS
from hosts.model_server import FINISHED, Script, named, scripted_model
from hosts.pinned import VERSIONS, MissingToolError, install_pinned, node_folder
from hosts.running import converse, environment, set_up

GIVEN = os.environ.get("UI_MCP_HOSTS")
CHOSEN = [driver for driver in DRIVERS if GIVEN or driver.name in VERSIONS]
pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def folder_with(driver: Driver) -> Path:
    """Return the folder of hosts in which this one is installed."""
    if GIVEN:
        return Path(GIVEN)
    try:
        return install_pinned(driver.name)
    except (MissingToolError, subprocess.CalledProcessError) as error:
        needs.missing(f"{driver.name} ({error})")


def unsaid(script: Script) -> dict[str, str]:
    """Return the results that do not say what they should, by tool."""
    shown = {tool: one.text for tool, _ in STEPS for one in script.outcomes if named(one.tool, tool)}
    return {tool: shown.get(tool, "absent")[:300] for tool, words in SAID.items() if words not in shown.get(tool, "")}


@pytest.mark.covers("HOST-LOOP-1")
@pytest.mark.parametrize("driver", CHOSEN, ids=[driver.name for driver in CHOSEN])
def test_a_host_goes_through_the_whole_loop(driver: Driver, tmp_path: Path) -> None:
    hosts = folder_with(driver)
    for name in ("home", "project"):
        (tmp_path / name).mkdir()

    with scripted_model(STEPS) as (address, script):
        place = Place(tmp_path / "home", tmp_path / "project", address)
        variables = environment(driver, place, hosts, [node_folder()])
        set_up(driver, place, variables)
        words = converse(driver, place, variables)
        if driver.gives_up_early and not script.outcomes:
            words = converse(driver, place, variables)

    assert unsaid(script) == {}
    assert FINISHED in words
    if driver.passes_pictures:
        assert script.pictures + sum(one.pictures for one in script.outcomes) >= 1
