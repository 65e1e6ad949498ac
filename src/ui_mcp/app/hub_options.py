"""What clients ask of a gateway's hub, and where they find the hub that they share."""

import hashlib
import os
import re
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from ui_mcp.jsontypes import JsonObject, dumps, sorted_dumps
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.local_socket import PROTOCOL, SocketPlace
from ui_mcp.person import state_folder

COMMAND = "gateway-hub"
"""Hidden command by which a client starts a hub."""
FOLDERS = ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "NLUI_CONFIG")
"""Environment variables that say where a gateway finds its files."""
_VARIABLE = re.compile(rb"\$\{([A-Za-z_][A-Za-z0-9_]*)")
_MAX_FILE = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class HubOptions:
    """What a client asks of a hub; clients that ask the same share one."""

    source: str | None = None
    """A configuration file, an API description, or the address of an API."""
    host: str | None = None
    mode: str | None = None
    compact: bool = False
    verbosity: int = 0

    def words(self) -> list[str]:
        """Return the command line that starts the hub, without the pipe for its readiness."""
        return [COMMAND, dumps(asdict(self))]

    def place(self) -> SocketPlace:
        """Return where the clients of the hub connect."""
        return SocketPlace(hub_folder(), f"{self._key()}.sock")

    def lock(self) -> Path:
        return hub_folder() / f"{self._key()}.lock"

    def _key(self) -> str:
        """Digest everything that a hub depends on: the file, how it was named, and the variables that it refers to."""
        named = self.source or os.environ.get("NLUI_CONFIG")
        file = Path(named or "nlui.yaml").expanduser()
        found = file.is_file()
        names = {*FOLDERS, *(_variables(file) if found else ())}
        asked: JsonObject = {**asdict(self), "verbosity": 0}
        asked["source"] = str(file.resolve()) if found else named
        # A file that was found needs the person's agreement, one that was named does not: they never share a hub.
        asked |= {"protocol": PROTOCOL, "named": bool(named), "folder": None if found else str(Path.cwd())}
        asked["environment"] = {name: os.environ.get(name) for name in sorted(names)}
        return hashlib.sha256(sorted_dumps(asked).encode()).hexdigest()[:32]


def hub_folder() -> Path:
    """Return the folder of the hubs' sockets and locks, private to the account."""
    folder = state_folder() / "hubs"
    with suppress(OSError):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _variables(file: Path) -> set[str]:
    try:
        with file.open("rb") as stream:
            return {name.decode() for name in _VARIABLE.findall(stream.read(_MAX_FILE))}
    except OSError:
        return set()
