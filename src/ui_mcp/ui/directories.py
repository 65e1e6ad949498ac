"""Decides which directories an agent may switch the server to: those of the start-up project, and listed ones."""

import os
from pathlib import Path
from typing import Annotated

from ui_mcp.errors import ConfigError, RefusedError
from ui_mcp.fields import Section
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.trust import config_folder
from ui_mcp.validation import InvalidDataError, read, read_toml
from ui_mcp.workspace import Workspace

OWN = frozenset({".ui-mcp", ".ui-mcp.new", ".git"})
"""Names of directories that can neither be a base directory nor contain one."""


@dataclass(frozen=True, slots=True)
class AccountSettings(Section):
    """The account's own `config.toml`, in its configuration directory: what no project can set."""

    directories: Annotated[tuple[str, ...], "Directories that `ui_configure` may switch to."] = ()


def account() -> AccountSettings:
    """Read the account's own settings.

    Raises:
        ConfigError: the file cannot be read or is invalid.
    """
    file = config_folder() / "config.toml"
    try:
        return read(AccountSettings, read_toml(file))
    except InvalidDataError as error:
        raise ConfigError(f"{file}: {error.problems[0]}") from error


class Directories:
    """The start-up project, the directories that the person listed, and the base directories used so far."""

    def __init__(self, listed: tuple[str, ...] = ()) -> None:
        self._listed = listed
        self._start: Workspace | None = None
        self._used: list[Workspace] = []

    def begin(self, workspace: Workspace) -> None:
        """Record the first directory as that of the start."""
        self._start = self._start or workspace

    def used(self, workspace: Workspace) -> tuple[str, ...]:
        """Record a directory in use; return the files of the others, which its apps must not access."""
        if workspace not in self._used:
            self._used.append(workspace)
        others = [known for known in self._used if known.base != workspace.base]
        return tuple(str(place) for known in others for place in (*known.private, known.mcp_token))

    def require(self, workspace: Workspace) -> None:
        """Check a directory that an agent named.

        Raises:
            RefusedError: it is neither in the project nor listed.
            ConfigError: the account's own configuration file is wrong.
        """
        base = workspace.base
        private = [place for known in self._used for place in known.private]
        if OWN & set(base.parts) or any(base.is_relative_to(place) for place in private):
            raise RefusedError(f"ui_configure cannot use {base}: files of ui-mcp itself are there", base_dir=str(base))
        roots = [_root(self._start)] if self._start else []
        roots += [Path(name).expanduser().resolve() for name in (*self._listed, *account().directories)]
        if not all(any(place.is_relative_to(root) for root in roots) for place in (base, workspace.project)):
            raise RefusedError(
                f"ui_configure cannot switch to {base}: it is outside the project this server was started for"
                f"{f' ({_root(self._start)})' if self._start else ''}\n"
                f'The person can allow it: directories = ["{base}"] in {config_folder() / "config.toml"}, '
                f"the flag --allow-dir {base}, or a start with --dir {base}.",
                base_dir=str(base),
            )


def _root(start: Workspace) -> Path:
    """Return the project of the start; its base directory if the project would contain the home directory."""
    home = Path(os.path.expanduser("~")).resolve()  # noqa: PTH111 - Path.home() fails where there is no home
    return start.base if home.is_relative_to(start.project) else start.project
