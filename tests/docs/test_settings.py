"""Settings that our texts show are read by the program that they are for, and do what the text says."""

from pathlib import Path

import httpx2

from docs.blocks import Block, block, together
from docs.terminal import Terminal
from ui_mcp.config import Config, load, unknown_keys


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


@together("run", block("docs/howto/remote.md", "require_token"))
def test_a_server_on_the_network_asks_for_the_token_in_the_file(given: tuple[Block], terminal: Terminal) -> None:
    write(given[0].code, terminal.home)
    with terminal.serving("ui-mcp serve") as (ui, mcp, _):
        assert ui.startswith("http://0.0.0.0:")
        here = mcp.replace("0.0.0.0", "127.0.0.1")
        token = (terminal.home / ".claude/ui/mcp-token").read_text()
        with_it = {"authorization": f"Bearer {token}"}
        names = ("server.example.com", "other.example.com")
        asked = [httpx2.get(f"{here}/state", headers={"host": name, **with_it}).status_code for name in names]
        without = [httpx2.get(address).status_code for address in (f"{here}/state", ui.replace("0.0.0.0", "127.0.0.1"))]

    assert (asked, without) == ([200, 421], [401, 403])
