"""How a browser or terminal proves to be the person: one-time codes, and the credential that a code is changed for.

Both are kept as SHA-256 in the account's own state directory, never in a project, so that every server of the account
accepts the same person and a restart asks nothing. A file per secret makes each step atomic without a lock: whoever
removes a code's file has spent it.
"""

import hashlib
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from platformdirs import user_state_path

CODE_SECONDS = 600.0
IDLE_SECONDS = 30 * 86400.0
_ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
"""Without the letters and digits that people mix up; 32 signs are five bits each."""
_TOUCH_SECONDS = 3600.0


def state_folder() -> Path:
    """Return where the account's own secrets are; app code and MCP tools never get to it."""
    return user_state_path("ui-mcp", appauthor=False)


class PersonKeys:
    """The codes and credentials of this account."""

    def __init__(self, folder: Path | None = None, clock: Callable[[], float] = time.time) -> None:
        self._folder = folder or state_folder() / "person"
        self._clock = clock

    def new_code(self) -> str:
        """Return a code that lets one browser in, once, within ten minutes; show it to the person only."""
        self._drop_expired()
        code = "-".join("".join(secrets.choice(_ALPHABET) for _ in range(4)) for _ in range(4))
        _write(self._file("codes", _plain(code)))
        return code

    def waits(self, code: str) -> bool:
        """Say whether a code has been given out and not been used yet."""
        return self._file("codes", _plain(code)).is_file()

    def exchange(self, code: str, listener: str = "") -> str | None:
        """Spend a code; return a new credential, or None for a code that is unknown, spent or too old.

        The credential is good only at `listener`: another page may be served at its address one day, and would find
        the credential in the browser's storage of that address.
        """
        file = self._file("codes", _plain(code))
        try:
            fresh = file.stat().st_mtime + CODE_SECONDS > self._clock()
            file.unlink()
        except (OSError, ValueError):
            return None
        if not fresh:
            return None
        credential = secrets.token_urlsafe(32)
        _write(self._file("credentials", credential), listener)
        return credential

    def recognises(self, credential: str | None, listener: str = "") -> bool:
        """Say whether this is the credential of the person at `listener`; a month without use ends it."""
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
        if idle > _TOUCH_SECONDS:
            with suppress(OSError):
                os.utime(file)
        return True

    def forget(self, credential: str) -> None:
        """End one credential, as signing out does."""
        self._file("credentials", credential).unlink(missing_ok=True)

    def forget_all(self) -> int:
        """End every credential and code of this account; return how many browsers were let in."""
        files = list((self._folder / "credentials").glob("*"))
        for file in (*files, *(self._folder / "codes").glob("*")):
            file.unlink(missing_ok=True)
        return len(files)

    def forget_listener(self, listener: str) -> None:
        """End the credentials of one listener: other pages are served at its address now and could read them."""
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
    """Record for the length of the block that a person's listener is at `port`, so that driven browsers keep away."""
    file = (folder or state_folder() / "listeners") / str(port)
    _write(file, str(os.getpid()))
    try:
        yield
    finally:
        file.unlink(missing_ok=True)


def listener_ports(folder: Path | None = None) -> frozenset[int]:
    """Return the ports of every person's listener of this account; those of dead processes are dropped."""
    found = set()
    for file in (folder or state_folder() / "listeners").glob("*"):
        try:
            alive = _alive(int(file.read_text()))
            port = int(file.name)
        except (OSError, ValueError):
            continue
        if alive:
            found.add(port)
        else:
            file.unlink(missing_ok=True)
    return frozenset(found)


def last_port(base: Path) -> int | None:
    """Return where the person's listener of a base directory was; app code cannot change what is said here."""
    try:
        return int(_port_file(base).read_text())
    except (OSError, ValueError):
        return None


def remember_port(base: Path, port: int) -> None:
    """Note where the person's listener of a base directory is, for its next start."""
    with suppress(OSError):
        _write(_port_file(base), str(port))


def _port_file(base: Path) -> Path:
    return state_folder() / "ports" / hashlib.sha256(os.fsencode(base)).hexdigest()


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _plain(code: str) -> str:
    """Read a code as people type it: any case, with or without dashes and spaces."""
    return "".join(letter for letter in code.upper() if letter.isalnum())


def _write(file: Path, text: str = "") -> None:
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    file.parent.chmod(0o700)
    descriptor = os.open(file, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o600)
    with os.fdopen(descriptor, "w") as stream:
        stream.write(text)
