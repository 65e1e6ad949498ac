"""File commands of apps, emulated without a process inside what Lua may read and write."""

import json
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lua_runtime.cores import Bench
from ui_mcp.lua_runtime.files import Files
from ui_mcp.lua_runtime.permissions import Permissions
from ui_mcp.lua_runtime.shell import Emulator

TREE = ("apps/one/app.lua", "apps/two/app.lua", "apps/two/icon.html", "apps/note.md", "html/themes/a.css", "html/b.css")
EMULATED = [
    'ls -1d "apps"/*/ 2>/dev/null',
    'ls -1 "apps"',
    "ls apps/*.md",
    "ls apps/two apps/one",
    "ls -a apps/one",
    "ls -1p apps",
    "ls missing 2>/dev/null | wc -l",
    'ls -1 "apps/two" 2>/dev/null | head -1',
    'test -d "apps/one" && echo "exists"',
    '[ -f apps/one/app.lua ] && echo file || echo none; echo "EXIT:$?"',
    "test -d missing; echo $?",
    "find apps -name '*.lua' -type f | sort",
    "find . -maxdepth 1 -type d | sort",
    'echo "a b"  c; echo -n x',
    "cat apps/one/app.lua | head -n 1",
    "ls apps | sort -r | tail -n 1",
    'cd "apps" && ls -1 two',
    "readlink apps || echo no link",
    "ls 'no such'*",
    "false || true && echo ok",
]


def project(folder: Path) -> Path:
    for name in TREE:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"-- {name}\n")
    return folder


def emulator(folder: Path) -> Emulator:
    permissions = Permissions({"base_dir": folder, "project": folder, "permissions": {}})
    return Emulator(Files(permissions, lambda _: None), lambda _name, _target: None)


@pytest.mark.covers("UI-COMPAT-7")
@pytest.mark.parametrize("command", EMULATED)
def test_the_answer_is_that_of_a_shell(tmp_path: Path, command: str) -> None:
    project(tmp_path)
    real = subprocess.run(
        ["/bin/sh", "-c", command], cwd=tmp_path, capture_output=True, check=False, env={"LC_ALL": "C"}
    )

    assert emulator(tmp_path).run(command) == (real.stdout, real.returncode)


@pytest.mark.covers("UI-COMPAT-7")
def test_apps_arrange_files_in_storage(bench: Bench) -> None:
    lines = [
        'mkdir -p "storage/jobs/a b/c"',
        'echo aGVsbG8= > storage/jobs/x.b64; base64 -d < "storage/jobs/x.b64" > "storage/jobs/a b/hello.txt"',
        'mv "storage/jobs/a b/hello.txt" "storage/jobs/a b/c"',
        'rm -f "storage/jobs/x.b64" storage/jobs/never.txt',
    ]
    for line in lines:
        assert bench.run(f"return os.execute({json.dumps(line)})") == 0, line

    assert (bench.folder / "storage/jobs/a b/c/hello.txt").read_text() == "hello"
    assert bench.run("return io.popen('ls storage/jobs'):read('*a')") == "a b\n"
    assert bench.run("return os.execute('rm -rf storage/jobs')") == 0
    assert not (bench.folder / "storage/jobs").exists()
    assert bench.out == []


@pytest.mark.covers("UI-COMPAT-7")
@pytest.mark.parametrize(
    ("command", "setting"),
    [
        ("git status --porcelain | wc -l", "exec"),
        ("ls $(pwd)", "exec"),
        ("ls -l", "exec"),
        ("find . -delete", "exec"),
        ("find . -exec rm {} +", "exec"),
        ("rm -rf apps", "write"),
        ("mv storage/a apps/a", "write"),
        ("echo x > apps/x", "write"),
        ("mkdir -p apps/new", "write"),
        ("ls /etc", "read"),
        ("cat ~/.bashrc", "read"),
    ],
)
def test_what_is_not_permitted_is_refused_once_with_the_setting(bench: Bench, command: str, setting: str) -> None:
    project(bench.folder)
    (bench.folder / "storage").mkdir()
    (bench.folder / "storage" / "a").write_text("a")
    before = sorted(bench.folder.rglob("*"))

    bench.run(f"for _ = 1, 2 do os.execute({json.dumps(command)}) end")

    assert [json.loads(text)["setting"] for kind, text, _ in bench.out if kind == "refused"] == [setting]
    assert [path for path in sorted(bench.folder.rglob("*")) if "log" not in path.parts] == before


@pytest.mark.covers("UI-COMPAT-7")
def test_a_pattern_below_an_absolute_path_asks_only_for_what_it_lists(bench: Bench) -> None:
    project(bench.folder)

    assert bench.run(f"return io.popen('ls -1d \"{bench.folder}/apps\"/*/'):read('*l')") == f"{bench.folder}/apps/one/"
    assert bench.out == []


@pytest.mark.covers("UI-COMPAT-7")
def test_nothing_of_a_line_is_done_if_a_part_needs_a_process(bench: Bench) -> None:
    bench.run("os.execute('mkdir -p storage/x && curl example.com')")

    assert not (bench.folder / "storage" / "x").exists()


@pytest.mark.covers("UI-COMPAT-7")
def test_ui_mcps_own_files_stay_closed(bench: Bench) -> None:
    (bench.folder / ".ui-mcp").mkdir()
    (bench.folder / ".ui-mcp" / "token").write_text("secret")

    assert bench.run("return io.popen('cat .ui-mcp/token; ls .ui-mcp'):read('*a')") == ""
    bench.run("os.execute('ln -sfn ../.ui-mcp html/x') os.execute('ln -sfn /etc html/y')")
    assert [kind for kind, _, _ in bench.out if kind == "alias"] == []


@pytest.mark.covers("UI-COMPAT-8")
def test_a_link_into_html_becomes_an_alias_that_readlink_shows(bench: Bench) -> None:
    (bench.folder / "storage" / "jobs").mkdir(parents=True)
    bench.run('os.execute(\'ln -sfn "../storage/jobs" "html/jobs"\')')

    assert [json.loads(text) for kind, text, _ in bench.out] == [
        {"name": "jobs", "target": str(bench.folder / "storage" / "jobs")}
    ]
    assert bench.run("return io.popen('readlink \"html/jobs\"'):read('*l')") == "../storage/jobs"
    assert not (bench.folder / "html").exists()


@pytest.mark.covers("UI-COMPAT-9")
def test_the_base_directory_that_an_app_names_means_the_one_there_is(tmp_path: Path) -> None:
    base = tmp_path / ".claude" / "ui"
    bench = Bench(tmp_path, base_dir=str(base))

    bench.run("local f = io.open('.ui/storage/x/d.json', 'w') f:write('{}') f:close()")

    assert (base / "storage" / "x" / "d.json").read_text() == "{}"
    assert not (tmp_path / ".ui").exists()


@given(st.text(alphabet="ls -\"'\\ $*?[]|&;<>/.~a\0\n(){}", max_size=30))
def test_no_text_breaks_the_emulator(text: str) -> None:
    found = emulator(Path("/nonexistent")).run(text)

    assert found is None or isinstance(found[1], int)
