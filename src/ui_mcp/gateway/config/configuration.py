"""What a gateway runs with: the file found or named, what the person agreed to, and warnings."""

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import anyio
from platformdirs import user_config_path

from ui_mcp.errors import ConfigError
from ui_mcp.gateway.config.agreement import NotAgreedError, found_file, load_found
from ui_mcp.gateway.config.loader import FILE, Load, find, load
from ui_mcp.gateway.config.settings import GatewaySettings, Mode, TargetSettings
from ui_mcp.trust import place_of

Stamp = tuple[int, int, int]


async def _stamp(file: Path) -> Stamp:
    return await anyio.to_thread.run_sync(stamp_of, file)


def stamp_of(file: Path) -> Stamp:
    """Return what differs after every change; zeros when there is no such file."""
    try:
        found = file.stat()
    except OSError:
        return 0, 0, 0
    return found.st_mtime_ns, found.st_size, found.st_ino


_SHORT_SECRET = 6
_NOWHERE = "no nlui.yaml here and no address given: there are no targets (nlui init writes a file to start from)"


@dataclass(frozen=True, slots=True)
class GatewayOptions:
    """What the command line said."""

    source: str | None = None
    """A configuration file, or the address of an API."""
    host: str | None = None
    port: int | None = None
    mode: Mode | None = None
    compact: bool = False
    verbosity: int = 0
    quiet: bool = False
    """Whether the command reports warnings itself."""
    settings: GatewaySettings | None = None
    """Settings made by the program itself; no file is read then."""
    load: Load = load
    """Reads the configuration file, at first and after each change."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """Settings with what they were read from."""

    settings: GatewaySettings
    warnings: list[str]
    variables: frozenset[str]
    file: Path | None = None
    """None when there is none."""
    stamp: Stamp = (0, 0, 0)
    """Of the file, before it was read."""
    load: Load = load
    """Reads the file again after a change."""
    not_agreed: str = ""
    """Why the file is not in effect; "" when it is."""

    @property
    def writable(self) -> Path | None:
        """Where changes made on the page are written; None where there is no file that is in effect."""
        return None if self.not_agreed else self.file


def configuration(asked: GatewayOptions) -> Configuration:
    """Read the configuration, or make one of a bare address or document."""
    if asked.settings is not None:
        return Configuration(asked.settings, [], frozenset())
    source = asked.source
    if source and _is_document(source):
        name = urlsplit(source).hostname or Path(source).stem if "://" in source else Path(source).stem
        key = "base_url" if "://" in source else "spec"
        target = TargetSettings.model_validate({"name": name, key: source})
        return Configuration(GatewaySettings(targets=(target,)), [], frozenset())
    file = find(source, os.environ, user_config_path())
    if file is None:
        return Configuration(GatewaySettings(), [_NOWHERE], frozenset())
    load = load_found if found_file(source) else asked.load
    stamp = stamp_of(file)
    try:
        loaded = load(file)
    except NotAgreedError as error:
        why = error.message
        return Configuration(GatewaySettings(), [why], frozenset(), place_of(file), stamp, load, why)
    empty = [] if loaded.settings.targets or loaded.settings.backends else [_nothing(file)]
    return Configuration(loaded.settings, loaded.warnings + empty, loaded.variables, place_of(file), stamp, load)


def _nothing(file: Path) -> str:
    return f"{file}: names no targets and no servers; add them there, or on the page of the chat"


def _is_document(source: str) -> bool:
    if source.startswith(("http://", "https://")):
        return True
    path = Path(source)
    if not path.is_file() or path.name == FILE:
        return False
    from ui_mcp.gateway.config.parse import is_openapi, parse

    try:
        return is_openapi(parse(path.read_bytes()))
    except ConfigError:
        return False  # reading it as a configuration names the line


def _may_be_secret(value: str) -> bool:
    """Say whether a value taken from the environment must not be shown; paths, addresses and numbers may be."""
    return len(value) >= _SHORT_SECRET and not value.isdigit() and not value.startswith(("/", "~", ".", "http"))
