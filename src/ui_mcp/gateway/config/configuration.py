"""Resolves what a gateway runs with: a file or an address, the person's agreement, and warnings."""

import os
from pathlib import Path
from urllib.parse import urlsplit

import anyio
from platformdirs import user_config_path

from ui_mcp.errors import ConfigError
from ui_mcp.gateway.config.agreed_files import NotAgreedError, found_file, load_found
from ui_mcp.gateway.config.loader import FILE, Load, find, load
from ui_mcp.gateway.config.parse import is_openapi, parse
from ui_mcp.gateway.config.settings import GatewaySettings, Mode, TargetSettings
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.trust import place_of
from ui_mcp.validation import read

Stamp = tuple[int, int, int]
"""Modification time in nanoseconds, size and inode of a file."""


async def read_stamp(file: Path) -> Stamp:
    return await anyio.to_thread.run_sync(stamp_of, file)


def stamp_of(file: Path) -> Stamp:
    """Return a value that differs after every change of a file; zeros if there is no such file."""
    try:
        found = file.stat()
    except OSError:
        return 0, 0, 0
    return found.st_mtime_ns, found.st_size, found.st_ino


_MIN_SECRET_LENGTH = 6
_NO_FILE = "no nlui.yaml here and no address given: there are no targets (nlui init writes a file to start from)"


@dataclass(frozen=True, slots=True)
class GatewayOptions:
    """Options from the command line or the embedding program."""

    source: str | None = None
    """A configuration file, an API description, or the address of an API."""
    host: str | None = None
    port: int | None = None
    mode: Mode | None = None
    compact: bool = False
    verbosity: int = 0
    quiet: bool = False
    """Whether only errors are logged, because the command reports warnings itself."""
    settings: GatewaySettings | None = None
    """Settings built by the program; no file is read then."""
    load: Load = load
    """Reads the configuration file, at the start and after each change."""


@dataclass(frozen=True, slots=True)
class Configuration:
    """Settings and where they came from."""

    settings: GatewaySettings
    warnings: list[str]
    variables: frozenset[str]
    """Environment variables that the settings refer to."""
    file: Path | None = None
    stamp: Stamp = (0, 0, 0)
    """The stamp of the file before it was read."""
    load: Load = load
    """Reads the file again after a change."""
    not_agreed: str = ""
    """Why the file is not in effect, "" if it is."""

    @property
    def writable(self) -> Path | None:
        """The file to which changes made on the page are written; None if no file is in effect."""
        return None if self.not_agreed else self.file


def configuration(options: GatewayOptions) -> Configuration:
    """Read the configuration, or build one from the address or description of an API."""
    if options.settings is not None:
        return Configuration(options.settings, [], frozenset())
    source = options.source
    if source and _is_document(source):
        name = urlsplit(source).hostname or Path(source).stem if "://" in source else Path(source).stem
        key = "base_url" if "://" in source else "spec"
        target = read(TargetSettings, {"name": name, key: source})
        return Configuration(GatewaySettings(targets=(target,)), [], frozenset())
    file = find(source, os.environ, user_config_path())
    if file is None:
        return Configuration(GatewaySettings(), [_NO_FILE], frozenset())
    load = load_found if found_file(source) else options.load
    stamp = stamp_of(file)
    try:
        loaded = load(file)
    except NotAgreedError as error:
        why = error.message
        return Configuration(GatewaySettings(), [why], frozenset(), place_of(file), stamp, load, why)
    empty = [] if loaded.settings.targets or loaded.settings.backends else [_empty_warning(file)]
    return Configuration(loaded.settings, loaded.warnings + empty, loaded.variables, place_of(file), stamp, load)


def _empty_warning(file: Path) -> str:
    return f"{file}: names no targets and no servers; add them there, or on the page of the chat"


def _is_document(source: str) -> bool:
    if source.startswith(("http://", "https://")):
        return True
    path = Path(source)
    if not path.is_file() or path.name == FILE:
        return False
    try:
        return is_openapi(parse(path.read_bytes()))
    except ConfigError:
        return False  # reading it as a configuration reports the line of the error


def may_be_secret(value: str) -> bool:
    """Return whether a value from the environment must be masked; paths, addresses and numbers are not."""
    return len(value) >= _MIN_SECRET_LENGTH and not value.isdigit() and not value.startswith(("/", "~", ".", "http"))
