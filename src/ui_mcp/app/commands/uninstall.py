"""`ui-mcp uninstall`: takes our files out of a project and leaves those of the person."""

import argparse
import shutil
import sys
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from ui_mcp.app.commands.join import stop_server
from ui_mcp.errors import ConfigError
from ui_mcp.ui.base_dir.installer import MANIFEST, Record, guided_files, remove_guidance
from ui_mcp.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Removal:
    """What goes and what stays; paths are absolute."""

    files: list[Path]
    """Ours, as they were installed."""
    folders: list[Path]
    """Logs and state, which are only ours."""
    changed: list[Path]
    """Installed by us and changed since."""


def run_uninstall(options: argparse.Namespace) -> int:
    """Carry out the command; return the exit code."""
    workspace = Workspace.at(options.dir)
    plan = planned(workspace, keep_state=options.keep_state)
    if not plan.files and not plan.folders:
        print(f"Nothing of ui-mcp is installed in {workspace.given}.")
        return 0
    _show(workspace, plan)
    if options.dry_run:
        print("\nNothing was removed (--dry-run).")
        return 0
    if not options.yes and not _agreed():
        print("Nothing was removed.")
        return 1
    stop_server(workspace)
    remove(workspace, plan)
    print("\nRemoved. `ui-mcp setup --remove` takes the server out of your hosts' settings.")
    return 0


def planned(workspace: Workspace, *, keep_state: bool) -> Removal:
    """Return what an uninstallation would remove."""
    recorded = Record.load(workspace.state_dir / MANIFEST).files
    files = {workspace.project / path: digest for path, digest in recorded.items()}
    # The record may come with a cloned project: nothing outside of it is touched.
    inside = {file: digest for file, digest in files.items() if workspace.contains(file.parent)}
    present = {file: digest for file, digest in inside.items() if file.is_file() and not file.is_symlink()}
    ours = [file for file, digest in present.items() if sha256(file.read_bytes()).hexdigest() == digest]
    ports = [file for file in (workspace.ui_port, workspace.mcp_port, workspace.person_port) if file.is_file()]
    state = [] if keep_state else [workspace.own]
    folders = [folder for folder in (workspace.log, *state) if folder.is_dir() and not folder.is_symlink()]
    return Removal(sorted([*ours, *ports]), folders, sorted(set(present) - set(ours)))


def remove(workspace: Workspace, plan: Removal) -> None:
    """Delete what was planned, our section in the person's files, and folders that are empty then.

    Raises:
        ConfigError: something cannot be deleted.
    """
    try:
        for file in plan.files:
            file.unlink(missing_ok=True)
        for folder in plan.folders:
            shutil.rmtree(folder)
        remove_guidance(workspace)
    except OSError as error:
        raise ConfigError(f"Cannot remove {error.filename}: {error.strerror or error}") from error
    _remove_empty({parent for file in plan.files for parent in file.parents}, workspace.project)
    _remove_empty([*workspace.folders, workspace.base, *workspace.base.parents], workspace.project)


def _remove_empty(folders: Iterable[Path], project: Path) -> None:
    inside = [folder for folder in folders if project in folder.parents]
    for folder in sorted(inside, key=lambda one: len(one.parts), reverse=True):
        with suppress(OSError):  # not empty: something of the person is in it
            folder.rmdir()


def _show(workspace: Workspace, plan: Removal) -> None:
    print(f"Removes {len(plan.files)} files that are as installed", end="")
    print(f", and {', '.join(workspace.name_of(one) for one in plan.folders)}" if plan.folders else "")
    if guided := guided_files(workspace):
        print(f"Takes the section of ui-mcp out of {', '.join(guided)}")
    if plan.changed:
        print("Stays, because you changed it:")
        for file in plan.changed:
            print(f"  {workspace.name_of(file)}")
    print("Stays, because it is yours: apps, config, storage, themes")


def _agreed() -> bool:
    """Ask the person at the terminal.

    Raises:
        ConfigError: there is no terminal to ask at.
    """
    if not sys.stdin.isatty():
        raise ConfigError("Nothing was removed: there is no terminal to ask on\nAdd --yes to remove them.")
    try:
        return input("\nRemove them? [y/N] ").strip().lower() in {"y", "yes"}
    except EOFError:
        return False
