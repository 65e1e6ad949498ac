"""What the person agreed to: settings that arrive with a repository widen nobody's rights until then.

An agreement holds for one place (a base directory, or a file) with exactly these contents, and is kept in the account's
own configuration directory, as direnv does; a pulled change asks again.
"""

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path

from platformdirs import user_config_path

from ui_mcp.errors import ConfigError
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
        "introspection.chromium",
        "gateway.config",
        "storage.url",
    }
)
"""Settings that give apps, agents or the network more than the default does."""


def widening(tree: Mapping[str, Json], defaults: Mapping[str, Json]) -> JsonObject:
    """Return those settings of a configuration file that widen rights, by their whole keys; pure."""
    found: JsonObject = {}
    for key in sorted(WIDENING):
        given, default = _value(tree, key), _value(defaults, key)
        if given is not None and not _within(given, default):
            found[key] = given
    return found


def without(tree: JsonObject, keys: Mapping[str, Json]) -> JsonObject:
    """Return a copy of the file's contents that lacks these keys."""
    kept = deepcopy(tree)
    for key in keys:
        *path, last = key.split(".")
        node: Json = kept
        for part in path:
            node = node[part]
        del node[last]
    return kept


def digest(contents: Json | bytes) -> str:
    """Return what stands for exactly these settings, or this text."""
    data = contents if isinstance(contents, bytes) else json.dumps(contents, sort_keys=True, default=str).encode()
    return hashlib.sha256(data).hexdigest()


def config_folder() -> Path:
    """Return the account's own configuration directory."""
    return user_config_path("ui-mcp", appauthor=False)


def place_of(file: Path) -> Path:
    """Return what an agreement about a file is kept under; a link there would borrow the one about another file."""
    return file.parent.resolve() / file.name


class Agreements:
    """The agreements of this account."""

    def __init__(self, file: Path | None = None) -> None:
        self.file = file or config_folder() / "trusted.json"

    def hold(self, place: Path, contents: Json | bytes) -> bool:
        """Say whether the person agreed to these contents at this place."""
        return self._read().get(str(place)) == digest(contents)

    def add(self, place: Path, contents: Json | bytes) -> None:
        """Remember that the person agrees; an earlier agreement for the place is replaced.

        Raises:
            ConfigError: it cannot be written.
        """
        self._write(self._read() | {str(place): digest(contents)})

    def remove(self, place: Path) -> bool:
        """Take an agreement back; False when there was none."""
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
        folder = self.file.parent
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(dir=folder, prefix=".trusted-")  # made with mode 0600
            with os.fdopen(descriptor, "w", encoding="utf-8") as draft:
                json.dump(known, draft, indent=2, sort_keys=True)
            Path(name).replace(self.file)
        except OSError as error:
            raise ConfigError(f"{self.file} cannot be written: {error.strerror or error}") from error


def _value(tree: Mapping[str, Json], key: str) -> Json:
    node: Json = tree
    for part in key.split("."):
        node = node.get(part) if isinstance(node, Mapping) else None
    return node


def _within(given: Json, default: Json) -> bool:
    """Say whether a value gives no more than the default: the same, switched off, or a part of the list."""
    if isinstance(given, list) and isinstance(default, (list, tuple)):
        return set(map(str, given)) <= set(map(str, default))
    return given is False or given == default
