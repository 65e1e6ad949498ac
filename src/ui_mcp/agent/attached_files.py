"""Gives models what people attached: images to those that see, text as text, anything else as a note."""

from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import replace

from ui_mcp.agent.model import Message, Picture, UserMessage, marked
from ui_mcp.chat.attachments import (
    IMAGES,
    TEXT,
    Attachment,
    AttachmentStore,
    StoredFile,
    attachments_in,
    without_references,
)
from ui_mcp.errors import NotFoundError

MAX_PICTURES = 20
"""Most images in one request, the newest ones; earlier ones become notes."""
MAX_TEXT = 100_000
"""Characters of a text file that are sent."""


class AttachedFiles:
    """Resolves the references in people's messages, for one model."""

    def __init__(self, store: AttachmentStore, sees: Callable[[], bool]) -> None:
        self._store = store
        self._sees = sees

    async def resolved(self, messages: Sequence[Message]) -> list[Message]:
        """Return the messages with the contents of their files."""
        left = MAX_PICTURES if self._sees() else 0
        found: list[Message] = []
        for message in reversed(messages):
            if isinstance(message, UserMessage) and message.by_person and attachments_in(message.text):
                whole = await self._whole(message, left)
                left -= len(whole.pictures)
                found.append(whole)
            else:
                found.append(message)
        return found[::-1]

    async def _whole(self, message: UserMessage, left: int) -> UserMessage:
        parts = [without_references(message.text)]
        pictures: list[Picture] = []
        for attached in attachments_in(message.text):
            try:
                stored = await self._store.get(attached.digest)
            except NotFoundError:
                parts.append(f"[{attached.name} was attached, and is not stored any more]")
                continue
            if stored.mime in IMAGES and len(pictures) < left:
                pictures.append(Picture(stored.mime, b64encode(stored.data).decode()))
            else:
                parts.append(_note(attached, stored, sees=self._sees()))
        return replace(message, text="\n\n".join(part for part in parts if part), pictures=tuple(pictures))


def _note(attached: Attachment, stored: StoredFile, *, sees: bool) -> str:
    size = f"{attached.name}, {stored.mime}, {len(stored.data)} bytes"
    if stored.mime == TEXT:
        text = stored.data.decode()
        cut = "" if len(text) <= MAX_TEXT else f"\n[The first {MAX_TEXT} of {len(text)} characters]"
        # The digest of a text cannot stand in it, and unlike a random mark it leaves the vendor's cache valid.
        return f"[Attached: {size}]{cut}\n{marked(text[:MAX_TEXT], stored.digest[:16])}"
    if stored.mime in IMAGES:
        return f"[Attached: {size}; {'an earlier image, not sent again' if sees else 'this model takes no images'}]"
    return f"[Attached: {size}; only its name is known to you]"
