"""Servers that were mounted while the gateway ran; they come back after a restart.

Where the data directory lies in a project, a repository could bring such a file, and with it commands: there only what
this account has written itself counts.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

from platformdirs import user_data_path
from pydantic import TypeAdapter, ValidationError

from ui_mcp.account_seal import is_sealed, seal
from ui_mcp.compositor.canonical import canonical
from ui_mcp.errors import DiskError
from ui_mcp.gateway.config.settings import BackendSettings
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.log import logger

_log = logger("compositor.mounts")
_LIST = TypeAdapter(tuple[BackendSettings, ...])
_FILE = TypeAdapter(dict[str, Json])


class KeptMounts:
    """A small file of mode 0600, since environments and headers may hold secrets."""

    def __init__(self, file: Path) -> None:
        self._file = file.absolute()
        self._changing = Lock()
        """Held from reading to writing: several servers may be mounted at once, each in a thread of its own."""

    def load(self) -> Sequence[BackendSettings]:
        """Return what was mounted; a damaged file, or one that somebody else wrote, counts as none and is told."""
        try:
            kept = _FILE.validate_json(self._file.read_bytes())
            if not self._is_ours(kept):
                _log.warning("%s was not written by this account: its servers are not mounted", self._file)
                return ()
            return _LIST.validate_python(kept["servers"])
        except FileNotFoundError:
            return ()
        except (OSError, ValidationError, KeyError) as error:
            _log.warning("%s cannot be read, its servers are not mounted: %s", self._file, error)
            return ()

    def add(self, settings: BackendSettings) -> None:
        """Remember a server."""
        with self._changing:
            others = [one for one in self.load() if one.name != settings.name]
            self._save([*others, settings])

    def remove(self, name: str) -> None:
        """Forget a server."""
        with self._changing:
            held = self.load()
            left = [one for one in held if one.name != name]
            if len(left) != len(held):
                self._save(left)

    def _save(self, mounts: Sequence[BackendSettings]) -> None:
        try:
            self._write(mounts)
        except OSError as error:
            raise DiskError(f"Cannot keep the mounted servers in {self._file}", error) from error

    def _write(self, mounts: Sequence[BackendSettings]) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        servers = [one.model_dump(mode="json", exclude_defaults=True) for one in mounts]
        kept = {"servers": servers, "seal": seal(self._file, canonical(servers))}
        draft = self._file.with_suffix(".new")
        draft.unlink(missing_ok=True)  # a link there would lead elsewhere
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
            json.dump(kept, stream, indent=1)
        draft.replace(self._file)

    def _is_ours(self, kept: JsonObject) -> bool:
        if self._file.is_relative_to(user_data_path("nlui")):
            return True
        return is_sealed(kept.get("seal"), self._file, canonical(kept["servers"]))
