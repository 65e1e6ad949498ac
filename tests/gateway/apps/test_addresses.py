"""Apps of mounted servers through the gateway: two servers with the same addresses and names stay apart."""

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from gateway.gateways import gateway
from ui_mcp.errors import InvalidArgumentsError, ResourceNotFoundError, UnknownToolError
from ui_mcp.gateway.apps.addresses import app_address, owner_of, resource_address, ui_of, with_names
from ui_mcp.gateway.mcp import MountedResources
from ui_mcp.gateway.service import GatewayService
from ui_mcp.gateway.toolset import GatewayToolset
from ui_mcp.jsontypes import Json
from ui_mcp.toolkit.announcements import Announcement, ResourceUpdated
from ui_mcp.toolkit.tool import Call, Relayed

SERVER = Path(__file__).parent.parent / "app_server.py"
HOST = Call(capabilities={"extensions": {"io.modelcontextprotocol/ui": {}}})


@asynccontextmanager
async def two_servers(folder: Path, **policy: Json) -> AsyncIterator[GatewayService]:
    servers = [
        {"name": name, "command": sys.executable, "args": [str(SERVER), name], "start_timeout_s": 60}
        for name in ("one", "two")
    ]
    async with gateway(folder, mcp={"servers": servers}, policy=policy or {"mode": "host"}) as found:
        yield found


@pytest.mark.covers("GW-APP-1")
async def test_each_tool_opens_the_page_of_its_own_server(tmp_path: Path) -> None:
    async with two_servers(tmp_path) as found:
        resources = MountedResources(found)
        pages = []
        for name in ("one", "two"):
            address = ui_of(found.catalog.entry(f"{name}__show").tool)["resourceUri"]
            (page,) = await resources.read(address, HOST)
            pages.append((page.uri == address, str(page.body).partition("<h1>")[2][:11], page.meta))

        listed = [one.uri for one in await resources.resources(HOST)]

    assert pages == [(True, "view of one", {"ui": {"csp": {}}}), (True, "view of two", {"ui": {"csp": {}}})]
    assert listed == ["ui://nlui/one/app/index.html", "ui://nlui/two/app/index.html"]


@pytest.mark.covers("GW-APP-1")
async def test_a_result_links_to_the_page_of_its_server(tmp_path: Path) -> None:
    async with two_servers(tmp_path) as found:
        result = await GatewayToolset(found).call("two__show", {}, HOST)

    assert result.content[1] == Relayed({"type": "resource_link", "uri": "ui://nlui/two/app/index.html", "name": "app"})


@pytest.mark.covers("GW-APP-2")
async def test_a_page_carries_the_names_by_which_the_host_knows_its_tools(tmp_path: Path) -> None:
    async with two_servers(tmp_path) as found:
        (page,) = await MountedResources(found).read("ui://nlui/two/app/index.html", HOST)

    text = str(page.body)
    names = '{"show": "two__show", "refresh": "two__refresh", "only_two": "two__only_two"}'
    assert f'({{"server": "two", "names": {names}}})' in text
    assert text.index("<script>") < text.index("<title>")


@pytest.mark.covers("GW-APP-2")
async def test_an_inner_name_reaches_the_only_app_that_has_it(tmp_path: Path) -> None:
    async with two_servers(tmp_path) as found:
        result = await GatewayToolset(found).call("only_two", {}, HOST)

        assert result.content[0] == Relayed({"type": "text", "text": "only_two of two"})
        with pytest.raises(UnknownToolError):
            await GatewayToolset(found).call("refresh", {}, HOST)
        with pytest.raises(UnknownToolError):
            await GatewayToolset(found).call("think", {}, HOST)


@pytest.mark.covers("GW-APP-3")
async def test_tools_for_apps_are_hidden_from_models(tmp_path: Path) -> None:
    async with two_servers(tmp_path) as found:
        tools = GatewayToolset(found)
        for_models = {tool.name for tool in await tools.tools(Call())}
        for_hosts = {tool.name for tool in await tools.tools(HOST)}
        hits = {hit.entry.name for hit in await found.search("refresh", "local", limit=30)}

        with pytest.raises(InvalidArgumentsError, match="app only"):
            await tools.call("nlui__call", {"name": "one__refresh"}, HOST)
        with pytest.raises(InvalidArgumentsError, match="app only"):
            await tools.call("one__refresh", {}, Call(agent="chat-1", call_id="1"))

    assert for_hosts - for_models == {"one__refresh", "two__refresh"}
    assert "one__refresh" not in hits


@pytest.mark.covers("GW-APP-3")
async def test_a_short_list_still_names_the_tools_that_open_apps(tmp_path: Path) -> None:
    async with two_servers(tmp_path) as found:
        short = GatewayToolset(found, mode="compact")
        hosts = {tool.name for tool in await short.tools(HOST)} - {tool.name for tool in await short.tools(Call())}

    assert {"one__show", "two__show", "one__refresh", "two__refresh"} <= hosts
    assert "one__only_one" not in hosts


@pytest.mark.covers("GW-APP-4")
async def test_a_call_of_an_app_waits_for_the_person(tmp_path: Path) -> None:
    async with two_servers(tmp_path, mode="guard") as found:
        result = await GatewayToolset(found).call("one__refresh", {}, HOST)
        waiting = [row.tool for row in await found.approvals.pending()]

    assert result.structured is not None
    assert (result.structured["status"], waiting) == ("awaiting_approval", ["one__refresh"])


@pytest.mark.covers("GW-APP-5")
async def test_an_update_reaches_the_subscriber_of_that_server_only(tmp_path: Path) -> None:
    heard: list[str] = []

    def listen(announcement: Announcement) -> None:
        if isinstance(announcement, ResourceUpdated) and announcement.uri.startswith("ui:"):
            heard.append(announcement.uri)

    async with two_servers(tmp_path) as found:
        found.announcements.interest("ui://nlui/two/app/index.html", 1)
        found.announcements.listen(listen)
        await GatewayToolset(found).call("two__think", {}, HOST)
        with anyio.fail_after(30):
            while not heard:
                await anyio.sleep(0.01)

    assert heard == ["ui://nlui/two/app/index.html"]


@pytest.mark.covers("GW-APP-1")
async def test_an_unknown_server_in_an_address_is_not_found(tmp_path: Path) -> None:
    async with two_servers(tmp_path) as found:
        with pytest.raises(ResourceNotFoundError):
            await MountedResources(found).read("ui://nlui/three/app/index.html", HOST)


@pytest.mark.covers("GW-APP-1")
@pytest.mark.parametrize(
    ("address", "owner"),
    [
        (app_address("one", "ui://app/x"), ("one", "ui://app/x")),
        (app_address("one", app_address("one", "ui://app/x")), ("one", "ui://app/x")),
        (resource_address("two", "file:///a b?c#d"), ("two", "file:///a b?c#d")),
        ("ui://nlui/one", None),
        ("ui://app/x", None),
        ("compositor://one/state", None),
        ("file:///resource/x", None),
    ],
)
def test_an_address_names_its_server_and_the_inner_address(address: str, owner: tuple[str, str] | None) -> None:
    assert owner_of(address) == owner


@pytest.mark.covers("GW-APP-2")
@pytest.mark.parametrize(
    ("page", "before"),
    [
        ("<!DOCTYPE html><HTML lang=en><Head class=x><script>1", "<!DOCTYPE html><HTML lang=en><Head class=x>"),
        ("<!doctype html>\n<html><body>", "<!doctype html>\n<html>"),
        ("<!doctype html><p>", "<!doctype html>"),
        ("<header>x</header>", ""),
    ],
)
def test_the_script_comes_before_everything_that_runs(page: str, before: str) -> None:
    assert with_names(page, "s", {"</script>": "s__x"}).partition("<script>")[0] == before


@pytest.mark.covers("GW-APP-2")
def test_a_tool_name_cannot_end_the_script() -> None:
    assert with_names("", "s", {"</script><script>alert(1)": "s__x"}).count("</script>") == 1
