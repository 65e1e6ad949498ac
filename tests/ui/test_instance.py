"""Port files, the token file and the directory lock."""

import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from ui_mcp.errors import AlreadyRunningError, ConfigError
from ui_mcp.ui.instance import exclusive, other_server, port_file, token_file
from ui_mcp.ui.own_files import settle
from ui_mcp.workspace import Workspace, make_own


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "ui/storage").mkdir(parents=True)
    workspace = Workspace.at(tmp_path / "ui")
    make_own(workspace)
    return workspace


@pytest.mark.covers("UI-DIR-3")
def test_a_port_file_holds_the_bare_number_and_goes_away(workspace: Workspace) -> None:
    with port_file(workspace.ui_port, 39482):
        assert workspace.ui_port.read_bytes() == b"39482"
        assert [file.name for file in workspace.base.iterdir() if file.name.startswith(".")] == [".ui-mcp"]
    assert not workspace.ui_port.exists()


@pytest.mark.covers("UI-DIR-3")
def test_a_stale_file_is_overwritten_and_a_newer_one_is_left(workspace: Workspace) -> None:
    workspace.ui_port.write_text("1")
    with port_file(workspace.ui_port, 2):
        assert workspace.ui_port.read_text() == "2"
        workspace.ui_port.write_text("3")
    assert workspace.ui_port.read_text() == "3"


@pytest.mark.covers("UI-SEC-5")
def test_the_token_is_for_its_owner_alone(workspace: Workspace) -> None:
    with token_file(workspace) as token:
        assert workspace.mcp_token.read_text() == token
        assert workspace.mcp_token.stat().st_mode & 0o777 == 0o600
    assert not workspace.mcp_token.exists()


def test_a_killed_holder_leaves_the_directory_free(workspace: Workspace) -> None:
    code = (
        "import sys\nfrom ui_mcp.ui.instance import exclusive\nfrom ui_mcp.workspace import Workspace\n"
        f"with exclusive(Workspace.at({str(workspace.base)!r})) as lock:\n"
        "    lock.publish('http://127.0.0.1:7')\n    print('held', flush=True)\n    sys.stdin.read()\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        other = other_server(workspace)
        assert other is not None
        assert (other.pid, other.url) == (holder.pid, "http://127.0.0.1:7")
        with pytest.raises(AlreadyRunningError, match=f"pid {holder.pid}"), exclusive(workspace):
            pass
        holder.kill()

    assert other_server(workspace) is None
    with exclusive(workspace):
        pass


def test_a_holder_that_has_not_written_its_pid_yet_is_named_without_one(workspace: Workspace) -> None:
    with exclusive(workspace), pytest.raises(AlreadyRunningError) as caught, exclusive(workspace):
        pass

    assert caught.value.message.splitlines()[0] == "Another ui-mcp is starting in this directory"


@pytest.mark.covers("UI-OWN-2")
@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("place", [".ui-mcp", "storage"])
def test_a_lock_is_never_written_through_a_link(workspace: Workspace, tmp_path: Path, place: str, hard: bool) -> None:
    victim, lock = tmp_path / "victim", workspace.base / place / "running.lock"
    victim.write_text("precious")
    (lock.hardlink_to if hard else lock.symlink_to)(victim)

    with suppress(ConfigError), exclusive(workspace) as held:
        held.publish("http://127.0.0.1:7")

    assert victim.read_text() == "precious"
    assert other_server(workspace) is None


@pytest.mark.covers("UI-OWN-2")
def test_a_link_in_place_of_the_lock_is_named_with_the_way_out(workspace: Workspace, tmp_path: Path) -> None:
    (workspace.own / "running.lock").symlink_to(tmp_path / "victim")

    with pytest.raises(ConfigError, match=r"running\.lock is a link.*\nRemove it"), exclusive(workspace):
        pass
    assert not (tmp_path / "victim").exists()


@pytest.mark.covers("UI-OWN-2")
@pytest.mark.parametrize("name", ["runtime.db", "agent.db", "targets"])
def test_a_link_in_place_of_a_store_is_named_and_not_followed(workspace: Workspace, tmp_path: Path, name: str) -> None:
    (workspace.own / name).symlink_to(tmp_path / "victim")

    with pytest.raises(ConfigError, match=rf"{name} is a link.*\nRemove"):
        settle(workspace)
    assert not (tmp_path / "victim").exists()


@pytest.mark.covers("UI-OWN-2")
def test_a_link_beside_a_store_that_cannot_be_moved_is_not_followed(tmp_path: Path) -> None:
    workspace = Workspace.at(tmp_path / "ui")
    workspace.storage.mkdir(parents=True)
    (workspace.storage / "agent.db").write_text("no database")
    (workspace.storage / "runtime.db").symlink_to(tmp_path / "victim")

    with pytest.raises(ConfigError, match=r"runtime\.db is a link.*\nRemove"):
        settle(workspace)


@pytest.mark.covers("UI-OWN-2")
def test_a_link_in_place_of_a_port_file_is_replaced_and_its_target_left(workspace: Workspace, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("39482")
    workspace.ui_port.symlink_to(victim)

    with port_file(workspace.ui_port, 39482):
        assert not workspace.ui_port.is_symlink()
        workspace.ui_port.unlink()
        workspace.ui_port.symlink_to(victim)

    assert (victim.read_text(), workspace.ui_port.is_symlink()) == ("39482", True)
