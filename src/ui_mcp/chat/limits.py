"""What may be posted and asked for, with an error that says how to do better."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ui_mcp.chat.message import Draft
from ui_mcp.errors import ChatError
from ui_mcp.jsontypes import Json

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_CURSOR = re.compile(r"[0-9]{1,19}")
_LARGEST = 2**63 - 1
_KIB = 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """How much one message, batch, page or window may hold."""

    content_bytes: int = 256 * _KIB
    mimes: tuple[str, ...] = ("text/markdown", "text/plain")
    batch: int = 100
    client_id_chars: int = 128
    page: int = 1000
    window: int = 1000
    page_bytes: int = 1024 * _KIB
    wait_seconds: float = 120.0

    def check_drafts(self, drafts: Sequence[Draft]) -> None:
        """Refuse a batch that holds too many, too large or empty messages.

        Raises:
            ChatError: invalid_argument, empty_content, content_too_large or unsupported_mime.
        """
        if not 1 <= len(drafts) <= self.batch:
            raise ChatError(f"A batch holds 1 to {self.batch} messages, not {len(drafts)}", "invalid_argument")
        for draft in drafts:
            self._check(draft)

    def _check(self, draft: Draft) -> None:
        if not draft.content.strip():
            raise ChatError("The message is empty", "empty_content")
        if "\0" in draft.content or not _encodable(draft.content):
            raise ChatError("The message holds NUL or other characters that are not text", "invalid_argument")
        size = len(draft.content.encode())
        if size > self.content_bytes:
            message = f"The message has {size} bytes; at most {self.content_bytes} fit. Split it or link to a file."
            raise ChatError(message, "content_too_large", size=size, limit=self.content_bytes)
        if draft.mime not in self.mimes:
            message = f"Cannot post {draft.mime!r}; use one of {', '.join(self.mimes)}"
            raise ChatError(message, "unsupported_mime", mime=draft.mime, allowed=list(self.mimes))
        self._check_client_id(draft.client_id)

    def _check_client_id(self, client_id: str | None) -> None:
        if client_id is None:
            return
        if not 1 <= len(client_id) <= self.client_id_chars or "\0" in client_id or not _encodable(client_id):
            raise ChatError(f"client_id has 1 to {self.client_id_chars} characters of text", "invalid_argument")

    def page_size(self, limit: Json) -> int:
        """Return how many messages a page may hold; larger wishes are cut, senseless ones refused.

        Raises:
            ChatError: invalid_argument.
        """
        if limit is None:
            return self.page
        if not isinstance(limit, int) or isinstance(limit, bool) or limit < 1:
            raise ChatError(f"limit is a whole number from 1 to {self.page}, not {limit!r}", "invalid_argument")
        return min(limit, self.page)


def cursor(text: str | None) -> int:
    """Read a cursor; absent or empty means "from the start".

    Raises:
        ChatError: invalid_cursor.
    """
    if not text:
        return 0
    if not _CURSOR.fullmatch(text) or not text.isascii():
        raise ChatError(f"Not a message id: {text[:40]!r}; pass the last_id of an earlier answer", "invalid_cursor")
    return min(int(text), _LARGEST)


def conversation_name(name: str) -> str:
    """Return `name` if a conversation can be called so.

    Raises:
        ChatError: unknown_conversation.
    """
    if not _NAME.fullmatch(name):
        message = f"No conversation is called {name[:80]!r}; names are 1 to 64 letters, digits, dots, - and _"
        raise ChatError(message, "unknown_conversation")
    return name


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
