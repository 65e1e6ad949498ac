"""`linkapp`: links of an app into lua/ and viewdefs/."""

import subprocess
from pathlib import Path

import pytest

from ui_mcp.workspace import Workspace


@pytest.fixture
def base(workspace: Workspace) -> Path:
    """A directory with one app, `notes`, and one that shares the start of its name."""
    for app in ("notes", "notes-2"):
        viewdefs = workspace.apps / app / "viewdefs"
        viewdefs.mkdir(parents=True)
        (workspace.apps / app / "app.lua").write_text("")
        (viewdefs / f"{app}.DEFAULT.html").write_text("<template><p></p></template>")
    return workspace.base


def linkapp(base: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(base / "linkapp"), *arguments]
    return subprocess.run(command, cwd="/", capture_output=True, text=True, timeout=180, check=False)


def links(base: Path) -> dict[str, str]:
    found = [*(base / "lua").iterdir(), *(base / "viewdefs").iterdir()]
    return {file.relative_to(base).as_posix(): str(file.readlink()) for file in found if file.is_symlink()}


@pytest.mark.covers("UI-SCR-1", "UI-DIR-5")
def test_add_links_the_app_its_folder_and_each_viewdef(base: Path) -> None:
    for _ in range(2):  # a second time changes nothing
        assert linkapp(base, "add", "notes").returncode == 0

        assert links(base) == {
            "lua/notes.lua": "../apps/notes/app.lua",
            "lua/notes": "../apps/notes",
            "viewdefs/notes.DEFAULT.html": "../apps/notes/viewdefs/notes.DEFAULT.html",
        }
    assert (base / "lua" / "notes.lua").is_file()


@pytest.mark.covers("UI-SCR-1")
def test_remove_takes_only_links_into_that_app(base: Path) -> None:
    linkapp(base, "add", "notes")
    linkapp(base, "add", "notes-2")
    before = links(base)

    linkapp(base, "remove", "notes")

    assert links(base) == {name: target for name, target in before.items() if "notes-2" in target}
    assert (base / "apps" / "notes" / "app.lua").is_file()
    assert (base / "viewdefs" / "MCP.DEFAULT.html").is_file()


@pytest.mark.covers("UI-SCR-1")
def test_list_names_the_linked_apps_or_the_links_of_one(base: Path) -> None:
    linkapp(base, "add", "notes")

    assert linkapp(base, "list").stdout.split() == ["notes"]
    assert sorted(linkapp(base, "list", "notes").stdout.split()) == sorted(links(base))


def test_a_file_of_the_users_is_never_replaced_by_a_link(base: Path) -> None:
    (base / "lua" / "notes.lua").write_text("mine")

    done = linkapp(base, "add", "notes")

    assert done.returncode == 1
    assert "Kept lua/notes.lua" in done.stderr
    assert (base / "lua" / "notes.lua").read_text() == "mine"


@pytest.mark.parametrize(
    "arguments", [(), ("add",), ("other", "notes"), ("add", "../../etc"), ("remove", "a b"), ("add", "$(id)")]
)
def test_wrong_usage_changes_nothing(base: Path, arguments: tuple[str, ...]) -> None:
    assert linkapp(base, *arguments).returncode == 2
    assert links(base) == {}


def test_an_app_that_is_not_there_is_named(base: Path) -> None:
    done = linkapp(base, "add", "absent")

    assert (done.returncode, done.stderr) == (1, "There is no apps/absent/app.lua\n")
