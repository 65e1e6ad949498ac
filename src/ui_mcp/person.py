"""Authenticates the person's browser or terminal by one-time codes, which are exchanged for credentials.

Both are stored as SHA-256 in the account's state directory, never in a project, so that all servers of the account
accept the same person, also after a restart. One file per secret makes every step atomic without a lock: the process
that deletes the file of a code has redeemed it.
"""

import hashlib
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from platformdirs import user_state_path

from ui_mcp.processes import pid_exists

RESERVED_PORTS = range(25300, 25500)
"""Where person's listeners listen unless a port is configured or known: driven browsers start without access to these,
so that one that begins to listen later ends none of them."""
CODE_SECONDS = 600.0
IDLE_SECONDS = 30 * 86400.0
_ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
"""Without letters and digits that look alike; 32 characters encode five bits each."""
_TOUCH_SECONDS = 3600.0


def state_folder() -> Path:
    """Return the folder of the account's secrets, which app code and MCP tools cannot read."""
    return user_state_path("ui-mcp", appauthor=False)


class PersonKeys:
    """The codes and credentials of this account."""

    def __init__(self, folder: Path | None = None, clock: Callable[[], float] = time.time) -> None:
        self._folder = folder or state_folder() / "person"
        self._clock = clock

    def new_code(self) -> str:
        """Return a code that admits one browser, once, within ten minutes; show it to the person only."""
        self._drop_expired()
        code = "-".join("".join(secrets.choice(_ALPHABET) for _ in range(4)) for _ in range(4))
        _write(self._file("codes", _normalized(code)))
        return code

    def waits(self, code: str) -> bool:
        """Return whether a code was issued and not redeemed yet."""
        return self._file("codes", _normalized(code)).is_file()

    def redeem(self, code: str) -> bool:
        """Use a code up; return whether it was valid."""
        file = self._file("codes", _normalized(code))
        try:
            fresh = file.stat().st_mtime + CODE_SECONDS > self._clock()
            file.unlink()  # succeeds in one process only
        except (OSError, ValueError):
            return False
        return fresh

    def exchange(self, code: str, listener: str = "", client: str = "") -> str | None:
        """Redeem a code; return a new credential, or None if the code is unknown, redeemed or expired.

        The credential is valid at `listener` only: another server may use its address later, and its pages could read
        the credential from the browser's storage of that origin. What the browser says about itself is not kept.
        """
        if not self.redeem(code):
            return None
        credential = secrets.token_urlsafe(32)
        _write(self._file("credentials", credential), listener)
        return credential

    def recognises(self, credential: str | None, listener: str = "") -> bool:
        """Return whether `credential` is valid at `listener`; credentials expire after 30 days without use."""
        if not credential:
            return False
        file = self._file("credentials", credential)
        try:
            idle = self._clock() - file.stat().st_mtime
            here = file.read_text() == listener
        except (OSError, UnicodeDecodeError):
            return False
        if not here:
            return False
        if idle > IDLE_SECONDS:
            file.unlink(missing_ok=True)
            return False
        if idle > _TOUCH_SECONDS:  # the time of last use, hourly at most to save writes
            with suppress(OSError):
                os.utime(file)
        return True

    def forget(self, credential: str) -> None:
        """Revoke one credential, as signing out does."""
        self._file("credentials", credential).unlink(missing_ok=True)

    def forget_all(self) -> int:
        """Revoke every credential and code of this account; return the number of credentials."""
        files = list((self._folder / "credentials").glob("*"))
        for file in (*files, *(self._folder / "codes").glob("*")):
            file.unlink(missing_ok=True)
        return len(files)

    def forget_listener(self, listener: str) -> None:
        """Revoke the credentials of one listener, because another server uses its address now and could read them."""
        for file in (self._folder / "credentials").glob("*"):
            with suppress(OSError):
                if file.read_text() == listener:
                    file.unlink()

    def _file(self, kind: str, secret: str) -> Path:
        return self._folder / kind / hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()

    def _drop_expired(self) -> None:
        for file in (self._folder / "codes").glob("*"):
            with suppress(OSError):
                if file.stat().st_mtime + CODE_SECONDS < self._clock():
                    file.unlink()


@contextmanager
def registered_listener(port: int, folder: Path | None = None) -> Iterator[None]:
    """Register a person's listener at `port` during the block, so that driven browsers do not open it."""
    file = (folder or state_folder() / "listeners") / str(port)
    _write(file, str(os.getpid()))
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def listener_ports(folder: Path | None = None) -> frozenset[int]:
    """Return the ports of all person's listeners of this account; entries of dead processes are deleted."""
    found = set()
    for file in (folder or state_folder() / "listeners").glob("*"):
        try:
            alive = pid_exists(int(file.read_text()))
            port = int(file.name)
        except (OSError, ValueError):
            continue
        if alive:
            found.add(port)
        else:
            file.unlink(missing_ok=True)
    return frozenset(found)


def reserved_ports(base: Path) -> Iterator[int]:
    """Yield the reserved ports, each base directory from another one on."""
    first = int.from_bytes(hashlib.sha256(os.fsencode(base)).digest()[:4], "big")
    return (RESERVED_PORTS[(first + at) % len(RESERVED_PORTS)] for at in range(len(RESERVED_PORTS)))


def last_port(base: Path) -> int | None:
    """Return the last port of the person's listener of a base directory.

    It is read from the account's state folder, which app code cannot write.
    """
    try:
        return int(_port_file(base).read_text())
    except (OSError, ValueError):
        return None


def remember_port(base: Path, port: int) -> None:
    """Store the port of the person's listener of a base directory for its next start."""
    with suppress(OSError):
        _write(_port_file(base), str(port))


def _port_file(base: Path) -> Path:
    return state_folder() / "ports" / hashlib.sha256(os.fsencode(base)).hexdigest()


def _normalized(code: str) -> str:
    """Return a code without dashes and spaces in upper case, however it was typed."""
    return "".join(letter for letter in code.upper() if letter.isalnum())


def _write(file: Path, text: str = "") -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.parent.chmod(0o700)
    descriptor = os.open(file, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o600)
    with os.fdopen(descriptor, "w") as stream:
        stream.write(text)


def introduced() -> bool:
    """Return whether this account has seen the introduction of the person's page."""
    return _introduced_file().is_file()


def set_introduced(seen: bool) -> None:
    """Remember whether this account has seen the introduction."""
    with suppress(OSError):  # it is offered again
        if seen:
            _write(_introduced_file())
        else:
            _introduced_file().unlink(missing_ok=True)


def _introduced_file() -> Path:
    return state_folder() / "introduced"
