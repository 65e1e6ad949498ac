"""Commit messages: what the hook and the check of a pull request refuse."""

import importlib.util
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Git = Callable[..., subprocess.CompletedProcess[str]]
LINK = "https://example.com/" + "long/" * 20


@pytest.fixture
def checkout(tmp_path: Path, root: Path) -> Path:
    """A repository of its own that has our hooks and their script."""
    ours = tmp_path / "ours"
    shutil.copytree(root / ".githooks", ours / ".githooks")
    (ours / "scripts").mkdir()
    shutil.copy(root / "scripts" / "commits.py", ours / "scripts")
    subprocess.run(["git", "init", "--quiet", str(ours)], check=True)
    return ours


@pytest.fixture
def git(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> Git:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "A")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "a@example.com")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    return lambda *words: subprocess.run(
        ["git", *words], cwd=checkout, capture_output=True, text=True, timeout=60, check=False
    )


def script(checkout: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(checkout / "scripts" / "commits.py"), *words]
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=60, check=False)


def complaint(root: Path, message: str) -> list[str]:
    """Return what the hook would say about a message in git's file."""
    spec = importlib.util.spec_from_file_location("commits_script", root / "scripts" / "commits.py")
    assert spec is not None
    assert spec.loader is not None
    commits = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(commits)
    found: list[str] = commits.problems(commits.without_comments(message), draft=True)
    return found


@pytest.mark.parametrize(
    "message",
    [
        "ui/sessions: restart a worker that crashed",
        "web, docs: name the close codes\n\nBoth listed their own.",
        "gateway: " + "x" * 63,
        f"docs: link to the report\n\n{LINK}\nSee {LINK} for more.",
        f"docs: thank them\n\nCo-authored-by: {'A' * 40} <{'a' * 40}@example.com>",
        'Revert "web: ' + "x" * 70 + '"',
        "fixup! web: show the notice",
        "web: show the notice\n\n# " + "a comment of git " * 6,
        "web: show it\n# ------------------------ >8 ------------------------\n" + "+" + "diff " * 30,
    ],
)
def test_a_message_in_the_agreed_form_passes(root: Path, message: str) -> None:
    assert complaint(root, message) == []


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ("restart a worker", "is not `area: summary`"),
        ("Web: show the notice", "is not `area: summary`"),
        ("web:show the notice", "is not `area: summary`"),
        ("gateway: " + "x" * 64, "has 73 characters, 72 fit"),
        ("web: show the notice.", "ends with a full stop"),
        ("web: added the notice", "write `add …`, not `added …`"),
        ("web: moves the notice", "write `move …`, not `moves …`"),
        ("web: dropping the notice", "write `drop …`, not `dropping …`"),
        ("web: show the notice\nat once", "the second line is not empty"),
        ("web: show the notice\n\n" + "word " * 15, "line 3 has 74 characters, wrap it at 72"),
    ],
)
def test_any_other_message_is_refused_with_the_reason(root: Path, message: str, problem: str) -> None:
    [said] = complaint(root, message)

    assert problem in said


def test_enabling_makes_git_refuse_a_bad_message(checkout: Path, git: Git) -> None:
    assert script(checkout, "enable").returncode == 0

    assert git("config", "core.hooksPath").stdout == ".githooks\n"
    assert git("commit", "--allow-empty", "-m", "Bad").returncode == 1
    assert git("commit", "--allow-empty", "-m", "web: show the notice").returncode == 0


def test_enabling_leaves_hooks_alone_that_are_there_already(checkout: Path, git: Git) -> None:
    git("config", "core.hooksPath", "elsewhere")
    assert script(checkout, "enable").returncode == 0
    assert git("config", "core.hooksPath").stdout == "elsewhere\n"

    git("config", "--unset", "core.hooksPath")
    (checkout / ".git" / "hooks" / "pre-push").touch()
    assert "hooks of your own" in script(checkout, "enable").stderr
    assert git("config", "core.hooksPath").stdout == ""


def test_enabling_leaves_a_repository_alone_that_merely_contains_our_files(checkout: Path, git: Git) -> None:
    shutil.rmtree(checkout / ".git")
    subprocess.run(["git", "init", "--quiet", str(checkout.parent)], check=True)

    enabled = script(checkout, "enable")

    assert (enabled.returncode, enabled.stdout, enabled.stderr) == (0, "", "")
    assert git("config", "core.hooksPath").stdout == ""


def test_only_the_commits_of_the_range_are_checked(checkout: Path, git: Git) -> None:
    for message in ("An old one", "web: show the notice", "Added a new one", "fixup! web: show the notice"):
        git("commit", "--allow-empty", "-m", message)

    checked = script(checkout, "range", "HEAD~3..HEAD")

    assert checked.returncode == 1
    assert [line.split("'")[1] for line in checked.stderr.splitlines()] == [
        "fixup! web: show the notice",
        "Added a new one",
    ]
    assert script(checkout, "range", "HEAD~3..HEAD~2").returncode == 0


def test_a_range_that_does_not_exist_is_an_error(checkout: Path) -> None:
    assert script(checkout, "range", "nowhere..HEAD").returncode == 1
