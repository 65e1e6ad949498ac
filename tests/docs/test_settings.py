"""Settings that our texts show are read by the program that they are for, and do what the text says."""

import html
import re
from pathlib import Path

import pytest

from agreeing import agree
from chromium import launched
from docs.blocks import Block, block, together
from docs.terminal import Terminal, get
from introspection.demos import needs
from journeys.hosts import HttpHost
from ui_mcp.config import Config, load, unknown_keys

START_PAGE = "Apps in this project"


def write(code: str, home: Path) -> Path:
    file = home / ".claude/ui/config/config.toml"
    file.parent.mkdir(parents=True)
    file.write_text(code)
    return file


@together("run", block("src/ui_mcp/bundle/base/resources/reference.md", "[lua.permissions]"))
def test_the_settings_of_the_reference_are_the_ones_in_force_without_a_file(
    given: tuple[Block], tmp_path: Path
) -> None:
    file = write(given[0].code, tmp_path)

    assert unknown_keys(file) == []
    assert load(file, environment={}) == Config()


@pytest.mark.slow
@pytest.mark.covers("UI-SEC-2", "UI-SEC-3")
@together("run", block("docs/howto/remote.md", "require_token"))
def test_a_server_on_the_network_asks_for_its_token_and_shows_its_page(given: tuple[Block], terminal: Terminal) -> None:
    needs("chromium")
    write(given[0].code, terminal.home)
    agree(terminal.home / ".claude/ui", terminal.home)
    with terminal.serving("ui-mcp serve") as (ui, mcp, _):
        ui_here, mcp_here = (url.replace("server.example.com", "127.0.0.1") for url in (ui, mcp))
        person_here = f"http://127.0.0.1:{(terminal.home / '.claude/ui/person-port').read_text().strip()}"
        bearer = {"Authorization": f"Bearer {(terminal.home / '.claude/ui/mcp-token').read_text()}"}
        names = ("server.example.com", "other.example.com")
        asked = [get(f"{mcp_here}/state", headers={"host": name, **bearer}).status_code for name in names]
        without = [get(address).status_code for address in (f"{mcp_here}/state", ui_here)]
        agent = HttpHost(f"{mcp_here}/mcp", **bearer)
        seen = agent.ask("tools/call", name="ui_get_snapshot", arguments={})["content"][0]["text"]
        told = agent.ask("tools/call", name="ui_open_browser", arguments={})["content"][0]["text"]
        [file] = (terminal.home / ".local/state/ui-mcp/open").iterdir()
        [link] = re.findall(rf'href="({person_here}/[^"]+)"', html.unescape(file.read_text()))
        with launched("--host-resolver-rules=MAP server.example.com 127.0.0.1") as browser:
            page = browser.new_page()
            page.goto(link)
            page.frame_locator("iframe").get_by_text(START_PAGE).wait_for()

    assert START_PAGE in seen
    assert told == f"Opened {person_here}/"
    assert (asked, without) == ([200, 421], [401, 403])
