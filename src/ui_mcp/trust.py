"""The person's agreements to settings that widen rights, so that a cloned repository cannot widen them by itself.

An agreement is valid for one path (a base directory, or a file) with exactly these contents, and is stored in the
account's configuration directory, as direnv does; changed contents need a new agreement.
"""

import hashlib
import json
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path

from platformdirs import user_config_path

from ui_mcp.errors import ConfigError
from ui_mcp.files import PRIVATE, write_atomic
from ui_mcp.jsontypes import Json, JsonObject

WIDENING = frozenset(
    {
        "server.host",
        "server.allowed_hosts",
        "server.allowed_origins",
        "server.allowed_users",
        "lua.host",
        "lua.permissions.read",
        "lua.permissions.write",
        "lua.permissions.exec",
        "lua.permissions.env",
        "introspection.allow_attach",
        "introspection.allow_cookies",
        "introspection.allow_evaluate",
        "introspection.chromium",
        "gateway.config",
        "phone.certificate",
        "phone.email",
        "phone.host",
        "phone.key",
        "phone.ntfy",
        "phone.push_services",
        "phone.smtp",
        "phone.url",
        "phone.webhook",
        "session.group_key_file",
        "storage.url",
        "update.index",
    }
)
"""Settings that give apps, agents or the network more than the default does."""


def widening(tree: Mapping[str, Json], defaults: Mapping[str, Json]) -> JsonObject:
    """Return the settings of a configuration file that widen rights, by dotted key; pure."""
    found: JsonObject = {}
    for key in sorted(WIDENING):
        given, default = _value(tree, key), _value(defaults, key)
        if given is not None and not _within(given, default):
            found[key] = given
    return found


def without(tree: JsonObject, keys: Mapping[str, Json]) -> JsonObject:
    """Return a copy of `tree` without these dotted keys."""
    kept = deepcopy(tree)
    for key in keys:
        *path, last = key.split(".")
        node: Json = kept
        for part in path:
            node = node[part]
        del node[last]
    return kept


def digest(contents: Json | bytes) -> str:
    """Return the SHA-256 of settings or of a file's bytes, in hexadecimal."""
    # default=str: TOML has dates and times, JSON has not.
    data = contents if isinstance(contents, bytes) else json.dumps(contents, sort_keys=True, default=str).encode()
    return hashlib.sha256(data).hexdigest()


def config_folder() -> Path:
    """Return the account's configuration directory."""
    return user_config_path("ui-mcp", appauthor=False)


def place_of(file: Path) -> Path:
    """Return the path under which an agreement about a file is stored."""
    # A link at the file itself is not resolved: it would reuse the agreement about another file.
    return file.parent.resolve() / file.name


class Agreements:
    def __init__(self, file: Path | None = None) -> None:
        self.file = file or config_folder() / "trusted.json"

    def hold(self, place: Path, contents: Json | bytes) -> bool:
        """Return whether the person agreed to exactly these contents at this path."""
        return self._read().get(str(place)) == digest(contents)

    def add(self, place: Path, contents: Json | bytes) -> None:
        """Store an agreement; it replaces an earlier one for the path.

        Raises:
            ConfigError: the file of agreements cannot be written.
        """
        self._write(self._read() | {str(place): digest(contents)})

    def remove(self, place: Path) -> bool:
        """Delete an agreement and return whether there was one.

        Raises:
            ConfigError: the file of agreements cannot be written.
        """
        known = self._read()
        if str(place) not in known:
            return False
        self._write({path: value for path, value in known.items() if path != str(place)})
        return True

    def _read(self) -> dict[str, str]:
        try:
            found = json.loads(self.file.read_bytes())
        except (OSError, ValueError):
            return {}
        return {str(path): str(value) for path, value in found.items()} if isinstance(found, dict) else {}

    def _write(self, known: dict[str, str]) -> None:
        try:
            self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_atomic(self.file, json.dumps(known, indent=2, sort_keys=True).encode(), mode=PRIVATE)
        except OSError as error:
            raise ConfigError(f"{self.file} cannot be written: {error.strerror or error}") from error


def _value(tree: Mapping[str, Json], key: str) -> Json:
    node: Json = tree
    for part in key.split("."):
        node = node.get(part) if isinstance(node, Mapping) else None
    return node


def _within(given: Json, default: Json) -> bool:
    """Return whether a value grants no more than the default: equal to it, false, or a subset of its list."""
    if isinstance(given, list) and isinstance(default, (list, tuple)):
        return set(map(str, given)) <= set(map(str, default))
    return given is False or given == default
