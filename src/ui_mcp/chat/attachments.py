"""Files that people attach to messages: kept by their digest, and referred to in the text of the message.

A message says `[photo.png](attachment:DIGEST)`. So a file is delivered exactly as often as its message, in whatever
store that is, and uploading it again changes nothing.
"""

import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from anyio import to_thread

from ui_mcp.errors import InvalidArgumentsError, NotFoundError
from ui_mcp.files import make_private, write_atomic

MAX_BYTES = 10 * 1024 * 1024
MAX_FILES = 10
"""Most files of one message."""
NAME_CHARS = 80
UNSENT_SECONDS = 7 * 24 * 3600
"""How long an upload waits to be sent."""
TEXT, UNKNOWN = "text/plain", "application/octet-stream"
IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_REFERENCE = re.compile(r"\[([^\]\n]{1,80})\]\(attachment:([0-9a-f]{64})\)")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_UNSAFE = re.compile(r"[^\w .()+-]")


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file of a message."""

    name: str
    digest: str

    def reference(self) -> str:
        return f"[{self.name}]({reference_to(self.digest)})"


@dataclass(frozen=True, slots=True)
class StoredFile:
    """The content of a file; `mime` is read from the content, never from what a sender says."""

    digest: str
    mime: str
    data: bytes


def reference_to(digest: str) -> str:
    """Return what stands in every message with this file, whatever it is named there."""
    return f"attachment:{digest}"


def attachments_in(text: str) -> tuple[Attachment, ...]:
    """Return the files that a message refers to, each once."""
    found = {digest: Attachment(name, digest) for name, digest in _REFERENCE.findall(text)}
    return tuple(found.values())[:MAX_FILES]


def without_references(text: str) -> str:
    return _REFERENCE.sub("", text).rstrip()


def with_names(text: str) -> str:
    """Return a message for people who see text only: files by their names."""
    return _REFERENCE.sub(r"\1", text)


def with_references(text: str, attached: list[Attachment]) -> str:
    """Return a message that refers to files."""
    return "\n\n".join(part for part in (text, "\n".join(one.reference() for one in attached)) if part)


def safe_name(name: str) -> str:
    """Return a file name that can stand in a reference."""
    base = re.split(r"[/\\]", name)[-1]
    return " ".join(_UNSAFE.sub(" ", base).split())[-NAME_CHARS:] or "file"


def kind_of(data: bytes) -> str:
    """Return the media type of a content: an image, text, or unknown."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return UNKNOWN
    return UNKNOWN if "\0" in text else TEXT


class AttachmentStore:
    """Keeps files in a folder that only the account can read.

    An upload waits in the folder `unsent` until it is sent with a message; what is not sent is deleted after a week.
    """

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._unsent = folder / "unsent"
        self._clock = clock

    async def put(self, data: bytes) -> StoredFile:
        """Store a content, durably before this returns.

        Raises:
            InvalidArgumentsError: it is empty or too large.
        """
        if not data:
            raise InvalidArgumentsError("The file is empty")
        if len(data) > MAX_BYTES:
            raise InvalidArgumentsError(
                f"The file is larger than {MAX_BYTES // 1024 // 1024} MB\nAttach a smaller one."
            )
        return await to_thread.run_sync(self._put, data)

    async def get(self, digest: str) -> StoredFile:
        """Return a stored content.

        Raises:
            NotFoundError: there is none with this digest.
        """
        if not _DIGEST.fullmatch(digest):
            raise NotFoundError("There is no such attachment")
        return await to_thread.run_sync(self._get, digest)

    async def keep(self, digest: str) -> None:
        """Keep a content from now on, because a message refers to it; call this before the message is stored.

        Raises:
            NotFoundError: there is none with this digest.
        """
        await self.get(digest)
        await to_thread.run_sync(self._keep, digest)

    async def remove(self, digest: str) -> None:
        """Delete a content that no message refers to any more."""
        if _DIGEST.fullmatch(digest):
            await to_thread.run_sync(lambda: (self._folder / digest).unlink(missing_ok=True))

    async def clean(self) -> None:
        """Delete uploads that were not sent."""
        await to_thread.run_sync(self._clean)

    def _put(self, data: bytes) -> StoredFile:
        digest = sha256(data).hexdigest()
        for folder in (self._folder, self._unsent):
            folder.mkdir(parents=True, exist_ok=True)
            make_private(folder)
        self._clean()
        if not (self._folder / digest).exists():
            write_atomic(self._unsent / digest, data, mode=0o600)  # also again: its week begins anew
        return StoredFile(digest, kind_of(data), data)

    def _keep(self, digest: str) -> None:
        with suppress(FileNotFoundError):  # it is kept already
            (self._unsent / digest).replace(self._folder / digest)

    def _clean(self) -> None:
        oldest = self._clock() - UNSENT_SECONDS
        for file in self._unsent.glob("*"):
            with suppress(FileNotFoundError):
                if file.stat().st_mtime < oldest:
                    file.unlink()

    def _get(self, digest: str) -> StoredFile:
        # The first folder twice: a file may be kept between two looks.
        places = (self._folder, self._unsent, self._folder)
        data = next((read for folder in places if (read := _read(folder / digest))), None)
        if data is None:
            raise NotFoundError("There is no such attachment\nIt may have been deleted; attach it again.")
        if sha256(data).hexdigest() != digest:
            raise NotFoundError("The attachment was changed on disk\nAttach it again.")
        return StoredFile(digest, kind_of(data), data)


def _read(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except OSError:
        return None
