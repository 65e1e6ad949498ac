"""Unpacks zip and tar archives from untrusted sources: plain files inside the folder only, within limits."""

import bz2
import gzip
import io
import lzma
import stat
import tarfile
import zipfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Protocol

from ui_mcp.errors import RefusedError
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
