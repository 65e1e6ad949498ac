"""Fetches repositories and unpacks archives, both untrusted: plain files inside the folder only, within limits."""

import bz2
import gzip
import io
import lzma
import os
import re
import shutil
import signal
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Protocol
from urllib.parse import unquote, urlsplit

import anyio
from anyio.abc import Process

from ui_mcp.errors import RefusedError
from ui_mcp.processes import WATCHDOG
from ui_mcp.ui.console import MAX_ARCHIVE

MAX_FILES = 2000
MAX_FILE = 8 * 1024 * 1024
MAX_TOTAL = 64 * 1024 * 1024
MAX_DEPTH = 20
_BLOCK = 64 * 1024
_CENTRAL_RECORD = b"PK\x01\x02"
_BROKEN = (
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    NotImplementedError,
    UnicodeError,
    ValueError,
)


class Readable(Protocol):
    """What a file is read from."""

    def read(self, size: int, /) -> bytes: ...


def unpack(data: bytes, folder: Path) -> list[str]:
    """Unpack an archive into an empty folder and return the paths that were left out because they are hidden.

    Raises:
        RefusedError: it is no archive, is damaged or too large, or contains a link, a device or a path that leaves
            the folder; nothing outside `folder` was written.
    """
    if len(data) > MAX_ARCHIVE:
        raise RefusedError(f"The archive is larger than {MAX_ARCHIVE >> 20} MiB")
    target = _Target(folder)
    try:
        (_unpack_zip if data[:2] == b"PK" else _unpack_tar)(data, target)
    except _BROKEN as error:
        raise RefusedError(
            f"The archive cannot be read: {error}\n"
            "Use a zip or tar file (gz, bz2 or xz), and check that it is complete."
        ) from error
    return sorted(target.left_out)


@dataclass(slots=True)
class _Target:
    """Writes what an archive contains, and keeps count."""

    folder: Path
    left_out: list[str] = field(default_factory=list)
    _seen: set[str] = field(default_factory=set)
    _total: int = 0

    def write(self, name: str, source: Readable) -> None:
        parts = safe_parts(name)
        if any(is_hidden(part) for part in parts):
            self.left_out.append("/".join(parts))
            return
        # Case-insensitive file systems would let the second of two such files replace the reviewed first one.
        key = "/".join(parts).casefold()
        if key in self._seen:
            raise RefusedError(f"The archive contains {name!r} twice")
        self._seen.add(key)
        if len(self._seen) > MAX_FILES:
            raise RefusedError(f"The archive contains more than {MAX_FILES} files")
        path = self.folder.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            self._copy(name, source, file)

    def _copy(self, name: str, source: Readable, file: IO[bytes]) -> None:
        size = 0
        while block := source.read(_BLOCK):
            size += len(block)
            self._total += len(block)
            if size > MAX_FILE:
                raise RefusedError(f"{name!r} is larger than {MAX_FILE >> 20} MiB unpacked")
            if self._total > MAX_TOTAL:
                raise RefusedError(f"The archive is larger than {MAX_TOTAL >> 20} MiB unpacked")
            file.write(block)


def safe_parts(name: str) -> list[str]:
    """Return the parts of an archived path.

    Raises:
        RefusedError: the path is absolute, leaves the folder or has characters that no app needs.
    """
    parts = [part for part in name.split("/") if part not in {"", "."}]
    odd = name.startswith("/") or "\\" in name or ":" in name or any(not char.isprintable() for char in name)
    if odd or ".." in parts or not parts or len(parts) > MAX_DEPTH or max(map(len, parts)) > 200:
        raise RefusedError(f"The archive contains a path that is not allowed: {name!r}")
    if any(part.endswith((" ", ".")) for part in parts):  # Windows would strip these
        raise RefusedError(f"The archive contains a path that is not allowed: {name!r}")
    return parts


def is_hidden(part: str) -> bool:
    """Return whether a file or folder of this name is not part of an app."""
    return part.startswith(".") or part in {"__MACOSX", "node_modules"} or part.endswith((".fossil", "~"))


def _unpack_zip(data: bytes, target: _Target) -> None:
    if data.count(_CENTRAL_RECORD) > 2 * MAX_FILES:  # before zipfile makes an object of each
        raise RefusedError(f"The archive contains more than {MAX_FILES} files")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist():
            kind = stat.S_IFMT(info.external_attr >> 16)
            if info.flag_bits & 0x1:
                raise RefusedError("The archive is encrypted")
            if kind not in {0, stat.S_IFREG, stat.S_IFDIR}:
                raise RefusedError(f"The archive contains a link or a device: {info.filename!r}")
            if info.is_dir():
                safe_parts(info.filename)
                continue
            with archive.open(info) as source:
                target.write(info.filename, source)


def _unpack_tar(data: bytes, target: _Target) -> None:
    with _decompressed(data) as stream, tarfile.open(fileobj=_Limited(stream), mode="r|") as archive:
        for member in archive:
            if member.isdir():
                _skip_root(member.name)
            elif member.isfile():
                source = archive.extractfile(member)
                if source is not None:
                    target.write(member.name, source)
            else:
                raise RefusedError(f"The archive contains a link or a device: {member.name!r}")


def _skip_root(name: str) -> None:
    if name not in {".", "./"}:
        safe_parts(name)


class _Limited(io.RawIOBase):
    """Ends in an error instead of decompressing without end, also inside tar's own headers."""

    def __init__(self, stream: io.BufferedIOBase) -> None:
        self._stream = stream
        self._left = MAX_TOTAL + MAX_FILES * 2048

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        if size < 0 or size > self._left:
            raise RefusedError(f"The archive is larger than {MAX_TOTAL >> 20} MiB unpacked")
        found = self._stream.read(size)
        self._left -= len(found)
        return found


def _decompressed(data: bytes) -> io.BufferedIOBase:
    raw = io.BytesIO(data)
    if data.startswith(b"\x1f\x8b"):
        return gzip.GzipFile(fileobj=raw)
    if data.startswith(b"BZh"):
        return bz2.BZ2File(raw)
    return lzma.LZMAFile(raw) if data.startswith(b"\xfd7zXZ\x00") else raw


SECONDS = 60.0
MAX_CLONE = 200 * 1024 * 1024
_POLL = 0.25
_SCP = re.compile(r"[\w.-]+@[\w.-]+:[\w./~-]+")
_TREE = re.compile(r"(?P<repo>/[^/]+(?:/[^/]+)+?)(?:/-)?/(?:tree|src/branch|src)/(?P<ref>[^/]+)(?:/(?P<path>.+))?")
_REF = re.compile(r"[\w][\w./+-]*")
_SCHEMES = frozenset({"https", "http", "ssh", "git", "file"})
_ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0",  # never ask at the server's terminal
    "GIT_ASKPASS": "true",
    "SSH_ASKPASS": "true",
    "GIT_SSH_COMMAND": "ssh -oBatchMode=yes -oConnectTimeout=15",
    "GIT_LFS_SKIP_SMUDGE": "1",
    "LC_ALL": "C",
}


@dataclass(frozen=True, slots=True)
class GitAddress:
    """A repository, and what to take from it."""

    repository: str
    ref: str = ""
    """Branch or tag; empty for the default branch."""
    path: str = ""
    """Folder inside the repository; empty for all of it."""


def parse_address(text: str) -> GitAddress:
    """Return what an address names: a repository, or a folder of one as web sites show it (`…/tree/main/apps/x`).

    Raises:
        RefusedError: it is no address of a repository.
    """
    text = text.strip()
    if _SCP.fullmatch(text):
        return GitAddress(text)
    if text.startswith("/"):
        return GitAddress(text)
    parts = urlsplit(text)
    if parts.scheme not in _SCHEMES or not (parts.netloc or parts.scheme == "file") or not parts.path.strip("/"):
        raise RefusedError(
            f"{text[:200]!r} is not the address of a Git repository\n"
            "Use for example https://github.com/OWNER/REPOSITORY or …/tree/main/apps/NAME."
        )
    found = _TREE.fullmatch(unquote(parts.path).rstrip("/")) if parts.scheme in {"https", "http"} else None
    if found is None:
        return GitAddress(text)
    ref, path = found["ref"], found["path"] or ""
    if not _REF.fullmatch(ref) or ".." in path.split("/"):
        raise RefusedError(f"{text[:200]!r} does not name a branch and a folder")
    return GitAddress(f"{parts.scheme}://{parts.netloc}{found['repo']}", ref, path)


async def fetch(address: GitAddress) -> bytes:
    """Return the files of a repository as a tar archive; nothing of it is run or checked out.

    Raises:
        RefusedError: git is missing, or the repository cannot be fetched; the message says why.
    """
    program = shutil.which("git")
    if program is None:
        raise RefusedError("git is not installed\nInstall it, or import an archive (zip or tar) of the app instead.")
    with tempfile.TemporaryDirectory(prefix="ui-mcp-git-") as place:
        folder = Path(place) / "repository.git"
        git = [program, "-c", "protocol.ext.allow=never", "-c", "core.hooksPath=/dev/null"]
        branch = ["--branch", address.ref] if address.ref else []
        clone = [*git, "clone", "--bare", "--depth=1", "--no-tags", "--single-branch", "--template=", *branch]
        await _run([*clone, "--", address.repository, str(folder)], folder, address)
        archive = Path(place) / "files.tar"
        tree = f"HEAD:{address.path}" if address.path else "HEAD"
        await _run([*git, "-C", str(folder), "archive", "--format=tar", f"--output={archive}", tree], folder, address)
        if archive.stat().st_size > MAX_CLONE:
            raise RefusedError(f"The repository is larger than {MAX_CLONE >> 20} MiB")
        return _bounded(archive)


def _bounded(archive: Path) -> bytes:
    if archive.stat().st_size > MAX_ARCHIVE:
        raise RefusedError(
            f"The files are larger than {MAX_ARCHIVE >> 20} MiB\n"
            "Name the folder of one app, for example …/tree/main/apps/NAME."
        )
    return archive.read_bytes()


async def _run(command: Sequence[str], folder: Path, address: GitAddress) -> None:
    environment = {**os.environ, **_ENVIRONMENT}
    process = await anyio.open_process(command, env=environment, stdin=-3, stdout=-3, start_new_session=True)
    WATCHDOG.watch(process.pid)
    try:
        with anyio.move_on_after(SECONDS) as limit:
            said = await _watched(process, folder)
    finally:
        if process.returncode is None:
            _kill(process)
            with anyio.CancelScope(shield=True):
                await process.wait()
        WATCHDOG.forget(process.pid)
        await process.aclose()
    if limit.cancelled_caught:
        raise RefusedError(f"{_shown(address)} did not answer within {SECONDS:.0f} s\n{_OFFLINE}")
    if process.returncode != 0:
        raise RefusedError(_reason(said, address))


async def _watched(process: Process, folder: Path) -> str:
    """Read what git says until it ends; end it when the clone grows too large."""
    said = bytearray()

    async def listen() -> None:
        if process.stderr is not None:
            async for block in process.stderr:
                said.extend(block[: 8192 - len(said)] if len(said) < 8192 else b"")

    async def watch() -> None:
        while process.returncode is None:
            await anyio.sleep(_POLL)
            if await anyio.to_thread.run_sync(_size, folder) > MAX_CLONE:
                said[:] = f"fatal: larger than {MAX_CLONE >> 20} MiB".encode()
                _kill(process)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(listen)
        tasks.start_soon(watch)
        await process.wait()
        tasks.cancel_scope.deadline = anyio.current_time() + 1  # for the rest of the output
    return bytes(said).decode("utf-8", "replace")


def _kill(process: Process) -> None:
    with suppress(ProcessLookupError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def _size(folder: Path) -> int:
    total = 0
    for place, _, files in os.walk(folder):
        for name in files:
            with suppress(OSError):
                total += (Path(place) / name).lstat().st_size
    return total


_OFFLINE = "Check the address and the network, or import an archive (zip or tar) of the app instead."
_REASONS = (
    ("could not resolve host", "cannot be reached: its name is unknown here, or there is no network"),
    ("failed to connect", "cannot be reached"),
    ("couldn't connect", "cannot be reached"),
    ("connection refused", "cannot be reached"),
    ("could not read username", "does not exist, or needs a sign-in that git has not stored"),
    ("permission denied", "does not let you in"),
    ("remote branch", "has no such branch or tag"),
    ("not a valid object name", "has no such folder"),
    ("does not exist", "does not exist"),
    ("not found", "does not exist, or is private"),
    ("larger than", f"is larger than {MAX_CLONE >> 20} MiB"),
)


def _reason(said: str, address: GitAddress) -> str:
    """Return a message for the person from what git printed; pure."""
    low = said.lower()
    known = next((words for mark, words in _REASONS if mark in low), None)
    if known is None:
        lines = [line for line in said.splitlines() if line.strip()]
        shown = "".join(char for char in (lines[-1] if lines else "git failed") if char.isprintable())
        known = f"cannot be fetched: {shown[:300]}"
    return f"{_shown(address)} {known}\n{_OFFLINE}"


def _shown(address: GitAddress) -> str:
    """Return the address without a password in it."""
    return re.sub(r"//[^/@\s]*@", "//", address.repository)
