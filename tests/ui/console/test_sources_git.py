"""Fetching apps from Git repositories."""

import shutil
import subprocess
from pathlib import Path

import pytest

import needs
from ui_mcp.errors import RefusedError
from ui_mcp.ui.console.sources import GitAddress, fetch, parse_address, unpack

pytestmark = pytest.mark.covers("UI-SHELL-3")


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("https://github.com/a/b", GitAddress("https://github.com/a/b")),
        (" https://github.com/a/b.git ", GitAddress("https://github.com/a/b.git")),
        (
            "https://github.com/a/b/tree/main/apps/x",
            GitAddress("https://github.com/a/b", "main", "apps/x"),
        ),
        ("https://github.com/a/b/tree/v1.2/", GitAddress("https://github.com/a/b", "v1.2")),
        (
            "https://gitlab.com/g/s/b/-/tree/main/apps",
            GitAddress("https://gitlab.com/g/s/b", "main", "apps"),
        ),
        ("git@github.com:a/b.git", GitAddress("git@github.com:a/b.git")),
        ("/srv/apps.git", GitAddress("/srv/apps.git")),
    ],
)
def test_addresses_of_repositories_and_of_folders_in_them_are_understood(text: str, address: GitAddress) -> None:
    assert parse_address(text) == address


@pytest.mark.parametrize(
    "text",
    ["", "--upload-pack=touch x", "ext::sh -c x", "github.com/a/b", "https://", "javascript:1", "a b", "file:"],
)
def test_what_is_no_address_is_refused_before_git_is_run(text: str) -> None:
    with pytest.raises(RefusedError, match="is not the address"):
        parse_address(text)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    if shutil.which("git") is None:
        needs.missing("git")
    folder = tmp_path / "repository"
    app = folder / "apps" / "notes"
    app.mkdir(parents=True)
    (app / "app.lua").write_text("notes = 1\n")
    (folder / "README.md").write_text("# Repository\n")
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], [*who, "commit", "-q", "-m", "first"]):
        subprocess.run(["git", "-C", folder, *command], check=True)
    return folder


async def test_a_repository_arrives_as_files_and_leaves_nothing_else(tmp_path: Path, repository: Path) -> None:
    whole, part = tmp_path / "whole", tmp_path / "part"
    unpack(await fetch(GitAddress(f"file://{repository}")), whole)
    unpack(await fetch(GitAddress(f"file://{repository}", "main", "apps/notes")), part)

    assert (whole / "apps" / "notes" / "app.lua").read_text() == "notes = 1\n"
    assert [path.name for path in part.iterdir()] == ["app.lua"]
    assert not (whole / ".git").exists()


async def test_a_link_in_a_repository_is_refused(tmp_path: Path, repository: Path) -> None:
    (repository / "apps" / "notes" / "data").symlink_to("/etc/passwd")
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", repository, "add", "-A"], check=True)
    subprocess.run(["git", "-C", repository, *who, "commit", "-q", "-m", "link"], check=True)

    with pytest.raises(RefusedError, match="link or a device"):
        unpack(await fetch(GitAddress(f"file://{repository}")), tmp_path / "out")


@pytest.mark.parametrize(
    ("address", "words"),
    [
        (GitAddress("https://nowhere.invalid/a/b"), "cannot be reached"),
        (GitAddress("/nowhere/at/all"), "does not exist"),
        (GitAddress("file://{}", "no-such-branch"), "no such branch"),
        (GitAddress("file://{}", "", "no/such"), "no such folder"),
    ],
)
async def test_what_cannot_be_fetched_says_why_and_what_helps(
    repository: Path, address: GitAddress, words: str
) -> None:
    given = GitAddress(address.repository.format(repository), address.ref, address.path)

    with pytest.raises(RefusedError, match=words) as caught:
        await fetch(given)
    assert "import an archive" in caught.value.message


async def test_without_git_the_message_names_the_other_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")

    with pytest.raises(RefusedError, match="git is not installed"):
        await fetch(GitAddress("https://github.com/a/b"))
