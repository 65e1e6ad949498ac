from itertools import pairwise
from pathlib import Path

import pytest
from anyio import create_task_group, current_time, fail_after
from anyio.lowlevel import checkpoint

from ui_mcp.app.ui_server import open_host
from ui_mcp.errors import NotStartedError, ResourceNotFoundError
from ui_mcp.jsontypes import Json, loads
from ui_mcp.testing.browser import open_page
from ui_mcp.toolkit.announcements import Announcement, Announcements, ResourceUpdated
from ui_mcp.toolkit.resources import CombinedResources
from ui_mcp.toolkit.tool import Call
from ui_mcp.ui.instance import ListenPorts
from ui_mcp.ui.mcp import ui_resources
from ui_mcp.ui.resources import events, state, variables
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.sessions.context import INTERVAL


def resources(host: UiServer) -> CombinedResources:
    return CombinedResources([part.provide(host, Announcements()) for part in (state, variables, events)])


async def read(host: UiServer, uri: str) -> Json:
    [content] = await resources(host).read(uri, Call())
    assert (content.uri, content.mime_type) == (uri, "application/json")
    return loads(content.body)


@pytest.mark.covers("UI-RES-9")
@pytest.mark.parametrize("uri", ["ui://state", "ui://state/1", "ui://variables", "ui://events"])
async def test_before_the_start_live_resources_say_so(tmp_path: Path, uri: str) -> None:
    async with open_host({}, ListenPorts(), Announcements()) as host:
        await host.begin(str(tmp_path / "ui"))
        with pytest.raises(NotStartedError, match=r"^Server not started$"):
            await read(host, uri)


@pytest.mark.covers("UI-RES-1", "UI-RES-3", "UI-RES-4", "UI-WAIT-10")
async def test_state_variables_and_events_are_read_without_taking_anything(tmp_path: Path) -> None:
    async with open_host({"lua.host": "thread"}, ListenPorts(), Announcements()) as host:
        await host.begin(str(tmp_path / "ui"))
        sessions = (await host.start()).sessions
        await sessions.get("1").run_lua("mcp.value = {n = 1} mcp.pushState({e = 1})")
        second = await sessions.create()
        await second.run_lua("mcp.value = {n = 2}")

        assert await read(host, "ui://state") == {"n": 1, "_events": [{"e": 1}]}
        assert await read(host, "ui://state/2") == {"n": 2}
        assert await read(host, f"ui://state/{second.secret}") == {"n": 2}
        assert await read(host, "ui://events") == [{"e": 1}]
        assert isinstance(await read(host, "ui://variables"), list)
        for unknown in ("ui://state/9", "ui://statement", "ui://other"):
            with pytest.raises(ResourceNotFoundError):
                await read(host, unknown)


@pytest.mark.covers("UI-RES-10")
async def test_changes_are_announced_and_the_last_one_always(tmp_path: Path) -> None:
    announcements, heard = Announcements(), dict[str, list[float]]()

    def hear(announcement: Announcement) -> None:
        if isinstance(announcement, ResourceUpdated):
            heard.setdefault(announcement.uri, []).append(current_time())

    async def follow(host: UiServer) -> None:
        """See the last change by reading when notified, and only then."""
        read_at, shown = 0, -1
        while shown < 29:
            while len(heard.get("ui://state", ())) == read_at:
                await checkpoint()
            read_at = len(heard["ui://state"])
            shown = (await read(host, "ui://state") or {}).get("n", -1)

    announcements.listen(hear)
    async with open_host({"lua.host": "thread"}, ListenPorts(), announcements) as host:
        await host.begin(str(tmp_path / "ui"))
        session = (await host.start()).sessions.get("1")
        with fail_after(60):
            async with open_page(session), create_task_group() as tasks:
                tasks.start_soon(follow, host)
                for number in range(30):
                    await session.run_lua(f"mcp.value = {{n = {number}}} mcp.pushState({{n = {number}}})")

    assert {"ui://state", "ui://state/1", "ui://variables", "ui://events"} <= heard.keys()
    for times in heard.values():
        assert all(later - earlier > INTERVAL * 0.9 for earlier, later in pairwise(times))


@pytest.mark.covers("MCP-URI-1")
async def test_only_the_page_for_hosts_has_the_type_of_a_page_for_hosts(tmp_path: Path) -> None:
    async with open_host({"lua.host": "thread"}, ListenPorts(), Announcements()) as host:
        await host.begin(str(tmp_path / "ui"))
        (tmp_path / "ui" / "resources" / "page.html").write_text("<p>a file</p>")
        await host.start()
        everything = ui_resources(host, Announcements())
        uris = [resource.uri for resource in await everything.resources(Call())]
        types = {uri: (await everything.read(uri, Call()))[0].mime_type for uri in [*uris, "ui://app/main.html"]}

    assert all(uri.startswith("ui://") for uri in types)
    assert (types["ui://state"], types["ui://page.html"]) == ("application/json", "text/html")
    assert [uri for uri, kind in types.items() if "profile=mcp-app" in kind] == ["ui://app/main.html"]
