"""What the person is asked to agree to in one project: settings that widen rights, and what its gateway mounts."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_config_path

from ui_mcp import config as settings
from ui_mcp.errors import ConfigError, UiMcpError
from ui_mcp.gateway.config import loader
from ui_mcp.gateway.config.parse import parse
from ui_mcp.jsontypes import Json, dumps
from ui_mcp.trust import Agreements, place_of
from ui_mcp.workspace import Workspace

_SECTIONS = frozenset({"llm", "mcp", "mcpServers", "mcp_servers", "policy", "server", "storage", "audit", "approvals"})
_MASKED = loader.SECRETS | {"headers", "env"}
_REFERENCE = re.compile(r"[^$]*\$\{|env:|file:|keyring:")
_PASSWORD = re.compile(r"(://[^\s:/@]*):[^\s@]*@")


class NotAgreedError(ConfigError):
    """A file came with a project and says something that the person has not agreed to."""


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
    lines = [visible(f"{key} = {dumps(value)}") for key, value in rights.items()]
    found = [Wish(settings.trusted_place(workspace.config_file), rights, lines)] if rights else []
    named = rights.get("gateway.config")
    file = workspace.named(str(named)).resolve() if named else None
    within = [file] if file is not None and file.is_relative_to(workspace.project) else []
    files = dict.fromkeys([*within, workspace.project / loader.FILE])
    return found + [wish_of(file) for file in files if file.is_file()]


def wish_of(file: Path) -> Wish:
    """Return what a gateway's file asks for.

    Raises:
        ConfigError: it cannot be read.
    """
    data = _bytes(file)
    return Wish(place_of(file), data, _contents(data))


def found_file(source: str | None) -> Path | None:
    """Return the nlui.yaml that a gateway would take from the working directory because none was named.

    A file that the command line or NLUI_CONFIG names was chosen, and one in the account's configuration directory is
    the person's own: these need no agreement.
    """
    own = user_config_path()
    file = None if source or os.environ.get("NLUI_CONFIG") else loader.find(None, os.environ, own)
    if file is None or place_of(file).parent == (own / "nlui").resolve():
        return None
    return place_of(file)


def agree(asked: list[Wish]) -> None:
    """Remember that the person agrees to all of these."""
    for wish in asked:
        Agreements().add(wish.place, wish.contents)


def load_agreed(file: Path, project: Path) -> loader.Loaded:
    """Read a gateway's file; one that came with the project only as the person agreed to it.

    Raises:
        NotAgreedError: the person has not agreed to what is in it now.
        ConfigError: it is wrong.
    """
    file = file.resolve()
    return _load_as_agreed(file, "ui-mcp trust") if file.is_relative_to(project) else loader.load(file)


def load_found(file: Path) -> loader.Loaded:
    """Read a gateway's file that was found, not named, as the person agreed to it.

    Raises:
        NotAgreedError: the person has not agreed to what is in it now.
        ConfigError: it is wrong.
    """
    return _load_as_agreed(place_of(file), "nlui trust")


def _load_as_agreed(file: Path, command: str) -> loader.Loaded:
    data = _bytes(file)  # read once: what is checked is what takes effect
    if not Agreements().hold(file, data):
        raise NotAgreedError(
            f"{file} is not in effect: it is new or has changed since you agreed to it\n"
            f"Run `{command}` in {file.parent}; it shows the file and asks you."
        )
    return loader.read(data, str(file), os.environ, file.parent)


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise ConfigError(f"{file}: {error.strerror or error}") from error


def _contents(data: bytes) -> list[str]:
    try:
        return [visible(line) for line in _lines(parse(data), "")]
    except (UiMcpError, ValueError, RecursionError) as error:
        return [visible(f"cannot be read: {error}")]


def _lines(value: Json, key: str) -> Iterator[str]:
    """Write every setting on a line of its own, one for each member of a list."""
    match value:
        case dict() if not key or key in _SECTIONS:
            for name, member in value.items():
                yield from _lines(member, f"{key}.{name}" if key else str(name))
        case list() if value and all(isinstance(member, dict) for member in value):
            for number, member in enumerate(value):
                yield f"{key}[{number}] = {dumps(_masked(member, ''))}"
        case _:
            # A mapping may have any name, and one such as "env" must not hide the command of a server.
            name = "" if isinstance(value, dict) else key.rpartition(".")[2]
            yield f"{key} = {dumps(_masked(value, name))}"


def _masked(value: Json, key: str) -> Json:
    """Leave out credentials that stand in the file itself; the name of a variable or file is shown."""
    match value:
        case dict():
            return {name: _masked(member, key if key in _MASKED else str(name)) for name, member in value.items()}
        case list():
            return [_masked(member, key) for member in value]
        case str() if key in _MASKED and not _REFERENCE.match(value):
            return "…"
        case _:
            return value


def visible(text: str) -> str:
    """Write out what a terminal would obey or hide, such as escape sequences; leave passwords of addresses out."""
    text = _PASSWORD.sub(r"\1:…@", text)
    return "".join(sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in text)
