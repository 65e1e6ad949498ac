"""The move of our own files from `storage/` to `.ui-mcp/`: no chat is lost, whatever happens on the way."""

import fcntl
import os
import stat
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from soak.disk import failing_disk
from ui.base_dir.old_project import (
    IDLE,
    UNUSED,
    chat,
    killed_at,
    old_project,
    older_process,
    post,
    said,
    settled,
)
from ui_mcp.cli.doctor.project import own_files as doctor_own_files
from ui_mcp.errors import AlreadyRunningError, ConfigError
from ui_mcp.ui.base_dir import migration
from ui_mcp.ui.base_dir.file_layout import Action, Facts, decide
from ui_mcp.ui.base_dir.migration import NotMovedError, kept_names, moving
from ui_mcp.ui.instance import exclusive
from ui_mcp.ui.own_files import left_behind, settle
from ui_mcp.version import bundled_version
from ui_mcp.workspace import Workspace

pytestmark = [pytest.mark.slow, pytest.mark.covers("UI-OWN-1")]
STEPS = 40
"""More than there are."""
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
"""Where a flush costs nothing: hundreds of moves are killed here."""


def told(workspace: Workspace) -> str:
    return "\n".join(f"{found.text} {found.fix}" for found in doctor_own_files(workspace))


def files_in(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def reason(workspace: Workspace) -> str:
    return (workspace.base / ".ui-mcp.lock").read_text()


def stopped_at(workspace: Workspace, step: int) -> None:
    """Move until a step is done; closing the generator lets go of all locks, as a kill does."""
    with closing(moving(workspace)) as steps:  # type: ignore[type-var]
        for number, _ in enumerate(steps):
            if number == step:
                return


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Do not look through all processes of the machine; there are none that use the directory."""
    monkeypatch.setattr("ui_mcp.ui.base_dir.migration.PROCESSES", tmp_path_factory.mktemp("proc"))


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migration, "WRITE_LOCK_SECONDS", 0.2)


def test_our_own_files_move_and_the_apps_files_stay(tmp_path: Path) -> None:
    workspace = old_project(tmp_path, "hello")

    assert settle(workspace) == workspace.own
    assert chat(workspace) == ["hello"]
    assert files_in(workspace.own) == {
        ".gitignore", "runtime.db", "agent.db", "install-manifest.json", "targets/url.json",
    }  # fmt: skip
    version = bundled_version()
    assert files_in(workspace.storage) == {
        f"runtime.db.before-{version}", f"agent.db.before-{version}", f"install-manifest.json.before-{version}",
        f"targets/url.json.before-{version}", "targets/scores.json", "notes.db", "running.lock",
    }  # fmt: skip
    assert said(workspace.storage / f"runtime.db.before-{version}") == ["hello"]
    assert stat.S_IMODE(workspace.own.stat().st_mode) == 0o700
    assert stat.S_IMODE((workspace.own / "runtime.db").stat().st_mode) == 0o600
    assert [path.name for path in workspace.base.iterdir() if path.name.startswith(".ui-mcp")] == [".ui-mcp"]
    assert f"runtime.db.before-{version}" in told(workspace)


def test_a_new_directory_gets_its_own_folder_and_a_second_look_changes_nothing(tmp_path: Path) -> None:
    workspace = Workspace.at(tmp_path / "ui")

    settle(workspace)
    settle(workspace)

    assert [path.name for path in workspace.base.rglob("*")] == [".ui-mcp", ".gitignore"]
    assert "storage" not in {path.name for path in workspace.base.iterdir()}


def test_a_kill_at_any_step_loses_nothing(tmp_path: Path) -> None:
    for step in range(STEPS):
        workspace = old_project(tmp_path / str(step), "first", "second")
        if not killed_at(workspace, step):
            break
        assert settle(workspace) == workspace.own
        assert chat(workspace) == ["first", "second"]
        assert not (workspace.base / ".ui-mcp.new").exists()
    assert 10 < step < STEPS - 1


@pytest.mark.usefixtures("alone")
def test_a_second_kill_while_the_first_is_made_good_loses_nothing() -> None:
    for first in range(15):
        for second in range(18):
            with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
                workspace = old_project(Path(folder), "hello")
                stopped_at(workspace, first)
                stopped_at(workspace, second)
                assert settle(workspace) == workspace.own, (first, second)
                assert chat(workspace) == ["hello"], (first, second)


@pytest.mark.usefixtures("alone")
@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.one_of(st.integers(0, 16), st.sampled_from(["old", "new"])), max_size=8))
def test_every_message_is_found_whatever_happens_in_which_order(happens: list[int | str]) -> None:
    """A number is a move that is killed after so many steps; the versions post in between."""
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        workspace = old_project(Path(folder), "0")
        mine, everything = ["0"], {"0"}
        for number, what in enumerate(happens, 1):
            message = str(number)
            if isinstance(what, int):
                stopped_at(workspace, what)
                continue
            if what == "new":
                settle(workspace)
                mine.append(message)
            post(workspace.storage if what == "old" else workspace.state_dir, message)
            everything.add(message)
        settle(workspace)

        found = chat(workspace)
        assert [message for message in found if message in mine] == mine
        stores = [*workspace.storage.glob("runtime.db*"), workspace.own / "runtime.db"]
        assert everything == {message for store in stores for message in said(store)}
        elsewhere = everything - set(found)
        assert not elsewhere or "runtime.db" in told(workspace)


def test_messages_in_a_write_ahead_log_that_a_kill_left_move_too(tmp_path: Path) -> None:
    workspace = old_project(tmp_path, "first")
    row = "(1, 2, 0, 'user', 'human', 'text/plain', 'second', NULL)"
    with older_process(workspace.storage / "runtime.db", f'store.execute("INSERT INTO messages VALUES {row}")'):
        pass
    assert (workspace.storage / "runtime.db-wal").stat().st_size > 0

    settle(workspace)

    assert chat(workspace) == ["first", "second"]
    assert not [*workspace.storage.glob("*-wal"), *workspace.storage.glob("*-shm")]


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("doing", [IDLE, "store.execute('BEGIN IMMEDIATE')", UNUSED])
def test_nothing_moves_while_an_older_process_has_the_store_open(tmp_path: Path, doing: str) -> None:
    workspace = old_project(tmp_path, "before")
    with older_process(workspace.storage / "runtime.db", doing) as older:
        with pytest.raises(NotMovedError, match=f"process {older.pid} has runtime.db open"):
            list(moving(workspace))
        assert workspace.state_dir == workspace.storage
    assert not (workspace.base / ".ui-mcp.new").exists()
    assert settle(workspace) == workspace.own


@pytest.mark.usefixtures("impatient")
def test_without_a_list_of_processes_an_idle_user_is_found_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ui_mcp.ui.base_dir.migration.PROCESSES", tmp_path / "none")
    workspace = old_project(tmp_path, "before")
    open_elsewhere = pytest.raises(NotMovedError, match=r"another process has runtime\.db open")
    with older_process(workspace.storage / "runtime.db"), open_elsewhere:
        list(moving(workspace))
    assert chat(workspace) == ["before"]


def test_versions_share_the_old_place_until_the_older_one_has_ended(tmp_path: Path) -> None:
    workspace = old_project(tmp_path, "before")
    with older_process(workspace.storage / "runtime.db") as older:
        assert settled(workspace) == "storage"
        assert str(older.pid) in told(workspace)
        assert "could not be moved" in told(workspace)
        post(workspace.storage, "by the older one")
        post(workspace.state_dir, "by this one")

    assert settled(workspace) == ".ui-mcp"
    assert chat(workspace) == ["before", "by the older one", "by this one"]


def test_a_process_that_uses_the_old_place_keeps_others_from_moving_it(tmp_path: Path) -> None:
    workspace = old_project(tmp_path, "before")
    with older_process(workspace.storage / "runtime.db"):
        settle(workspace)  # holds the old place until this process ends

    assert settled(workspace) == "storage"
    assert workspace.state_dir == workspace.storage


def test_an_older_server_that_has_no_store_open_is_noticed(tmp_path: Path) -> None:
    workspace = old_project(tmp_path, "before")
    workspace.log.mkdir()
    code = "import sys; log = open(sys.argv[1], 'a'); print(1, flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", code, str(workspace.log / "mcp.log")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as older:
        assert older.stdout is not None
        older.stdout.readline()
        assert settled(workspace) == "storage"
        assert f"process {older.pid} is an older ui-mcp" in reason(workspace)
        older.kill()


def test_an_older_server_keeps_its_directory(tmp_path: Path) -> None:
    workspace = old_project(tmp_path, "before")
    with (workspace.storage / "running.lock").open("w") as held:
        held.write('{"pid": 77, "url": "http://127.0.0.1:7"}')
        held.flush()
        fcntl.flock(held, fcntl.LOCK_EX)

        assert settled(workspace) == "storage"
        assert "pid 77" in reason(workspace)
        with pytest.raises(AlreadyRunningError, match="pid 77"), exclusive(workspace):
            pass


def test_a_server_and_an_older_one_exclude_each_other_after_the_move(tmp_path: Path) -> None:
    workspace = old_project(tmp_path, "before")
    settle(workspace)
    with (workspace.storage / "running.lock").open("r+b") as older:
        with exclusive(workspace), pytest.raises(BlockingIOError):
            fcntl.flock(older, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(older, fcntl.LOCK_EX)
        with pytest.raises(AlreadyRunningError), exclusive(workspace):
            pass


def test_what_an_older_version_writes_after_the_move_is_kept_and_told(tmp_path: Path) -> None:
    workspace = old_project(tmp_path, "before")
    settle(workspace)

    post(workspace.storage, "by the older one")
    post(workspace.state_dir, "by this one")
    settle(workspace)

    assert chat(workspace) == ["before", "by this one"]
    assert said(workspace.storage / "runtime.db") == ["by the older one"]
    assert left_behind(workspace) == ["runtime.db"]
    assert f"ui-mcp chat history --store {workspace.storage / 'runtime.db'}" in told(workspace)


def test_processes_that_start_together_move_once(tmp_path: Path) -> None:
    workspace = old_project(tmp_path, "hello")

    with ThreadPoolExecutor(4) as pool:
        places = list(pool.map(lambda _: settled(workspace), range(4)))

    assert places == [".ui-mcp"] * 4
    assert chat(workspace) == ["hello"]
    assert len(list(workspace.storage.glob("runtime.db*"))) == 1


def test_on_a_read_only_disk_nothing_moves_until_it_can_be_written(tmp_path: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root may mount")
    with failing_disk(tmp_path) as disk:
        workspace = old_project(disk.folder, "hello")
        disk.fail("ro")
        assert settled(workspace) == "storage"
        disk.repair()
        assert chat(workspace) == ["hello"]
        assert settled(workspace) == ".ui-mcp"
        assert chat(workspace) == ["hello"]


def test_on_a_full_disk_nothing_moves_and_nothing_is_left_over(tmp_path: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root may mount")
    with failing_disk(tmp_path) as disk:
        workspace = old_project(disk.folder, "hello")
        disk.fail("full")
        assert settled(workspace) == "storage"
        disk.repair()
        assert settled(workspace) == ".ui-mcp"
        assert chat(workspace) == ["hello"]


def test_a_link_as_storage_is_not_followed_out_of_the_directory(tmp_path: Path) -> None:
    other = old_project(tmp_path / "other", "of another project")
    before = sorted((path, path.stat().st_mtime_ns) for path in other.storage.rglob("*"))
    workspace = Workspace.at(tmp_path / "cloned/ui")
    workspace.base.mkdir(parents=True)
    workspace.storage.symlink_to(other.storage)

    assert settle(workspace) == workspace.own
    with exclusive(workspace):
        pass

    assert chat(workspace) == []
    assert sorted((path, path.stat().st_mtime_ns) for path in other.storage.rglob("*")) == before
    assert f"ui-mcp chat restore {other.storage / 'runtime.db'}" in told(workspace)


def test_a_link_as_storage_inside_the_directory_is_the_storage(tmp_path: Path) -> None:
    workspace = old_project(tmp_path, "hello")
    workspace.storage.rename(workspace.base / "data")
    workspace.storage.symlink_to("data")

    assert settle(workspace) == workspace.own
    assert chat(workspace) == ["hello"]


def test_a_store_that_is_a_link_stays_where_it_is(tmp_path: Path) -> None:
    workspace = old_project(tmp_path, "hello")
    victim = tmp_path / "victim.db"
    (workspace.storage / "runtime.db").rename(victim)
    (workspace.storage / "runtime.db").symlink_to(victim)

    assert settle(workspace) == workspace.own
    assert said(victim) == ["hello"]
    assert chat(workspace) == []
    assert str(victim) in told(workspace)


def test_a_store_that_the_settings_name_is_not_ours_to_move(tmp_path: Path) -> None:
    workspace = old_project(tmp_path, "hello")
    workspace.config.mkdir()
    workspace.config_file.write_text(f'[storage]\nurl = "sqlite:///{workspace.storage}/runtime.db"\n')

    assert settle(workspace) == workspace.own
    assert said(workspace.storage / "runtime.db") == ["hello"]
    assert left_behind(workspace) == []
    assert not (workspace.own / "runtime.db").exists()


def test_a_damaged_store_stays_with_the_reason(tmp_path: Path) -> None:
    workspace = old_project(tmp_path, "hello", *(["long " * 400] * 40))
    with (workspace.storage / "runtime.db").open("r+b") as store:
        store.seek(4096 * 12)
        store.write(b"damage" * 2000)

    assert settled(workspace) == "storage"
    assert "runtime.db is damaged" in reason(workspace) or "malformed" in reason(workspace)


def test_a_link_as_our_own_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "victim").mkdir()
    workspace = Workspace.at(tmp_path / "ui")
    workspace.base.mkdir()
    workspace.own.symlink_to(tmp_path / "victim")

    with pytest.raises(ConfigError, match="is a link"):
        settle(workspace)
    assert list((tmp_path / "victim").iterdir()) == []


def test_a_repository_cannot_have_files_renamed_by_a_planted_note_or_link(tmp_path: Path) -> None:
    workspace = old_project(tmp_path, "hello")
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "x.before-1").write_text("mine")
    workspace.own.mkdir()
    (workspace.own / "moving.json").write_text('{"kept": {"../../../victim/x": "../../../victim/x.before-1"}}')
    (workspace.base / ".ui-mcp.new").symlink_to(victim)

    assert settle(workspace) == workspace.own
    assert [path.name for path in victim.iterdir()] == ["x.before-1"]
    assert chat(workspace) == ["hello"]


def test_the_plan_depends_on_what_is_there_alone() -> None:
    assert {
        (own, bool(left)): decide(Facts(own, left))
        for own in ("absent", "unfinished", "ready")
        for left in ([], ["runtime.db"])
    } == {
        ("absent", False): Action.CREATE,
        ("absent", True): Action.MOVE,
        ("unfinished", False): Action.MOVE,
        ("unfinished", True): Action.MOVE,
        ("ready", False): Action.NOTHING,
        ("ready", True): Action.NOTHING,
    }


def test_originals_of_an_earlier_move_are_not_replaced() -> None:
    taken = {"agent.db.before-2", "agent.db.before-2-2"}
    assert kept_names(["runtime.db", "agent.db"], taken, "2") == {
        "runtime.db": "runtime.db.before-2-3", "agent.db": "agent.db.before-2-3",
    }  # fmt: skip
