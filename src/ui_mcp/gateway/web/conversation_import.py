"""Reads conversations from the JSON files of this chat, ChatGPT, Claude, LibreChat and Open WebUI."""

from base64 import b64decode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from ui_mcp.agent.journal import NewEvent
from ui_mcp.chat.attachments import MAX_FILES, Attachment, AttachmentStore, safe_name, with_references
from ui_mcp.errors import InvalidArgumentsError
from ui_mcp.jsontypes import Json, JsonObject

Role = Literal["user", "assistant"]
MAX_IMPORT = 100 * 1024 * 1024
"""Bytes of a file with conversations."""
MAX_CONVERSATIONS = 20_000
MAX_MESSAGES = 20_000
MAX_TEXT = 256 * 1024
MAX_DEPTH = 8
"""Lists and objects inside each other in the text of a message; products need three."""
UNKNOWN = (
    "This file has no conversations that are understood\n"
    "JSON files of this chat, ChatGPT, Claude, LibreChat and Open WebUI are."
)
_ROLES: dict[object, Role] = {"user": "user", "human": "user", "assistant": "assistant"}
POST = "chat_assistant_post"


@dataclass(frozen=True, slots=True)
class ImportedMessage:
    role: Role
    text: str
    files: tuple[JsonObject, ...] = ()
    """`{name, data}` with the content in base64."""


@dataclass(frozen=True, slots=True)
class ImportedConversation:
    title: str
    messages: tuple[ImportedMessage, ...]


def conversations_in(given: Json) -> list[ImportedConversation]:
    """Return the conversations of a file that have messages; what is not understood of one is left out.

    Raises:
        InvalidArgumentsError: there is none, or there are too many.
    """
    entries = given if isinstance(given, list) else [given]
    if len(entries) > MAX_CONVERSATIONS:
        raise InvalidArgumentsError(
            f"The file has {len(entries):,} conversations; one of up to {MAX_CONVERSATIONS:,} can be imported"
        )
    found = [_conversation(entry) for entry in entries if isinstance(entry, dict)]
    known = [one for one in found if one.messages]
    if not known:
        raise InvalidArgumentsError(UNKNOWN)
    return known


def _conversation(entry: JsonObject) -> ImportedConversation:
    inner = entry.get("chat")
    source: JsonObject = inner if isinstance(inner, dict) else entry  # Open WebUI wraps its conversations
    title = next((entry[key] for key in ("title", "name") if isinstance(entry.get(key), str)), "")
    read = (message for given in _given_messages(source) if (message := _message(given)) is not None)
    return ImportedConversation(title, tuple(message for _, message in zip(range(MAX_MESSAGES), read, strict=False)))


def _given_messages(source: JsonObject) -> Iterator[Json]:
    mapping = source.get("mapping")
    if isinstance(mapping, dict):
        yield from _branch(mapping, source.get("current_node"))
        return
    listed: list[Json] = next(
        (source[key] for key in ("chat_messages", "messages") if isinstance(source.get(key), list)), []
    )
    yield from listed


def _branch(mapping: JsonObject, newest: Json) -> list[Json]:
    """Return the messages of ChatGPT's tree from its root to the newest one."""
    at = newest if isinstance(newest, str) else next(reversed(mapping), None)
    branch: list[Json] = []
    seen: set[str] = set()
    while isinstance(at, str) and at not in seen and isinstance(node := mapping.get(at), dict):
        seen.add(at)
        branch.append(node.get("message"))
        at = node.get("parent")
    return branch[::-1]


def _message(given: Json) -> ImportedMessage | None:
    if not isinstance(given, dict):
        return None
    author = given.get("author")
    named = author.get("role") if isinstance(author, dict) else given.get("role", given.get("sender"))
    created = given.get("isCreatedByUser")  # LibreChat names the model as the sender
    role = ("user" if created else "assistant") if isinstance(created, bool) else _ROLES.get(named)
    text = _text(given.get("text") or given.get("content"))
    attached = given.get("attachments")
    files = tuple(one for one in attached if _is_file(one)) if isinstance(attached, list) else ()
    if role is None or not (text.strip() or files):
        return None
    return ImportedMessage(role, text[:MAX_TEXT], files[:MAX_FILES])


def _text(content: Json, depth: int = 0) -> str:
    """Return the text of a message, whose form differs between products."""
    if isinstance(content, str):
        return content
    if depth > MAX_DEPTH:
        return ""
    if isinstance(content, dict):
        return _text(content.get("parts") or content.get("text"), depth + 1)
    parts = [_text(part, depth + 1) for part in content] if isinstance(content, list) else []
    return "\n\n".join(part for part in parts if part)


def _is_file(one: Json) -> bool:
    return isinstance(one, dict) and isinstance(one.get("data"), str) and isinstance(one.get("name"), str)


async def events_of(messages: Sequence[ImportedMessage], store: AttachmentStore) -> list[NewEvent]:
    """Return the events of a journal in which these messages were said, and which waits for the next one."""
    events: list[NewEvent] = []
    for number, message in enumerate(messages):
        said: JsonObject = {"message_id": f"imported-{number}", "mime": "text/markdown"}
        if message.role == "user":
            events.append(NewEvent("user_text", {**said, "text": await _with_files(message, store)}))
        else:
            events += _answered(message.text, f"imported-{number}", said)
    return [*events, NewEvent("ui_end_turn", {"reason": "yield"})]


def _answered(text: str, call: str, said: JsonObject) -> list[NewEvent]:
    """Return an answer as the loop writes it: the text for the model, and the post of it for the person."""
    posted: JsonObject = {"call_id": call, "name": POST, "args": {"content": text}, "implicit": True, "silent": True}
    output: JsonObject = {"call_id": call, "text": "", "status": "done", "content": None}
    return [
        NewEvent("assistant_text", {"text": text, "calls": []}),
        NewEvent("tool_call", posted),
        NewEvent("ui_message", {**said, "md": text}),
        NewEvent("function_call_output", output),
    ]


async def _with_files(message: ImportedMessage, store: AttachmentStore) -> str:
    attached: list[Attachment] = []
    for file in message.files:
        try:
            stored = await store.put(b64decode(file["data"], validate=True))
        except (ValueError, InvalidArgumentsError):
            continue  # damaged, empty or too large: the message is worth more than the file
        attached.append(Attachment(safe_name(file["name"]), stored.digest))
        await store.keep(stored.digest)
    return with_references(message.text, attached)
