"""Projects that ui-engine or frictionless made, opened in place."""

from pathlib import Path

import pytest

from ui_mcp.cli.doctor.project import installed, made_by
from ui_mcp.ui.base_dir.file_layout import foreign_product, page_html
from ui_mcp.ui.base_dir.installer import install, outdated
from ui_mcp.workspace import DEFAULT_DIR, Workspace, default_dir

PAGE = "<!doctype html><title>old</title><div ui-app></div><script src='main-OLD.js'></script>"


@pytest.fixture
def project(tmp_path: Path) -> Workspace:
    base = tmp_path / ".ui"
    for name, text in {
        "README.md": "# Frictionless\n\n**Version: 0.25.1**\n",
        "html/index.html": PAGE,
        "lua/mcp.lua": "-- theirs",
        "storage/settings.json": "{}",
    }.items():
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_text(text)
    return Workspace.at(base)


@pytest.mark.covers("UI-COMPAT-10")
def test_a_directory_that_only_frictionless_made_is_found(project: Workspace) -> None:
    assert default_dir(project.project) == ".ui"
    (project.project / DEFAULT_DIR).mkdir(parents=True)
    assert default_dir(project.project) == DEFAULT_DIR


@pytest.mark.covers("UI-COMPAT-10")
def test_a_page_of_another_engine_is_replaced_and_a_page_of_ones_own_kept(project: Workspace) -> None:
    assert "uiEarly" in (page_html(project) or "")

    (project.html / "index.html").write_text("<h1>mine</h1>")
    assert page_html(project) == "<h1>mine</h1>"


@pytest.mark.covers("UI-COMPAT-10")
def test_versions_of_different_products_are_not_compared(project: Workspace) -> None:
    assert foreign_product(project) == "Frictionless 0.25.1"
    assert outdated(project) is None

    first = install(project)
    assert (first.version_skipped, first.conflicts, first.backups) == (False, [], [])
    assert ".ui/lua/mcp.lua" in first.skipped
    assert install(project).version_skipped

    assert (project.lua / "mcp.lua").read_text() == "-- theirs"
    assert (project.html / "index.html").read_text() == PAGE
    assert project.readme.read_text().startswith("# Frictionless")


@pytest.mark.covers("UI-COMPAT-10")
def test_an_older_product_of_our_name_is_recognised_by_its_page(project: Workspace) -> None:
    project.readme.write_text("# ui-mcp\n\n**Version: 0.6.0**\n")

    assert foreign_product(project) == "an earlier ui-mcp or ui-engine 0.6.0"


@pytest.mark.covers("UI-COMPAT-10")
def test_doctor_says_who_made_a_project(project: Workspace, tmp_path: Path) -> None:
    assert [one.text.partition(":")[0] for one in made_by(project)] == ["made by Frictionless 0.25.1"]
    assert installed(project).text.startswith("none;")
    assert made_by(Workspace.at(tmp_path / "other" / ".ui")) == []
