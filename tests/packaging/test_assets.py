"""Building the front end from a bare clone, with a stand-in for npm."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"

FAKE_NPM = """#!/bin/sh
echo "$@" >> ../npm-calls
[ "$1" = run ] || exit 0
mkdir -p ../src/ui_mcp/bundle/base/html ../src/ui_mcp/bundle/web
cp page.html ../src/ui_mcp/bundle/base/html/index.html
"""


class Clone:
    """A bare clone with a front end to build, on a machine with the given tools."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.tools = root / "tools"
        shutil.copytree(SCRIPTS, root / "scripts")
        (root / "web").mkdir()
        (root / "web" / "package.json").write_text("{}")
        (root / "web" / "page.html").write_text("first")
        self.tools.mkdir()

    def give(self, name: str, text: str) -> None:
        tool = self.tools / name
        tool.write_text(text)
        tool.chmod(0o755)

    def build(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        # -S hides the packages of the environment, as pip's isolated build does.
        command = [sys.executable, "-S", str(self.root / "scripts" / "assets.py"), *arguments]
        path = f"{self.tools}:/usr/bin:/bin" if (self.tools / "npm").exists() else str(self.tools)
        env = {"PATH": path, **environment}
        return subprocess.run(command, cwd=self.root, env=env, capture_output=True, text=True, check=False)

    def calls(self) -> list[str]:
        file = self.root / "npm-calls"
        return file.read_text().splitlines() if file.exists() else []

    def page(self) -> str:
        return (self.root / "src/ui_mcp/bundle/base/html/index.html").read_text()


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return Clone(tmp_path)


@pytest.fixture
def with_node(clone: Clone) -> Clone:
    clone.give("npm", FAKE_NPM)
    clone.give("node", "#!/bin/sh\necho v22.1.0\n")
    return clone


pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-in tools are shell scripts")


def test_a_missing_front_end_is_built_once(with_node: Clone) -> None:
    assert with_node.build().returncode == 0
    assert with_node.build().returncode == 0

    assert with_node.page() == "first"
    assert [call.split()[0] for call in with_node.calls()] == ["ci", "run"]


def test_a_changed_source_is_built_again_whatever_its_time_stamp(with_node: Clone) -> None:
    with_node.build()
    page = with_node.root / "web" / "page.html"
    page.write_text("second")
    os.utime(page, (0, 0))

    with_node.build()

    assert with_node.page() == "second"


def test_installed_packages_and_build_output_do_not_count_as_sources(with_node: Clone) -> None:
    with_node.build()
    (with_node.root / "web" / "node_modules").mkdir()
    (with_node.root / "web" / "node_modules" / "x.js").write_text("new")

    with_node.build()

    assert len(with_node.calls()) == 2


def test_an_unpacked_sdist_is_not_built_again(with_node: Clone) -> None:
    with_node.build()
    (with_node.root / "PKG-INFO").write_text("Metadata-Version: 2.4\n")
    shutil.rmtree(with_node.root / ".stamps")

    with_node.build()

    assert len(with_node.calls()) == 2


def test_the_front_end_is_built_while_a_command_runs_whose_failure_counts(with_node: Clone) -> None:
    done = with_node.build("while", "sh", "-c", "until [ -e npm-calls ]; do sleep 0.1; done; exit 3")

    assert (done.returncode, with_node.page()) == (1, "first")
    assert "returned non-zero exit status 3" in done.stderr


def test_without_node_the_build_fails_and_names_it(clone: Clone) -> None:
    answer = clone.build()

    assert answer.returncode == 1
    assert "needs npm with Node 20.19 or newer" in answer.stderr
    assert "Traceback" not in answer.stderr


def test_a_node_that_is_too_old_counts_as_missing(with_node: Clone) -> None:
    with_node.give("node", "#!/bin/sh\necho v18.0.0\n")

    assert "needs npm with Node 20.19 or newer" in with_node.build().stderr


def test_packages_are_installed_again_only_for_another_lock_file(with_node: Clone) -> None:
    lock = with_node.root / "web" / "package-lock.json"
    lock.write_text("{}")
    with_node.give("npm", FAKE_NPM.replace("[ ", "mkdir -p node_modules\n[ ", 1))
    with_node.build("web")
    with_node.build("web")
    assert [call.split()[0] for call in with_node.calls()] == ["ci", "run", "run"]

    lock.write_text("{ }")
    with_node.build("web")

    assert [call.split()[0] for call in with_node.calls()][3:] == ["ci", "run"]


def test_linting_installs_what_it_needs_first(with_node: Clone) -> None:
    assert with_node.build("lint").returncode == 0

    assert [call.split()[:3] for call in with_node.calls()] == [
        ["ci", "--no-audit", "--no-fund"],
        ["run", "--silent", "lint"],
    ]


def test_npm_is_silent_unless_it_fails(with_node: Clone) -> None:
    with_node.give("npm", FAKE_NPM.replace("[ ", "echo noise\n[ ", 1))
    good = with_node.build()
    with_node.give("npm", "#!/bin/sh\necho the reason\nexit 3\n")
    (with_node.root / "web" / "page.html").write_text("second")
    bad = with_node.build()

    assert (good.stdout, sorted(good.stderr.splitlines())) == (
        "",
        ["Packing the vectors of search (pip, 19 MB)…", "[4/4] Building the page (npm, about half a minute)…"],
    )
    assert "noise" not in good.stderr
    assert (bad.returncode, bad.stdout) == (1, "")
    assert "npm ci failed in web/:\nthe reason" in bad.stderr


RECIPE = """
class MissingToolError(Exception): pass
def require_tools(): raise MissingToolError("there is no javac")
"""


@pytest.fixture
def without_java(with_node: Clone) -> Clone:
    (with_node.root / "agents" / "jvm").mkdir(parents=True)
    (with_node.root / "agents" / "jvm" / "build.py").write_text(RECIPE)
    return with_node


def test_a_working_copy_says_nothing_of_the_agent_when_there_is_no_java(without_java: Clone) -> None:
    done = without_java.build()

    assert done.returncode == 0
    assert "Java" not in done.stderr + done.stdout
    assert without_java.page() == "first"


def test_the_tests_of_ci_need_the_agent_and_others_go_on_without(without_java: Clone) -> None:
    assert without_java.build("all", CI="true").returncode == 1
    assert without_java.build("all").returncode == 0
    assert "there is no javac" in without_java.build("agent").stderr
