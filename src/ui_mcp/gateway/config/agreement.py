"""What a project asks the person to agree to: settings that widen rights, and what its gateway mounts."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from platformdirs import user_config_path

from ui_mcp import config as settings
from ui_mcp.config import Config
from ui_mcp.errors import UiMcpError
from ui_mcp.gateway.config import loader
from ui_mcp.gateway.config.agreed_files import NotAgreedError, found_file, load_agreed, load_found, read_bytes
from ui_mcp.gateway.config.loader import find, load
from ui_mcp.gateway.config.parse import parse
from ui_mcp.gateway.config.settings import GatewaySettings
from ui_mcp.jsontypes import Json, dumps
from ui_mcp.trust import Agreements, place_of
from ui_mcp.workspace import Workspace

_SECTIONS = frozenset({"llm", "mcp", "mcpServers", "mcp_servers", "policy", "server", "storage", "audit", "approvals"})

_MASKED = loader.SECRETS | {"headers", "env"}

_REFERENCE = re.compile(r"[^$]*\$\{|env:|file:|keyring:")

_PASSWORD = re.compile(r"(://[^\s:/@]*):[^\s@]*@")


@dataclass(frozen=True, slots=True)
class TrustRequest:
    """One file, or part of one, that takes effect once the person agrees."""

    place: Path
    contents: Json | bytes
    lines: list[str]
    """What it asks for, one line per setting, for the person to read."""

    @property
    def agreed(self) -> bool:
        """Whether the person agreed to exactly these contents."""
        return Agreements().hold(self.place, self.contents)


def trust_requests(workspace: Workspace) -> list[TrustRequest]:
    """Return what the project asks for, agreed to or not.

    Raises:
        ConfigError: a configuration file is invalid.
    """
    rights = settings.rights(workspace.config_file)
    lines = [visible(f"{key} = {dumps(value)}") for key, value in rights.items()]
    found = [TrustRequest(settings.trusted_place(workspace.config_file), rights, lines)] if rights else []
    named = rights.get("gateway.config")
    file = workspace.named(str(named)).resolve() if named else None
    within = [file] if file is not None and file.is_relative_to(workspace.project) else []
    files = dict.fromkeys([*within, workspace.project / loader.FILE])
    return found + [trust_request(file) for file in files if file.is_file()]


def trust_request(file: Path) -> TrustRequest:
    """Return what an nlui.yaml asks for.

    Raises:
        ConfigError: the file cannot be read.
    """
    data = read_bytes(file)
    return TrustRequest(place_of(file), data, _contents(data))


def agree(requests: list[TrustRequest]) -> None:
    """Store the person's agreement to all of these."""
    for request in requests:
        Agreements().add(request.place, request.contents)


def _contents(data: bytes) -> list[str]:
    try:
        return [visible(line) for line in _lines(parse(data), "")]
    except (UiMcpError, ValueError, RecursionError) as error:
        return [visible(f"cannot be read: {error}")]


def _lines(value: Json, key: str) -> Iterator[str]:
    """Yield one line per setting, and one per member of a list of mappings."""
    match value:
        case dict() if not key or key in _SECTIONS:
            for name, member in value.items():
                yield from _lines(member, f"{key}.{name}" if key else str(name))
        case list() if value and all(isinstance(member, dict) for member in value):
            for number, member in enumerate(value):
                yield f"{key}[{number}] = {dumps(_masked(member, ''))}"
        case _:
            # A server may be named "env"; that must not mask its command.
            name = "" if isinstance(value, dict) else key.rpartition(".")[2]
            yield f"{key} = {dumps(_masked(value, name))}"


def _masked(value: Json, key: str) -> Json:
    """Mask credentials written in the file itself; references to variables, files and keyrings stay visible."""
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
    """Escape characters that a terminal would interpret or hide, and mask passwords in URLs."""
    text = _PASSWORD.sub(r"\1:…@", text)
    return "".join(character if character.isprintable() else f"\\u{ord(character):04x}" for character in text)


@dataclass(frozen=True, slots=True)
class NamedFile:
    """The nlui.yaml that the setting `gateway.config` of a project names."""

    file: Path
    project: Path


def named_file(workspace: Workspace, config: Config) -> NamedFile | None:
    """Return the file that the setting `gateway.config` names, None if it is not set."""
    given = config.gateway.config
    return NamedFile(workspace.named(given), workspace.project) if given else None


def approvals_url(named: NamedFile | None) -> str:
    """Return path or URL of the approvals: of the named file's gateway, else of the one found here.

    Raises:
        ConfigError: the file is invalid, or the person has not agreed to the named one.
    """
    return _settings(named).approvals_url


def _settings(named: NamedFile | None) -> GatewaySettings:
    if named:
        return load_agreed(named.file, named.project).settings
    if found := found_file(None):
        try:
            return load_found(found).settings
        except NotAgreedError:
            return GatewaySettings()
    file = find(None, os.environ, user_config_path())
    return load(file).settings if file else GatewaySettings()
