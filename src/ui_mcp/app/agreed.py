"""What the person is asked to agree to in one project: settings that widen rights, and what its gateway mounts."""

import os
import re
from dataclasses import dataclass
from pathlib import Path

from ui_mcp import config as settings
from ui_mcp.compositor import nlui_yaml
from ui_mcp.errors import ConfigError, UiMcpError
from ui_mcp.jsontypes import Json, dumps
from ui_mcp.trust import Agreements
from ui_mcp.workspace import Workspace

_PASSWORD = re.compile(r"(://[^\s:/@]*):[^\s@]*@")


@dataclass(frozen=True, slots=True)
class Wish:
    """One thing that takes effect once the person agrees."""

    place: Path
    contents: Json | bytes
    lines: list[str]
    """What it asks for, in words for the person."""

    @property
    def agreed(self) -> bool:
        """Whether the person agreed to exactly this."""
        return Agreements().hold(self.place, self.contents)


def wishes(workspace: Workspace) -> list[Wish]:
    """Return what the project asks for, agreed to or not.

    Raises:
        ConfigError: a configuration file is wrong.
    """
    rights = settings.rights(workspace.config_file)
    if not rights:
        return []
    lines = [visible(f"{key} = {dumps(value)}") for key, value in rights.items()]
    found = [Wish(settings.trusted_place(workspace.config_file), rights, lines)]
    named = rights.get("gateway.config")
    file = workspace.named(str(named)) if named else None
    if file is not None and file.is_file() and file.is_relative_to(workspace.project):
        data = file.read_bytes()
        found.append(Wish(file, data, _mounts(file, data)))
    return found


def agree(asked: list[Wish]) -> None:
    """Remember that the person agrees to all of these."""
    for wish in asked:
        Agreements().add(wish.place, wish.contents)


def load_agreed(file: Path, project: Path) -> nlui_yaml.Loaded:
    """Read a gateway's file; one that came with the project only as the person agreed to it.

    Raises:
        ConfigError: the person has not agreed to what is in it now, or it is wrong.
    """
    file = file.resolve()
    if not file.is_relative_to(project):
        return nlui_yaml.load(file)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror or error}") from error
    if not Agreements().hold(file, data):
        raise ConfigError(f"{file} is new or has changed since you agreed to it\nRun `ui-mcp trust` in the project.")
    return nlui_yaml.read(data, str(file), os.environ, file.parent)


def _mounts(file: Path, data: bytes) -> list[str]:
    try:
        loaded = nlui_yaml.read(data, str(file), _Names(), file.parent).settings
    except UiMcpError as error:
        return [visible(error.message)]
    servers = [
        f"server {one.name}: {' '.join((one.command, *one.args)) if one.command else one.url}"
        for one in loaded.backends
    ]
    targets = [f"API {one.name}: {one.base_url or one.spec}" for one in loaded.targets]
    return [visible(line) for line in (*servers, *targets, f"policy: {loaded.policy.mode or 'default'}")]


def visible(text: str) -> str:
    """Write out what a terminal would obey or hide, such as escape sequences; leave passwords of addresses out."""
    text = _PASSWORD.sub(r"\1:…@", text)
    return "".join(sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in text)


class _Names(dict[str, str]):
    """An environment in which every variable is its own name, so that no secret is shown."""

    def get(self, name: str, default: object = None) -> str:
        return f"${{{name}}}"

    def __contains__(self, name: object) -> bool:
        return True

    def __getitem__(self, name: str) -> str:
        return f"${{{name}}}"
