"""Install the bundled skills, guides, viewdefs, scripts and page into a project.

Files that you changed are never lost: an upgrade writes the new version beside them as FILE.merge,
and --force keeps your version as FILE.bak.
"""

import argparse
from typing import TYPE_CHECKING

from ui_mcp.cli import options as shared
from ui_mcp.discovery import lazy
from ui_mcp.jsontypes import JsonObject
from ui_mcp.workspace import Workspace

if TYPE_CHECKING:
    from ui_mcp.ui.base_dir.installer import install
    from ui_mcp.ui.own_files import settle
else:
    install = lazy("ui_mcp.ui.base_dir.installer:install")
    settle = lazy("ui_mcp.ui.own_files:settle")

HELP = "install skills, guides and scripts into a project"


def arguments(parser: argparse.ArgumentParser) -> None:
    shared.directory(parser)
    parser.add_argument("-f", "--force", action="store_true", help="overwrite existing files, keeping FILE.bak")


def run(options: argparse.Namespace) -> int:
    workspace = Workspace.at(options.dir)
    if workspace.base.is_dir():
        settle(workspace)
    report(install(workspace, force=options.force).as_json())
    return 0


def report(answer: JsonObject) -> None:
    if answer.get("version_skipped"):
        print(
            f"Skipped: installed version {answer['installed_version']} >= bundled version {answer['bundled_version']}"
        )
        print("Use --force to reinstall.")
        return
    _list("Installed:", answer["installed"])
    _list("Skipped (already exist):", answer["skipped"])
    _list(
        "Kept your changes; the new versions are beside them:",
        [entry["merge_path"] for entry in answer.get("conflicts", [])],
    )


def _list(title: str, paths: list[str]) -> None:
    if paths:
        print(title, *paths, sep="\n  ")
