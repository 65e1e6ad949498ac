"""A browser that was started with a debugging port is joined by a person, and operated by an agent."""

import sys
from pathlib import Path
from subprocess import run
from typing import Any

import anyio
import pytest

from integration.lineclient import LineClient
from introspection.demos import debugged_chromium

pytestmark = [pytest.mark.slow, pytest.mark.anyio]
PAGE = "data:text/html,<title>Mine</title><button onclick=\"this.textContent='Pressed'\">Press</button>"


def attach(cwd: Path, *words: str) -> str:
    command = [sys.executable, "-m", "ui_mcp", "attach", *words]
    return run(command, cwd=cwd, capture_output=True, text=True, timeout=240, check=True).stdout


def press(cwd: Path) -> Any:
    """Wait for the button as an agent does and press it; return the last answer."""
    with LineClient(cwd=cwd) as agent:
        found = agent.call("ui_wait_for", selector={"css": "button"}, target="cdp", timeoutMs=60_000)
        if "error" in found:
            return found
        actions = [{"type": "click", "target": found["matches"][0]["ref"]}]
        return agent.call("ui_perform", actions=actions, observe="diff", target="cdp")


@pytest.mark.covers("IN-119")
@pytest.mark.parametrize("scheme", ["http", "ws"])
async def test_a_running_browser_is_joined_by_either_of_its_addresses(tmp_path: Path, scheme: str) -> None:
    async with debugged_chromium(tmp_path / "profile", PAGE) as addresses:
        said = await anyio.to_thread.run_sync(attach, tmp_path, "--cdp", addresses[scheme])
        done = await anyio.to_thread.run_sync(press, tmp_path)

    assert said == f'Attached {addresses[scheme]} as target "cdp".\n'
    assert '"Pressed"' in done["observed"]


@pytest.mark.covers("IN-119")
async def test_a_browser_that_has_ended_since_is_named_with_the_way_out(tmp_path: Path) -> None:
    async with debugged_chromium(tmp_path / "profile", PAGE) as addresses:
        await anyio.to_thread.run_sync(attach, tmp_path, "--cdp", addresses["http"])

    done = await anyio.to_thread.run_sync(press, tmp_path)

    assert done["error"]["details"] == {"reason": "NO_BROWSER"}
    assert done["error"]["message"].startswith(f"Nothing answers at {addresses['http']}\n")
    assert "--remote-debugging-port=" in done["error"]["message"]
