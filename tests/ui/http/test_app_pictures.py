"""Icon and picture of an app: its own file, or its letter."""

from pathlib import Path

import pytest

from ui_mcp.ui.http.app_pictures import app_picture
from ui_mcp.workspace import Workspace

pytestmark = pytest.mark.covers("UI-SHELL-10")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    found = Workspace.at(tmp_path / ".claude/ui")
    (found.apps / "notes").mkdir(parents=True)
    return found


def shown(workspace: Workspace, path: str) -> tuple[str, bytes]:
    answer = app_picture(workspace, path)
    assert answer is not None
    return answer.headers["content-type"], bytes(answer.body)


def test_an_app_shows_its_picture_for_the_theme(workspace: Workspace) -> None:
    (workspace.apps / "notes" / "preview-dark.webp").write_bytes(b"dark")
    (workspace.apps / "notes" / "preview.png").write_bytes(b"any")

    assert shown(workspace, "app/notes/preview-dark") == ("image/webp", b"dark")
    assert shown(workspace, "app/notes/preview-light") == ("image/png", b"any")


def test_an_app_without_a_picture_shows_its_letter(workspace: Workspace) -> None:
    kind, drawn = shown(workspace, "app/notes/preview-light")

    assert kind == "image/svg+xml"
    assert b">N</text>" in drawn


def test_a_link_out_of_the_project_is_not_followed(
    workspace: Workspace, tmp_path_factory: pytest.TempPathFactory
) -> None:
    secret = tmp_path_factory.mktemp("elsewhere") / "secret.png"
    secret.write_bytes(b"secret")
    (workspace.apps / "notes" / "preview.png").symlink_to(secret)

    assert shown(workspace, "app/notes/preview-light")[1] != b"secret"


@pytest.mark.parametrize(
    "path", ["app/notes", "app/notes/preview-blue", "app/../preview-light", "app/notes/x/preview-light"]
)
def test_other_paths_are_no_pictures(workspace: Workspace, path: str) -> None:
    assert app_picture(workspace, path) is None
