"""Forms that an MCP server wants filled in, asked in the inbox where the caller's client cannot show them."""

from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio

from ui_mcp.errors import UiMcpError
from ui_mcp.inbox.model import Field, FieldKind, Option
from ui_mcp.inbox.service import Inbox
from ui_mcp.inbox.words import display_name, shortened
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.log import logger

ELICITATION = "elicitation"
"""The source of these questions."""
LIFETIME = 3600.0
MAX_FIELDS = 50
MAX_MESSAGE = 2_000

AskPerson = Callable[[str, str, JsonObject], Coroutine[Any, Any, JsonObject]]
"""Asks the person: the server's name, who called it, and the parameters of its `elicitation/create`."""

_KINDS: dict[str, FieldKind] = {"string": "text", "number": "number", "integer": "integer", "boolean": "yes_no"}
_log = logger("inbox")


def asking_in(
    open_inbox: Callable[[], AbstractAsyncContextManager[Inbox]], asked: Callable[[], None] = lambda: None
) -> AskPerson:
    """Return how to ask in an inbox; `asked` is called when a question has been stored."""

    async def ask(server: str, agent: str, params: JsonObject) -> JsonObject:
        fields = form_fields(params.get("requestedSchema") or {})
        if fields is None or params.get("mode") == "url":
            return {"action": "decline"}
        message = shortened(str(params.get("message") or "a question without words"), MAX_MESSAGE)
        title, body = f"The server {server} asks: {message}", {"fields": [one.to_json() for one in fields]}
        try:
            async with open_inbox() as inbox:
                question = inbox.new(
                    "form", title, body, source=ELICITATION, agent=display_name(agent), lifetime=LIFETIME, held=True
                )
                await inbox.ask(question)
                asked()
                return await _answer(inbox, question.id)
        except UiMcpError as error:
            _log.warning("a question of the server %s could not be asked: %s", server, error.message)
            return {"action": "cancel"}

    return ask


async def _answer(inbox: Inbox, question_id: str) -> JsonObject:
    try:
        question = await inbox.settled(question_id, LIFETIME + 1)
    except anyio.get_cancelled_exc_class():
        with anyio.CancelScope(shield=True):
            await inbox.withdraw(question_id)
        raise
    if question.status == "answered":
        return {"action": "accept", "content": (question.answer or {}).get("values") or {}}
    return {"action": "decline" if question.status == "declined" else "cancel"}


def form_fields(schema: Json) -> Sequence[Field] | None:
    """Return the fields of a requested schema, which is flat by the specification; None if it is no form."""
    if not isinstance(schema, dict):
        return None
    properties, required = schema.get("properties", {}), schema.get("required")
    if not isinstance(properties, dict) or len(properties) > MAX_FIELDS:
        return None
    named = frozenset(required if isinstance(required, list) else ())
    fields = [_field(name, part, required=name in named) for name, part in properties.items()]
    return None if None in fields else [one for one in fields if one is not None]


def _field(name: str, part: Json, *, required: bool) -> Field | None:
    if not isinstance(part, dict):
        return None
    kind, options = _kind(part)
    if kind is None:
        return None
    label, text = str(part.get("title") or name), str(part.get("description") or "")
    return Field(name, label, kind, options, required=required, help=text, default=part.get("default"))


def _kind(part: JsonObject) -> tuple[FieldKind | None, tuple[Option, ...]]:
    if part.get("type") == "array":
        items = part.get("items")
        options = _options(items) if isinstance(items, dict) else ()
        return ("choices" if options else None), options
    options = _options(part)
    if options:
        return "choice", options
    return _KINDS.get(str(part.get("type"))), ()


def _options(part: JsonObject) -> tuple[Option, ...]:
    """Return the choices of a schema: `enum`, with or without `enumNames`, or constants with titles."""
    listed = part.get("oneOf") or part.get("anyOf")
    if isinstance(listed, list):
        found = [one for one in listed if isinstance(one, dict) and isinstance(one.get("const"), str)]
        return tuple(Option(one["const"], str(one.get("title") or one["const"])) for one in found)
    values, names = part.get("enum"), part.get("enumNames")
    if not isinstance(values, list):
        return ()
    labels = names if isinstance(names, list) and len(names) == len(values) else values
    return tuple(
        Option(value, str(label)) for value, label in zip(values, labels, strict=True) if isinstance(value, str)
    )
