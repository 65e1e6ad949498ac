"""Reads an nlui.yaml that came with a project only if the person agreed to its contents."""

import os
from pathlib import Path

from platformdirs import user_config_path

from ui_mcp.errors import ConfigError
from ui_mcp.gateway.config import loader
from ui_mcp.trust import Agreements, place_of


class NotAgreedError(ConfigError):
    """A file that came with a project says something to which the person has not agreed."""


def found_file(source: str | None) -> Path | None:
    """Return the nlui.yaml that a gateway takes from the working directory because none was named.

    A file named on the command line or in NLUI_CONFIG was chosen by the person, and so was one in the account's
    configuration directory; these need no agreement.
    """
    own = user_config_path()
    file = None if source or os.environ.get("NLUI_CONFIG") else loader.find(None, os.environ, own)
    if file is None or place_of(file).parent == (own / "nlui").resolve():
        return None
    return place_of(file)


def load_agreed(file: Path, project: Path) -> loader.Loaded:
    """Read an nlui.yaml; one inside the project only if the person agreed to its contents.

    Raises:
        NotAgreedError: the person has not agreed to the present contents.
        ConfigError: the file is invalid.
    """
    file = file.resolve()
    return _load_as_agreed(file, "ui-mcp trust") if file.is_relative_to(project) else loader.load(file)


def load_found(file: Path) -> loader.Loaded:
    """Read an nlui.yaml that was found, not named, if the person agreed to its contents.

    Raises:
        NotAgreedError: the person has not agreed to the present contents.
        ConfigError: the file is invalid.
    """
    return _load_as_agreed(place_of(file), "nlui trust")


def _load_as_agreed(file: Path, command: str) -> loader.Loaded:
    data = read_bytes(file)  # read once, so that exactly what is checked takes effect
    if not Agreements().hold(file, data):
        raise NotAgreedError(
            f"{file} is not in effect: it is new or has changed since you agreed to it\n"
            f"Run `{command}` in {file.parent}; it shows the file and asks you."
        )
    return loader.read(data, str(file), os.environ, file.parent)


def read_bytes(file: Path) -> bytes:
    """Return the contents of a file.

    Raises:
        ConfigError: it cannot be read.
    """
    try:
        return file.read_bytes()
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror or error}") from error
