"""The program's own files: whether they are in `.ui-mcp/`, and what an older version has left in `storage/`."""

import os

from ui_mcp.cli.doctor.findings import Finding, note, ok, problem
from ui_mcp.errors import ConfigError
from ui_mcp.ui import own_files
from ui_mcp.ui.instance import open_regular
from ui_mcp.workspace import MOVING, OLD_FILES, Workspace

NAME = "own files"


def findings(workspace: Workspace) -> list[Finding]:
    """Say where our own files are, and name everything of ours that is somewhere else."""
    return [_place(workspace), *_behind_links(workspace), *_left_behind(workspace)]


def _place(workspace: Workspace) -> Finding:
    if workspace.own.is_symlink() or workspace.own.is_file():
        kind = "link" if workspace.own.is_symlink() else "file"
        return problem(NAME, f"{workspace.own} is a {kind}, and must be a directory", f"Remove the {kind}.")
    if link := own_files.own_link(workspace):
        return problem(NAME, f"{link} is a link, and must be a file of ui-mcp's own", "Remove the link.")
    facts = own_files.look(workspace)
    if own_files.decide(facts) is not own_files.Action.MOVE:
        kept = sorted(path.name for name in OLD_FILES for path in workspace.storage.glob(f"{name}.before-*"))
        originals = f"; originals of the move: storage/{', storage/'.join(kept)}" if kept else ""
        return ok(NAME, f"{workspace.own}{originals}")
    if why := _reason(workspace):
        text = f"{', '.join(facts.left)} could not be moved from {workspace.storage} to {workspace.own.name}: {why}"
        return note(NAME, text, "Everything works; the next start tries again.")
    what = "a move was interrupted" if facts.own == "unfinished" else f"{', '.join(facts.left)} are in storage/"
    return note(NAME, f"{what}; the next start moves them to {workspace.own}", "Run any command of ui-mcp here.")


def _reason(workspace: Workspace) -> str:
    try:
        with open_regular(own_files.lock_file(workspace), os.O_RDONLY) as file:
            return file.read(1000).decode(errors="replace")
    except (OSError, ConfigError):
        return "" if os.access(workspace.base, os.W_OK) else f"{workspace.base} cannot be written"


def _behind_links(workspace: Workspace) -> list[Finding]:
    found = own_files.behind_links(workspace)
    if not found:
        return []
    text = f"not moved, since a link leads there: {', '.join(map(str, found))}"
    store = (workspace.storage / "runtime.db").resolve()
    return [note("linked files", text, f"If that chat is yours: `ui-mcp chat restore {store}` fills an empty store.")]


def _left_behind(workspace: Workspace) -> list[Finding]:
    put_aside = sorted(path.name for name in OLD_FILES for path in workspace.storage.glob(f"{name}.after-*"))
    names = [*own_files.left_behind(workspace), *put_aside]
    if not names or (workspace.own / MOVING).exists():
        return []
    store = next((name for name in names if name.startswith("runtime.db")), None)
    text = f"an older ui-mcp wrote {', '.join(names)} in {workspace.storage} after ui-mcp's own files had moved"
    read = f"`ui-mcp chat history --store {workspace.storage / store}` shows what was said there. " if store else ""
    return [note("older files", text, f"{read}Update the older ui-mcp, then remove or keep these files as you like.")]
