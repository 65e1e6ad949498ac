"""What our texts say about APIs and mounted servers, done with an API that describes itself and a server on pipes."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from agreeing import agree, agree_to_gateway
from docs.blocks import Block, blocks, together
from docs.terminal import Terminal, get
from integration.lineclient import LineClient
from journeys.hosts import MODERN, HttpHost

pytestmark = pytest.mark.slow


def write(code: str, terminal: Terminal, *, more: str = "") -> Path:
    """Save an nlui.yaml as it stands, with the API at its real address."""
    for there, here in terminal.replaced.items():
        code = code.replace(there, here)
    file = terminal.folder / "nlui.yaml"
    file.write_text(code + more)
    return agree_to_gateway(file, terminal.home / ".config")


@together("run", *blocks("docs/howto/mount.md"))
def test_an_api_is_understood_called_offered_and_given_to_the_agent(
    given: tuple[Block, ...], terminal: Terminal
) -> None:
    least, using, setting, waiting = given
    check, call, serve = using.commands
    write(least.code, terminal)
    assert "shop: Shop 1: 5 ok, 0 degraded, 0 skipped" in terminal.run(check)
    assert json.loads(terminal.run(call))["url"].endswith("/orders")
    assert terminal.speaks(serve)["name"] == "nlui"

    config = terminal.folder / ".claude/ui/config/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(setting.code)
    agree(terminal.folder / ".claude/ui", terminal.home)
    data = f"{terminal.home}/.local/share"  # where the terminal looks, whatever the suite keeps elsewhere
    with LineClient(cwd=terminal.folder, **{**terminal.environment, "XDG_DATA_HOME": data}) as agent:
        listed(agent, "shop__listOrders")
        assert agent.call("shop__listOrders") == {"result": [{"id": 1}]}
        agent.send({"jsonrpc": "2.0", "id": 99, "method": "tools/call", "params": DELETE})
        assert "shop__delete_boat" in until_it_waits(terminal, *waiting.commands)


DELETE = {"name": "shop__delete_boat", "arguments": {"id": "1"}}


def listed(agent: LineClient, tool: str) -> None:
    """Ask for the tools until one is there: mounts come when they come."""
    deadline = time.monotonic() + 120
    while tool not in {one["name"] for one in agent.request("tools/list")["tools"]}:
        assert time.monotonic() < deadline, tool


def until_it_waits(terminal: Terminal, line: str) -> str:
    deadline = time.monotonic() + 120
    while "Nothing is pending." in (said := terminal.run(line)):
        assert time.monotonic() < deadline
    return said


@together("run", *blocks("docs/gateway.md", "sh", "yaml"))
def test_every_way_to_use_the_gateway_works(given: tuple[Block, ...], terminal: Terminal, service: str) -> None:
    ways, settings, sign_ins = given
    one, everything, sse, http, check, tools, call, init, approvals = ways.commands
    with terminal.serving("ui-mcp serve") as (_, mcp, _):
        terminal.replaced["https://mcp.example.com"] = mcp
        petstore = f"targets:\n  - {{name: petstore, base_url: {service}}}"
        write(settings.code.replace("targets:", petstore, 1), terminal)

        assert terminal.speaks(one)["name"] == "nlui"
        assert terminal.speaks(everything)["name"] == "nlui"
        for line in (sse, http):
            with terminal.serving(line) as (url,):
                assert HttpHost(f"{url}/mcp").ask("server/discover")["supportedVersions"] == [MODERN]
        said = terminal.run(check)
        names = {one["name"] for one in json.loads(terminal.run(tools))["tools"]}
        assert [line.partition(",")[0] for line in said.splitlines()] == [
            "petstore: Shop 1: 5 ok", "shop: Shop 1: 5 ok", "filesystem: active", "remote: active",
        ]  # fmt: skip
        assert {"petstore__getPetById", "shop__list_boats", "remote__ui_run"} <= names
        assert "shop__listOrders" not in names
        assert json.loads(terminal.run(call))["url"] == f"{service}/pets/5"
        (terminal.folder / "nlui.yaml").unlink()
        assert "Wrote nlui.yaml" in terminal.run(init)
        assert terminal.run(approvals) == "Nothing is pending.\n"
        (terminal.folder / "accounts.yaml").write_text(sign_ins.code.replace("${TRACKER_SECRET}", "secret"))
        accounts = terminal.run("nlui accounts --config accounts.yaml").splitlines()
        assert accounts == ["files: signed out", "tracker: signed out", "shop: signed out"]


@together("run", *blocks("docs/nlui.md", "sh"))
def test_the_chat_begins_with_a_demo_a_file_or_an_address(given: tuple[Block], terminal: Terminal) -> None:
    install, demo, init, configured, address = given[0].commands
    (terminal.home / "ui_mcp-0.1.0-py3-none-any.whl").touch()
    terminal.run(install)
    with terminal.serving(demo) as (url,):
        assert [target["name"] for target in targets(url)] == ["shop"]
    terminal.run(init)
    with terminal.serving(configured) as (url,):
        assert targets(url) == []
    with terminal.serving(address) as (url,):
        [target] = targets(url)
    assert any(tool.endswith("__getPetById") for tool in target["tools"])


def targets(url: str) -> Any:
    return get(f"{url}/api/targets").json()


@together("run", *blocks("docs/agent.md", "yaml"))
def test_the_scripted_model_asks_an_api_and_tells_what_it_said(
    given: tuple[Block, Block], terminal: Terminal, service: str
) -> None:
    prices, scripted = given
    write(prices.code, terminal)
    assert "prices" not in terminal.run("nlui check || true")
    write(scripted.code, terminal, more=f"targets: [{{name: weather, base_url: '{service}'}}]\n")
    with terminal.going("ui-mcp agent"), terminal.following("ui-mcp chat follow") as following:
        terminal.run("ui-mcp chat post 'What is the weather in Paris?'")
        assert following.stdout is not None
        said = [following.stdout.readline().strip() for _ in range(2)]

    assert said[1].endswith("assistant: It is 21 degrees.")
