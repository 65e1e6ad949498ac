"""The state machine and its exact words."""

from pathlib import Path

import anyio
import pytest

from ui.conftest import Served
from ui_mcp.errors import AlreadyRunningError, ConfigError, NotConfiguredError, NotStartedError
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.states import Configured, Running, Unconfigured


@pytest.mark.covers("UI-FSM-1", "UI-FSM-2", "UI-CLI-8")
async def test_start_up_leads_to_configured_with_everything_installed(host: UiServer, tmp_path: Path) -> None:
    await host.begin(str(tmp_path / ".claude/ui"))

    assert isinstance(host.state, Configured)
    for name in ("log/lua.log", "log/lua-err.log", "README.md", ".ui-mcp/install-manifest.json"):
        assert (tmp_path / ".claude/ui" / name).is_file()
    for name in ("skills/ui/SKILL.md", "agents/ui-builder.md", "ui/resources/lua.md", "ui/viewdefs/MCP.DEFAULT.html"):
        assert (tmp_path / ".claude" / name).is_file()
    assert (tmp_path / ".claude/ui/event").is_file()


@pytest.mark.covers("UI-DIR-1")
async def test_configuring_lays_out_the_base_directory(host: UiServer, tmp_path: Path) -> None:
    await host.begin(str(tmp_path / "ui"))

    folders = {path.name for path in (tmp_path / "ui").iterdir() if path.is_dir()}
    assert {"html", "viewdefs", "lua", "apps", "resources", "log", "storage", "config", ".ui-mcp"} <= folders


@pytest.mark.covers("UI-FSM-4", "UI-FSM-5")
async def test_the_errors_are_the_agreed_words(host: UiServer, tmp_path: Path) -> None:
    await host.begin(str(tmp_path / "ui"))
    with pytest.raises(NotStartedError) as not_started:
        host.running()
    await host.start()
    with pytest.raises(AlreadyRunningError) as already:
        await host.start()

    assert not_started.value.message == "Server not started"
    assert already.value.message.splitlines() == ["Server already running", "http://127.0.0.1:1"]


@pytest.mark.covers("UI-FSM-3", "UI-TOOL-1")
@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "~nobody-of-this-name/ui", "a/" * 3000])
async def test_a_name_that_no_directory_can_have_is_an_error_and_changes_nothing(
    host: UiServer, tmp_path: Path, name: str
) -> None:
    await host.begin(str(tmp_path / "ui"))
    before = await host.start()

    with pytest.raises(ConfigError, match="cannot use base_dir"):
        await host.configure(str(tmp_path / name) if name[0] != "~" else name)

    assert host.state is before


@pytest.mark.covers("UI-FSM-3")
async def test_a_failed_start_up_leaves_it_unconfigured_until_configured(host: UiServer, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    await host.begin(str(tmp_path / "file/ui"))

    with pytest.raises(NotConfiguredError) as caught:
        host.running()
    assert isinstance(host.state, Unconfigured)
    assert caught.value.message.splitlines()[0] == "Server not configured"
    assert "cannot use base_dir" in caught.value.message

    await host.configure(str(tmp_path / "ui"))
    assert isinstance(await host.start(), Running)


@pytest.mark.covers("UI-FSM-3", "UI-CFG-1")
async def test_a_configuration_file_is_read_and_if_it_is_broken_it_is_the_reason(
    host: UiServer, tmp_path: Path
) -> None:
    (tmp_path / "ui/config").mkdir(parents=True)
    (tmp_path / "ui/config/config.toml").write_text("[mcp]\nmax_result_chars = 4321\n")
    await host.begin(str(tmp_path / "ui"))
    assert host.configured().config.mcp.max_result_chars == 4321

    (tmp_path / "ui/config/config.toml").write_text("[server\n")
    await host.begin(str(tmp_path / "ui"))

    assert "line 1" in host.status()["error"]


@pytest.mark.covers("UI-FSM-7")
async def test_a_bad_directory_leaves_a_running_server_alone(host: UiServer, served: Served, tmp_path: Path) -> None:
    await host.begin(str(tmp_path / "ui"))
    running = await host.start()
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(ConfigError, match="cannot use base_dir"):
        await host.configure(str(tmp_path / "file"))

    assert host.state is running
    assert served.open == [tmp_path / "ui"]


@pytest.mark.covers("UI-FSM-1", "UI-FSM-7", "UI-ROB-5")
async def test_configuring_from_running_ends_what_runs_and_can_be_repeated(
    host: UiServer, served: Served, tmp_path: Path
) -> None:
    for name in ("a", "b", "a", "c"):
        await host.configure(str(tmp_path / name))
        assert served.open == []
        await host.start()
        assert served.open == [tmp_path / name]


@pytest.mark.covers("UI-FSM-6")
async def test_a_failed_start_changes_nothing(host: UiServer, served: Served, tmp_path: Path) -> None:
    await host.begin(str(tmp_path / "ui"))
    served.fail = ConfigError("no port")

    with pytest.raises(ConfigError, match="no port"):
        await host.start()

    assert isinstance(host.state, Configured)
    served.fail = None
    assert isinstance(await host.start(), Running)


@pytest.mark.covers("UI-FSM-10")
async def test_of_many_concurrent_starts_exactly_one_succeeds(host: UiServer, tmp_path: Path) -> None:
    await host.begin(str(tmp_path / "ui"))
    outcomes: list[str] = []

    async def start() -> None:
        try:
            await host.start()
            outcomes.append("started")
        except AlreadyRunningError as error:
            outcomes.append(error.message)

    async with anyio.create_task_group() as tasks:
        for _ in range(10):
            tasks.start_soon(start)

    assert sorted(outcomes) == ["Server already running\nhttp://127.0.0.1:1"] * 9 + ["started"]


@pytest.mark.covers("UI-FSM-11")
async def test_logs_are_kept_over_configurations(host: UiServer, tmp_path: Path) -> None:
    await host.begin(str(tmp_path / "ui"))
    (tmp_path / "ui/log/lua.log").write_text("kept\n")

    await host.configure(str(tmp_path / "ui"))

    assert (tmp_path / "ui/log/lua.log").read_text() == "kept\n"


@pytest.mark.covers("UI-TOOL-18", "UI-TOOL-6")
async def test_status_tells_each_state(host: UiServer, tmp_path: Path) -> None:
    await host.begin(str(tmp_path / "ui"))
    configured = host.status()

    assert (configured["state"], configured["base_dir"]) == ("configured", str(tmp_path / "ui"))
    assert set(configured) == {"state", "version", "base_dir"}


@pytest.mark.covers("UI-FSM-6")
async def test_two_hosts_on_one_project_and_the_second_start_names_the_first(tmp_path: Path) -> None:
    async with UiServer(Served()) as first, UiServer(Served()) as second:
        await first.begin(str(tmp_path / "ui"))
        await second.begin(str(tmp_path / "ui"))
        await first.start()
        with pytest.raises(AlreadyRunningError, match=r"Another ui-mcp \(pid \d+\) runs this directory at http://127"):
            await second.start()
        assert second.status()["other"]["url"] == "http://127.0.0.1:1"

        await first.stop()
        assert "other" not in second.status()
        await second.start()
        await second.stop()
