"""What a project has already: every start asks, hardly any installs."""

from ui_mcp.version import bundled_readme, version_in
from ui_mcp.workspace import Workspace


def needs_install(workspace: Workspace) -> bool:
    """Say whether this directory has never been installed to."""
    return not workspace.readme.is_file()


def outdated(workspace: Workspace) -> str | None:
    """Say so when the project's files are of an older version than this program."""
    bundled, installed = version_in(bundled_readme()), version_in(workspace.readme)
    if bundled is None or installed is None or bundled <= installed:
        return None
    return f"The files in {workspace.given} are of version {installed}, this is {bundled}: call ui_install"
