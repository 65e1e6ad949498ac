"""File operations of app code, checked against its permissions."""

import os
import stat
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from ui_mcp.lua_runtime.permissions import DENIED, Permissions, Refusal

FD_FOLDER = "/proc/self/fd"
HAS_O_PATH = hasattr(os, "O_PATH") and os.path.isdir(FD_FOLDER)

Answer = object
"""A value for Lua, or (None, message, error number)."""


class Files:
    """Performs the file operations of one Lua VM and reports those that its permissions refuse."""

    def __init__(self, permissions: Permissions, report: Callable[[Refusal], None]) -> None:
        self.permissions = permissions
        self._report = report
        self._held = -1

    def open(self, path: object, mode: object) -> Answer:
        """Return a name under which Lua can open the checked file; it is valid until the next `open` or `release`."""
        self.release()
        given, how = str(path), str(mode)
        try:
            real = self.permissions.real(given)
            for right in _rights(how):
                refused = self.permissions.refusal(right, real, given)
                if refused is not None:
                    return self._refuse(refused)
            writes = "write" in _rights(how) and not how.startswith("r")
            if not HAS_O_PATH:
                if writes:
                    os.makedirs(os.path.dirname(real), exist_ok=True)
                return real
            with _folder_of(real, make=writes) as (folder, name):
                # O_NONBLOCK: opening a FIFO without a writer would block.
                self._held = os.open(name, _flags(how) | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666, dir_fd=folder)
            if not _ordinary(os.fstat(self._held).st_mode):
                self.release()
                return None, f"{given}: not an ordinary file", DENIED
        except (OSError, ValueError) as error:
            return _failed(given, error)
        return f"{FD_FOLDER}/{self._held}"

    def release(self) -> None:
        """Close the descriptor behind the name that `open` returned, once Lua has opened it."""
        if self._held >= 0:
            os.close(self._held)
        self._held = -1

    def source(self, path: object) -> Answer:
        """Return the Lua source in a file that app code may read."""
        name = self.open(path, "r")
        if not isinstance(name, str):
            return name
        try:
            with open(name, "rb") as file:
                return without_shebang(file.read())
        except OSError as error:
            return _failed(str(path), error)
        finally:
            self.release()

    def append(self, path: object, data: object) -> Answer:
        """Append Base64 data to a file that app code may write; return how many bytes it was."""
        name = self.open(path, "ab")
        if not isinstance(name, str):
            return name
        try:
            with open(name, "ab") as file:
                return file.write(b64decode(str(data), validate=True))
        except (OSError, ValueError) as error:
            return _failed(str(path), error)
        finally:
            self.release()

    def base64(self, path: object, most: object) -> Answer:
        """Return the content of a file that app code may read, of at most so many bytes, as Base64."""
        name = self.open(path, "rb")
        if not isinstance(name, str):
            return name
        try:
            with open(name, "rb") as file:
                data = file.read(int(str(most)) + 1)
        except (OSError, ValueError) as error:
            return _failed(str(path), error)
        finally:
            self.release()
        if len(data) > int(str(most)):
            return None, f"{path}: larger than {most} bytes"
        return b64encode(data).decode()

    def remove(self, path: object) -> Answer:
        """Remove a file, an empty directory or a link itself."""
        given = str(path)
        try:
            entry = self.permissions.entry(given)
            refused = self.permissions.refusal_to_remove(entry, given)
            if refused is not None:
                return self._refuse(refused)
            with _folder_of(entry) as (folder, name):
                is_folder = stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
                (os.rmdir if is_folder else os.unlink)(name, dir_fd=folder)
        except (OSError, ValueError) as error:
            return _failed(given, error)
        return True

    def rename(self, source: object, target: object) -> Answer:
        """Rename a file or directory, but not a symbolic link."""
        given = str(source), str(target)
        try:
            old, new = (self.permissions.entry(path) for path in given)
            refused = self.permissions.refusal_to_rename(old, new, given)
            if refused is not None:
                return self._refuse(refused)
            if os.path.islink(old):
                return None, f"{given[0]}: a link is not renamed", DENIED
            with _folder_of(old) as (source_fd, old_name), _folder_of(new) as (target_fd, new_name):
                os.rename(old_name, new_name, src_dir_fd=source_fd, dst_dir_fd=target_fd)
        except (OSError, ValueError) as error:
            return _failed(given[0], error)
        return True

    def may(self, right: str, real: str, given: str) -> bool:
        """Return whether a resolved path may be used; report it if not."""
        refused = self.permissions.refusal(right, real, given)
        if refused is not None:
            self._report(refused)
        return refused is None

    def exists(self, path: str) -> bool:
        """Return whether there is a file or directory that app code may read."""
        real = self.permissions.real(path)
        return self.may("read", real, path) and os.path.exists(real)

    def lexists(self, path: str) -> bool:
        """Return whether there is a directory entry, also a broken link."""
        return os.path.lexists(self.permissions.entry(path))

    def is_folder(self, path: str) -> bool:
        real = self.permissions.real(path)
        return self.may("read", real, path) and os.path.isdir(real)

    def modified(self, path: str) -> float:
        try:
            return os.stat(self.permissions.real(path)).st_mtime
        except OSError:
            return 0.0

    def names(self, path: str) -> list[str] | None:
        """Return the entries of a directory that app code may read, or None."""
        real = self.permissions.real(path)
        try:
            return os.listdir(real) if self.may("read", real, path) else None
        except OSError:
            return None

    def link_target(self, entry: str) -> str | None:
        """Return where a link leads, or None if there is none that app code may read."""
        try:
            return os.readlink(entry) if self.permissions.refusal("read", entry, entry) is None else None
        except OSError:
            return None

    def read(self, path: str) -> bytes | None:
        """Return the content of a file, or None."""
        name = self.open(path, "r")
        try:
            if isinstance(name, str):
                with open(name, "rb") as file:
                    return file.read(MAX_READ)
        except OSError:
            return None
        finally:
            self.release()
        return None

    def write(self, path: str, data: bytes, *, append: bool = False) -> bool:
        """Write a file and return whether that worked."""
        mode = "a" if append else "w"
        name = self.open(path, mode)
        try:
            if isinstance(name, str):
                with open(name, mode + "b") as file:
                    file.write(data)
                return True
        except OSError:
            return False
        finally:
            self.release()
        return False

    def make_folder(self, path: str, *, parents: bool) -> bool:
        """Create a directory and return whether it exists now."""
        real = self.permissions.real(path)
        if parents and os.path.isdir(real):
            return True
        if not self.may("write", real, path):
            return False
        try:
            with _folder_of(real, make=parents) as (folder, name):
                os.mkdir(name, dir_fd=folder)
        except OSError:
            return False
        return True

    def delete(self, path: str, *, whole: bool) -> bool:
        """Remove a file or link, or a `whole` directory, and return whether that worked."""
        try:
            entry = self.permissions.entry(path)
            if os.path.islink(entry) or not os.path.isdir(entry):
                return self.remove(path) is True
            refused = self.permissions.refusal_to_remove(entry, path)
            if refused is not None:
                self._report(refused)
            if not whole or refused is not None:
                return False
            _delete_tree(entry)
        except OSError:
            return False
        return True

    def _refuse(self, refusal: Refusal) -> Answer:
        self._report(refusal)
        return None, refusal.message, DENIED


@contextmanager
def _folder_of(path: str, *, make: bool = False) -> Iterator[tuple[int | None, str]]:
    """Open the parent of a resolved path, one component at a time; yield its descriptor and the last component.

    `make` creates the directories that are missing.
    """
    if not HAS_O_PATH:
        yield None, path
        return
    folder, name = os.path.split(path)
    at = os.open(os.sep, os.O_PATH | os.O_DIRECTORY)
    try:
        for part in folder.split(os.sep):
            if part:
                if make:
                    with suppress(OSError):  # it exists, or opening it says what is wrong
                        os.mkdir(part, dir_fd=at)
                # O_NOFOLLOW: a link here was created after the permission check.
                below = os.open(part, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=at)
                os.close(at)
                at = below
        yield at, name or "."
    finally:
        os.close(at)


def _delete_tree(folder: str) -> None:
    for parent, folders, files in os.walk(folder, topdown=False):
        for name in files:
            os.unlink(os.path.join(parent, name))
        for name in folders:
            path = os.path.join(parent, name)
            (os.unlink if os.path.islink(path) else os.rmdir)(path)
    os.rmdir(folder)


def _rights(mode: str) -> tuple[str, ...]:
    if "+" in mode:
        return "write", "read"
    return ("write",) if mode[:1] in {"w", "a"} else ("read",)


def _flags(mode: str) -> int:
    access = os.O_RDWR if "+" in mode else os.O_WRONLY if mode[:1] in {"w", "a"} else os.O_RDONLY
    return access | (os.O_CREAT if mode[:1] in {"w", "a"} else 0)


def _ordinary(mode: int) -> bool:
    # Reading from a pipe or socket could block the VM forever.
    return not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))


def _failed(given: str, error: OSError | ValueError) -> Answer:
    if isinstance(error, OSError):
        return None, f"{given}: {error.strerror or error}", error.errno or DENIED
    return None, f"{given}: {error}", DENIED


MAX_READ = 64 * 1024 * 1024
"""Bytes that an emulated command reads of a file."""

MAX_LOGGED = 1000
"""Different refusals per VM that are logged."""

MAX_REPORTED = 5
"""Refusals per VM that reach the pages and the agent; one app can cause thousands of the same kind."""


def without_shebang(text: bytes) -> bytes:
    """Return Lua source with a `#!` line commented out or a byte order mark removed."""
    return b"--" + text if text.startswith(b"#") else text.removeprefix(b"\xef\xbb\xbf")
