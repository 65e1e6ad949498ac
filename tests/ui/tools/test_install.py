"""`ui_install` as an agent calls it."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from ui_mcp.app.ui_server import open_host
from ui_mcp.errors import InvalidArgumentsError, NotConfiguredError
from ui_mcp.jsontypes import Json, JsonObject, loads
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.toolkit.tool import Call, Text
from ui_mcp.ui.instance import ListenPorts
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.states import Configured, Running
from ui_mcp.ui.tools.install import install


def serves_nothing(configured: Configured) -> AbstractAsyncContextManager[Running]:
    raise NotImplementedError


@pytest.fixture
async def host(tmp_path: Path) -> AsyncIterator[UiServer]:
    async with UiServer(serves_nothing) as host:
        await host.begin(str(tmp_path / ".claude" / "ui"))
        yield host


async def run(host: UiServer, arguments: JsonObject) -> JsonObject:
    [block] = (await install.run(host, arguments, Call())).content
    assert isinstance(block, Text)
    answer: JsonObject = loads(block.text)
    return answer


@pytest.mark.covers("UI-TOOL-7", "UI-INST-2")
async def test_after_the_automatic_install_nothing_is_left_to_do(host: UiServer) -> None:
    answer = await run(host, {})

    assert answer["version_skipped"] is True
    assert answer["installed"] == []
    assert answer["hint"] == "Use force=true to reinstall"


@pytest.mark.covers("UI-TOOL-7", "UI-INST-3")
async def test_force_brings_back_a_file_the_user_removed(host: UiServer, tmp_path: Path) -> None:
    (tmp_path / ".claude/ui/resources/lua.md").unlink()

    answer = await run(host, {"force": True})

    assert {".claude/ui/resources/lua.md", ".claude/skills/ui/SKILL.md"} <= set(answer["installed"])
    assert (answer["skipped"], answer["appended"]) == ([], [])


@pytest.mark.covers("UI-FSM-3")
async def test_it_works_while_configured_or_running_and_otherwise_refuses(tmp_path: Path) -> None:
    async with open_host({"lua.host": "thread"}, ListenPorts(), Announcements()) as host:
        with pytest.raises(NotConfiguredError):
            await run(host, {})
        await host.begin(str(tmp_path / "ui"))
        configured = await run(host, {"force": True})
        await host.start()
        running = await run(host, {"force": True})

    assert "README.md" in configured["installed"]
    assert running["installed"] == configured["installed"]


@pytest.mark.covers("UI-TOOL-7")
@pytest.mark.parametrize("force", ["yes", "perhaps", "1", 1, 7])
async def test_only_true_and_false_decide_whether_files_are_replaced(host: UiServer, force: Json) -> None:
    with pytest.raises(InvalidArgumentsError, match="force: should be true or false"):
        await run(host, {"force": force})
    assert (await run(host, {"force": "true"}))["installed"]  # as models write it


@pytest.mark.parametrize("arguments", [{"force": []}, {"other": True}])
async def test_wrong_arguments_are_named(host: UiServer, arguments: JsonObject) -> None:
    with pytest.raises(InvalidArgumentsError, match=r"force|other"):
        await run(host, arguments)
