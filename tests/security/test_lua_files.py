"""App code and the files around it: its own area is open, and no way leads to what guards it."""

import errno
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lua_runtime.cores import Bench
from servers import running_server
from ui_mcp.app.ui_server import open_host
from ui_mcp.lua_runtime.files import Files
from ui_mcp.lua_runtime.permissions import Permissions
from ui_mcp.lua_runtime.sandbox import Modules
from ui_mcp.person import state_folder
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.trust import Agreements
from ui_mcp.ui.instance import ListenPorts
from ui_mcp.ui.sessions.session import Session
from ui_mcp.ui.viewdef_store import ViewdefFiles
from ui_mcp.workspace import Workspace

OWN = (
    ".claude/ui/config/config.toml",
    ".claude/ui/mcp-token",
    ".claude/ui/.ui-mcp/runtime.db",
    ".claude/ui/storage/runtime.db",
    ".claude/ui/storage/runtime.db-wal",
    ".claude/ui/storage/agent.db",
    ".claude/ui/storage/install-manifest.json",
    ".claude/ui/storage/targets/javafx.json",
    "nlui.yaml",
    "data/approvals.db",
    "state/person/credentials/x",
)
OF_HOSTS = (
    ".mcp.json",
    ".claude/settings.json",
    ".claude/skills/ui/SKILL.md",
    ".claude/ui/event",
    ".claude/ui/state",
    ".claude/ui/html/index.html",
    "CLAUDE.md",
    "sub/AGENTS.md",
    ".vscode/mcp.json",
    ".cursor/mcp.json",
    ".gemini/settings.json",
    ".codex/config.toml",
    ".envrc",
    "Makefile",
    "package.json",
    ".git/config",
)
SECRET = "a secret or a right"


def made(folder: Path, *names: str) -> None:
    for name in names:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(SECRET)


def project_vm(folder: Path, **permissions: object) -> Bench:
    """Start a Lua VM in a project with everything that apps must not touch."""
    made(folder, *OWN, *OF_HOSTS)
    (folder / "free").mkdir()
    base = folder / ".claude/ui"
    protected = [str(folder / "state"), str(folder / "data")]
    return Bench(base, project=str(folder), permissions=permissions, protected=protected, log=str(base / "log"))


def refused(bench: Bench, code: str) -> bool:
    return bool(bench.run(f"local ok, why = {code} return ok == nil and why:find('^permission denied: ') ~= nil"))


@pytest.mark.covers("UI-PERM-1")
def test_apps_save_in_storage_and_nowhere_else(tmp_path: Path) -> None:
    bench = project_vm(tmp_path)

    bench.run("local f = io.open('.claude/ui/storage/notes.json', 'w') f:write('mine') f:close()")
    assert bench.run("return io.open('.claude/ui/storage/notes.json'):read('*a')") == "mine"
    assert bench.run("return os.rename('.claude/ui/storage/notes.json', '.claude/ui/storage/n2')") is True
    assert bench.run("return os.remove('.claude/ui/storage/n2')") is True
    for path in ("free/x.txt", ".claude/ui/apps/a/app.lua", ".claude/ui/lua/main.lua", ".claude/ui/html/x.html"):
        assert refused(bench, f"io.open('{path}', 'w')"), path


@pytest.mark.parametrize("path", OWN)
@pytest.mark.covers("UI-PERM-1", "UI-PERM-6")
def test_our_own_files_are_neither_read_nor_written_whatever_is_permitted(tmp_path: Path, path: str) -> None:
    bench = project_vm(tmp_path, read=["/"], write=["/", str(tmp_path / path)])

    attempts = [f"io.open('{path}', '{mode}')" for mode in ("r", "rb", "w", "a", "r+", "w+", "a+")]
    attempts += [f"loadfile('{path}')", f"os.remove('{path}')", f"os.rename('{path}', 'free/x')"]
    attempts += [f"os.rename('free', '{path}')", f"io.open('free/../{path}')"]
    assert [code for code in attempts if not refused(bench, code)] == []
    assert bench.run(f"return pcall(io.lines, '{path}')") is False
    assert (tmp_path / path).read_text() == SECRET


@pytest.mark.parametrize("path", OF_HOSTS)
@pytest.mark.covers("UI-PERM-1", "UI-PERM-6")
def test_files_that_hosts_run_by_themselves_are_written_only_where_named_exactly(tmp_path: Path, path: str) -> None:
    wide = project_vm(tmp_path, write=["{project}"])

    assert refused(wide, f"io.open('{path}', 'w')")
    assert refused(wide, f"os.remove('{path}')")
    assert wide.run("return io.open('free/x', 'w') ~= nil") is True
    exact = Bench(tmp_path / ".claude/ui", project=str(tmp_path), permissions={"write": [f"{{project}}/{path}"]})
    assert exact.run(f"return io.open('{path}', 'w') ~= nil") is True


@pytest.mark.parametrize(
    "folder", [".claude", ".claude/ui", ".claude/ui/config", ".claude/ui/storage", "data", "state"]
)
@pytest.mark.covers("UI-PERM-6")
def test_a_directory_that_holds_protected_files_stays_where_it_is(tmp_path: Path, folder: str) -> None:
    bench = project_vm(tmp_path, write=["{project}"])

    assert refused(bench, f"os.rename('{folder}', 'free/moved')")
    assert refused(bench, f"os.remove('{folder}')")
    assert (tmp_path / folder).is_dir()


async def opened(session: Session, *paths: Path) -> list[str]:
    """Let an app open files for reading and writing; name those that were not refused."""
    return [
        f"{path} {mode}"
        for path in paths
        for mode in ("r", "a")
        if "permission denied" not in await session.run_lua(f"return (select(2, io.open('{path}', '{mode}')))")
    ]


@pytest.mark.covers("UI-PERM-6")
async def test_a_server_keeps_the_files_of_its_gateway_its_chat_and_the_account_from_its_apps(tmp_path: Path) -> None:
    gateway, rights, chat = tmp_path / "gate.yaml", tmp_path / "rights", tmp_path / "talk.sqlite"
    gateway.write_text(f"data_dir: {rights}\n")
    async with running_server(
        tmp_path / "p",
        gateway__config=str(gateway),
        storage__url=f"sqlite:///{chat}",
        lua__permissions__read=["/"],
        lua__permissions__write=["/"],
    ) as running:
        session = running.sessions.get("1")
        of_the_account = Agreements().file, state_folder() / "credentials"

        assert await opened(session, gateway, rights / "audit.jsonl", chat, *of_the_account) == []
        assert len(await opened(session, tmp_path / "open.txt")) == 2


@pytest.mark.covers("UI-PERM-6", "UI-DIR-7")
async def test_the_settings_of_a_directory_that_was_left_are_kept_from_the_next_ones_apps(tmp_path: Path) -> None:
    wide = {"lua.host": "thread", "lua.max_seconds": 60, "lua.permissions.write": ["/"]}
    async with open_host(wide, ListenPorts(), Announcements()) as host:
        await host.begin(str(tmp_path / "p/.claude/ui"))
        await host.switch(str(tmp_path / "p/sub"))
        await host.switch(str(tmp_path / "p/.claude/ui"))
        session = (await host.start()).sessions.get("1")

        assert await opened(session, tmp_path / "p/sub/config/config.toml", tmp_path / "p/sub/log/mcp.log") == []


@pytest.mark.covers("UI-PERM-6")
def test_a_directory_brings_no_file_of_a_host_along(tmp_path: Path) -> None:
    bench = project_vm(tmp_path, write=["{base_dir}/storage", "{project}/free"])
    made(tmp_path, ".claude/ui/storage/kit/Makefile", "free/repo/.git/config")

    assert refused(bench, "os.rename('.claude/ui/storage/kit', 'free/kit')")
    assert refused(bench, "os.rename('free/repo', '.claude/ui/storage/repo')")


@pytest.mark.covers("UI-PERM-6")
def test_renaming_makes_nothing_readable(tmp_path: Path) -> None:
    made(tmp_path, "out/x", ".claude/ui/storage/closed")
    bench = project_vm(tmp_path, read=["{base_dir}/storage"], write=["{base_dir}/storage", "{project}/out"],
                  deny_read=["{base_dir}/storage/closed"])  # fmt: skip

    assert refused(bench, "os.rename('out/x', '.claude/ui/storage/x')")
    assert refused(bench, "os.rename('.claude/ui/storage/closed', '.claude/ui/storage/open')")


@pytest.mark.covers("UI-PERM-6")
def test_a_link_widens_nothing(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    made(outside, "id_rsa")
    project = tmp_path / "project"
    base = project / ".claude/ui"
    base.mkdir(parents=True)
    (base / "storage").symlink_to(outside)
    (project / "named").symlink_to(outside)
    bench = Bench(base, project=str(project), permissions={"write": ["{base_dir}/storage", "{project}/named"]})

    assert refused(bench, "io.open('.claude/ui/storage/id_rsa', 'w')")
    assert refused(bench, "io.open('named/id_rsa', 'w')")
    assert bench.run("return pcall(os.tmpname)") is False
    assert sorted(path.name for path in outside.iterdir()) == ["id_rsa"]


@pytest.mark.covers("UI-PERM-1")
@pytest.mark.parametrize("widened", [False, True])
def test_code_and_texts_behind_a_link_are_read_as_far_as_apps_may_read(tmp_path: Path, widened: bool) -> None:
    outside, base = tmp_path / "outside", tmp_path / "project/.claude/ui"
    made(outside, "mod.lua", "app/README.md")
    (outside / "mod.lua").write_text("return 'read'")
    (outside / "app/README.md").write_text("# Of elsewhere\n")
    (outside / "X.DEFAULT.html").write_text("<template><b>elsewhere</b></template>")
    for folder in ("lua", "apps/a", "viewdefs"):
        (base / folder).mkdir(parents=True)
    (base / "apps/a/app.lua").write_text("")
    (base / "lua/mod.lua").symlink_to(outside / "mod.lua")
    (base / "apps/a/README.md").symlink_to(outside / "app/README.md")
    (base / "viewdefs/X.DEFAULT.html").symlink_to(outside / "X.DEFAULT.html")
    policy: dict[str, object] = {"read": ["{project}", str(outside)]} if widened else {}
    bench = Bench(base, project=str(tmp_path / "project"), permissions=policy)
    launch = {"base_dir": str(base), "project": str(tmp_path / "project"), "permissions": policy, "bundle_lua": ""}
    viewdefs = ViewdefFiles(Workspace.at(base), Permissions(launch))
    viewdefs.load()

    assert bench.run("return (pcall(require, 'mod'))") is widened
    assert ("Of elsewhere" in str(Modules(launch, Permissions(launch)).app_list())) is widened
    assert ("elsewhere" in viewdefs.bundle()) is widened


@pytest.mark.covers("UI-PERM-6")
def test_removing_a_link_leaves_what_it_leads_to_and_renaming_one_is_refused(tmp_path: Path) -> None:
    bench = project_vm(tmp_path)
    storage = tmp_path / ".claude/ui/storage"
    (storage / "link").symlink_to(tmp_path / "Makefile")

    assert bench.run("return os.rename('.claude/ui/storage/link', '.claude/ui/storage/other') == nil") is True
    assert bench.run("return os.remove('.claude/ui/storage/link')") is True
    assert not (storage / "link").is_symlink()
    assert (tmp_path / "Makefile").read_text() == SECRET


@pytest.mark.skipif(not hasattr(os, "O_PATH"), reason="only Linux opens directories step by step")
@pytest.mark.covers("UI-PERM-6")
def test_a_directory_swapped_for_a_link_after_the_check_is_not_followed(tmp_path: Path) -> None:
    made(tmp_path, "outside/x", "base/storage/d/x")

    class Swapping(Permissions):
        """Another process wins the race: the directory is a link as soon as it has been resolved."""

        def real(self, path: str) -> str:
            found = super().real(path)
            (tmp_path / "base/storage/d").rename(tmp_path / "base/storage/gone")
            (tmp_path / "base/storage/d").symlink_to(tmp_path / "outside")
            return found

    launch = {"base_dir": str(tmp_path / "base"), "project": str(tmp_path / "base"), "permissions": {}}
    answer = Files(Swapping(launch), lambda _: None).open("storage/d/x", "w")

    assert isinstance(answer, tuple)
    assert answer[2] in {errno.ELOOP, errno.ENOTDIR}
    assert (tmp_path / "outside/x").read_text() == SECRET


@pytest.mark.covers("UI-PERM-1")
def test_a_star_stays_within_a_name(tmp_path: Path) -> None:
    made(tmp_path, "a/b/deep.txt", "a/flat.txt")
    bench = Bench(tmp_path, permissions={"read": ["{project}/a/*.txt"]})

    assert bench.run("return io.open('a/flat.txt') ~= nil") is True
    assert refused(bench, "io.open('a/b/deep.txt')")


@pytest.mark.covers("UI-PERM-1")
def test_a_pipe_in_the_area_does_not_hold_the_app(tmp_path: Path) -> None:
    bench = project_vm(tmp_path)
    os.mkfifo(tmp_path / ".claude/ui/storage/pipe")

    assert bench.run("return io.open('.claude/ui/storage/pipe') == nil") is True
    assert bench.run("return io.open('.claude/ui/storage/pipe', 'a') == nil") is True


@pytest.mark.covers("UI-PERM-2")
def test_a_refusal_names_the_path_and_the_line_that_would_allow_it_once_for_page_and_agent(tmp_path: Path) -> None:
    bench = project_vm(tmp_path)

    for _ in range(3):
        message = bench.run("return (select(2, io.open('free/notes.txt', 'w')))")

    line = 'write = ["{base_dir}/storage", "{project}/free"]'
    assert message.splitlines()[0] == "permission denied: free/notes.txt (lua.permissions.write)"
    assert str(tmp_path / ".claude/ui/config/config.toml") in message
    assert message.splitlines()[-1] == line
    notes = [json.loads(text) for kind, text, _ in bench.out if kind == "refused"]
    assert notes == [{"setting": "write", "path": "free/notes.txt", "message": message, "line": line}]
    assert (tmp_path / ".claude/ui/log/lua-err.log").read_text().count("free/notes.txt (lua") == 1
    allowed = Bench(tmp_path / ".claude/ui", project=str(tmp_path), permissions=_read_line(line))
    assert allowed.run("return io.open('free/notes.txt', 'w') ~= nil") is True


def _read_line(line: str) -> dict[str, object]:
    key, _, value = line.partition(" = ")
    return {key: json.loads(value)}


FILES = (*OWN, *OF_HOSTS[:4], "free/x", ".claude/ui/storage/x", ".claude/ui/storage/d/y", "free/link", "free/d")
FOLDERS = (".claude", ".claude/ui", ".claude/ui/storage", ".claude/ui/config", "data", "free", ".", "free/d/..")
paths = st.sampled_from(FILES + FOLDERS)
steps = st.one_of(
    st.tuples(st.just("write"), paths, st.sampled_from(["w", "a", "r+", "w+"])),
    st.tuples(st.just("read"), paths, st.just("")),
    st.tuples(st.just("rename"), paths, paths),
    st.tuples(st.just("remove"), paths, st.just("")),
)
CODE = {
    "write": "local f = io.open('%s', '%s') if f then f:write('changed') f:close() end",
    "read": "local f = io.open('%s') local ok, text = pcall(function() return f:read('*a') end) return ok and text %s",
    "rename": "os.rename('%s', '%s')",
    "remove": "os.remove('%s') %s",
}


@pytest.mark.covers("UI-PERM-6")
@pytest.mark.parametrize("area", [["{base_dir}/storage"], ["{project}"], ["/"]])
@given(sequence=st.lists(steps, min_size=1, max_size=12))
def test_no_sequence_of_operations_reads_or_changes_a_protected_file(
    tmp_path_factory: pytest.TempPathFactory, area: list[str], sequence: list[tuple[str, str, str]]
) -> None:
    folder = tmp_path_factory.mktemp("project")
    bench = project_vm(folder, read=["/"], write=area)
    made(folder, "free/x")
    (folder / "free/x").write_text("open")
    (folder / "free/d").mkdir()
    (folder / "free/link").symlink_to(folder / ".claude/ui/config")

    read = [bench.run(CODE[action] % (path, other)) for action, path, other in sequence]

    assert SECRET not in [text for (action, path, _), text in zip(sequence, read, strict=True)
                          if action == "read" and path not in OF_HOSTS]  # fmt: skip
    assert {name: (folder / name).read_text() for name in (*OWN, *OF_HOSTS)} == dict.fromkeys((*OWN, *OF_HOSTS), SECRET)
