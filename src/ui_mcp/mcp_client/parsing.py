"""Parses lists and results of foreign MCP servers; malformed parts are dropped or repaired, and noted."""

from base64 import b64decode
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from ui_mcp.errors import UpstreamError
from ui_mcp.jsonrpc.messages import SERVER_KEY
from ui_mcp.jsontypes import Json, JsonObject, dumps
from ui_mcp.mcp_client import shapes
from ui_mcp.toolkit.resources import Resource, ResourceContent, ResourceTemplate
from ui_mcp.toolkit.tool import Annotations, Relayed, Text, Tool, ToolResult

MAX_NOTES = 20
_TOOL_FIELDS = {"name", "title", "description", "inputSchema", "outputSchema", "annotations", "_meta"}
_RESOURCE_FIELDS = {"uri", "name", "title", "description", "mimeType", "size"}
_TEMPLATE_FIELDS = {"uriTemplate", "name", "title", "description", "mimeType"}
_HINTS = {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
_RESULT_FIELDS = {"content", "structuredContent", "isError", "_meta", "resultType", "inputRequests", "requestState"}
_CONTENT_FIELDS = {"uri", "mimeType", "text", "blob", "_meta"}
Note = Callable[[str], None]
T = TypeVar("T")


class MalformedError(UpstreamError):
    """A value does not have the type that the protocol requires."""

    def __init__(self, message: str) -> None:
        super().__init__(message, malformed=True)


class Lists:
    """Parses the lists of one server and keeps notes on what was wrong with each."""

    def __init__(self) -> None:
        self._notes: dict[str, list[str]] = {}

    @property
    def notes(self) -> Sequence[str]:
        """What was dropped or repaired in the latest lists."""
        return [note for notes in self._notes.values() for note in notes]

    def read(self, what: str, pages: Iterable[Json], make: Callable[[JsonObject, Note], T]) -> list[T]:
        """Parse each entry with `make`; malformed entries are dropped and noted."""
        found: list[T] = []
        notes: list[str] = []
        number = 0
        for page in pages:
            if not isinstance(page, list):
                notes.append(f"{what}: a list was expected, not {_kind(page)}")
                continue
            for entry in page:
                number += 1
                try:
                    found.append(self._made(f"{what} {number}", entry, make, notes))
                except MalformedError as error:
                    notes.append(f"{what} {number} is left out: {error.message}")
        more = len(notes) - MAX_NOTES
        self._notes[what] = [*notes[:MAX_NOTES], f"{what}: {more} more"] if more > 0 else notes
        return found

    def _made(self, where: str, entry: Json, make: Callable[[JsonObject, Note], T], notes: list[str]) -> T:
        if not isinstance(entry, dict):
            raise MalformedError(f"an object was expected, not {_kind(entry)}")
        named = entry.get("name")
        shown = f"{where} ({named[:60]})" if isinstance(named, str) else where
        return make(entry, lambda text: notes.append(f"{shown}: {text}"))


def tool(entry: JsonObject, note: Note) -> Tool:
    """Parse a tool.

    Raises:
        MalformedError: it has no usable name, URI or schema.
    """
    schema = _schema(entry, note)
    entry = _conforming(shapes.TOOL, {**entry, "inputSchema": schema}, note)
    hints = _hints(entry.get("annotations"))
    return Tool(
        name=entry["name"],
        title=entry.get("title") or hints.get("title") or entry["name"],
        description=entry.get("description") or "",
        input_schema=schema,
        output_schema=entry.get("outputSchema"),
        annotations=Annotations(
            read_only=hints.get("readOnlyHint"),
            destructive=hints.get("destructiveHint"),
            idempotent=hints.get("idempotentHint"),
            open_world=hints.get("openWorldHint"),
            extra=_unknown(_object(entry.get("annotations")), _HINTS),
        ),
        meta=entry.get("_meta"),
        extra=_unknown(entry, _TOOL_FIELDS),
    )


def resource(entry: JsonObject, note: Note) -> Resource:
    """Parse a resource.

    Raises:
        MalformedError: it has no usable name, URI or schema.
    """
    entry = _conforming(shapes.RESOURCE, entry, note)
    return Resource(
        uri=entry["uri"],
        name=entry["name"],
        description=entry.get("description") or "",
        mime_type=entry.get("mimeType") or "application/octet-stream",
        title=entry.get("title"),
        size=entry.get("size"),
        extra=_unknown(entry, _RESOURCE_FIELDS),
    )


def template(entry: JsonObject, note: Note) -> ResourceTemplate:
    """Parse a resource template.

    Raises:
        MalformedError: it has no usable name, URI or schema.
    """
    entry = _conforming(shapes.TEMPLATE, entry, note)
    return ResourceTemplate(
        uri_template=entry["uriTemplate"],
        name=entry["name"],
        description=entry.get("description") or "",
        mime_type=entry.get("mimeType"),
        title=entry.get("title"),
        extra=_unknown(entry, _TEMPLATE_FIELDS),
    )


def prompt(entry: JsonObject, note: Note) -> JsonObject:
    """Check a prompt and return it without malformed fields.

    Raises:
        MalformedError: it has no usable name, URI or schema.
    """
    return _conforming(shapes.PROMPT, entry, note)


def text_of(result: ToolResult) -> str:
    """Return the text of a result."""
    texts = []
    for content in result.content:
        match content:
            case Text(text):
                texts.append(text)
            case Relayed(block) if block.get("type") == "text":
                texts.append(str(block.get("text")))
    return "\n".join(texts)


def tool_result(body: JsonObject) -> ToolResult:
    """Parse a result; repairs are noted in an extra text block.

    Raises:
        MalformedError: it cannot be encoded again.
    """
    _check_writable(body)
    blocks, notes = _content(body.get("content"))
    structured = body.get("structuredContent")
    if structured is not None and not isinstance(structured, dict):
        notes.append("the structured content is no object; it is given under the key result")
        structured = {"result": structured}
    remarks = [Relayed({"type": "text", "text": f"Note: malformed result, {note}"}) for note in notes]
    flag, meta = body.get("isError"), body.get("_meta")
    # Our own envelope names this server instead.
    kept = {key: value for key, value in _object(meta).items() if key != SERVER_KEY}
    return ToolResult(
        content=(*(Relayed(block) for block in blocks), *remarks),
        structured=structured,
        is_error=flag.lower() == "true" if isinstance(flag, str) else bool(flag),
        meta=kept or None,
        extra=_unknown(body, _RESULT_FIELDS),
    )


def contents(body: JsonObject, asked: str) -> list[ResourceContent]:
    """Parse the result of `resources/read`.

    Raises:
        MalformedError: it has no readable content.
    """
    _check_writable(body)
    items = body.get("contents")
    ttl: int = body["ttlMs"] if shapes.is_size(body.get("ttlMs")) else 0
    listed = items if isinstance(items, list) else [items]
    found = [read for item in listed if (read := _content_of(item, asked, ttl)) is not None]
    if not found and items != []:
        raise MalformedError("answered resources/read with nothing that can be read")
    return found


def prompt_result(body: JsonObject) -> JsonObject:
    """Check the result of `prompts/get` and return it unchanged.

    Raises:
        MalformedError: it has no valid messages.
    """
    _check_writable(body)
    if wrong := shapes.PROMPT_RESULT.wrong(body):
        raise MalformedError(f"answered prompts/get with something else than messages ({wrong[0]})")
    return body


def completion(body: JsonObject) -> JsonObject:
    """Return the suggestions that are text, and the other fields where they have the right type."""
    given = _object(body.get("completion"))
    values = given.get("values")
    found: JsonObject = {"values": [one for one in values if isinstance(one, str)] if isinstance(values, list) else []}
    if shapes.is_size(given.get("total")):
        found["total"] = given["total"]
    if isinstance(given.get("hasMore"), bool):
        found["hasMore"] = given["hasMore"]
    return found


def _schema(entry: JsonObject, note: Note) -> JsonObject:
    given = entry.get("inputSchema")
    if not isinstance(given, dict):
        note("it has no input schema; anything is let through" if given is None else "its input schema is no object")
        return {"type": "object"}
    schema = given
    if given.get("type") != "object":
        note("its input schema is not of type object; taken as one")
        schema = {**given, "type": "object"}
    wrong = [key for key, fits in (("properties", _is_properties), ("required", _is_names)) if not fits(given.get(key))]
    if wrong:
        note(f"{' and '.join(wrong)} of its input schema cannot be read and are left out")
    return {key: value for key, value in schema.items() if key not in wrong}


def _is_properties(value: Json) -> bool:
    return value is None or (isinstance(value, dict) and all(isinstance(one, dict | bool) for one in value.values()))


def _is_names(value: Json) -> bool:
    return value is None or (isinstance(value, list) and all(isinstance(one, str) for one in value))


def _hints(value: Json) -> Mapping[str, Json]:
    known = {"title": str, "readOnlyHint": bool, "destructiveHint": bool, "idempotentHint": bool, "openWorldHint": bool}
    return {key: one for key, one in _object(value).items() if isinstance(one, known.get(key, ()))}


def _conforming(shape: shapes.Shape, entry: JsonObject, note: Note) -> JsonObject:
    """Return an entry without the optional fields that have another type than MCP's."""
    for key in sorted(shape.needed):
        if isinstance(entry.get(key), str) and not entry[key]:
            raise MalformedError(f"its {key} is empty")
    if wrong := shape.wrong(entry):
        if wrong[0] in shape.needed:
            raise MalformedError(f"it has no usable {wrong[0]}")
        note(f"{', '.join(sorted(wrong))} cannot be read and is left out")
        entry = {key: value for key, value in entry.items() if key not in wrong}
    _check_writable(entry)
    return entry


def _check_writable(value: JsonObject) -> None:
    """Raise if the value could not be encoded again inside our own message."""
    try:
        dumps([[[[[[value]]]]]])  # the encoder limits nesting, and our message adds levels
    except (TypeError, ValueError) as error:
        raise MalformedError(f"it cannot be passed on ({error})") from error


def _content(given: Json) -> tuple[list[JsonObject], list[str]]:
    notes: list[str] = []
    if given is not None and not isinstance(given, list):
        notes.append(f"its content is no list but {_kind(given)}")
    listed = [] if given is None else given if isinstance(given, list) else [given]
    blocks = [_block(one, notes) for one in listed]
    return blocks, list(dict.fromkeys(notes))


def _block(given: Json, notes: list[str]) -> JsonObject:
    """Return a content block; blocks of an unknown type pass unchanged."""
    if isinstance(given, dict) and isinstance(given.get("type"), str):
        kind = given["type"]
        if kind not in shapes.CONTENT or shapes.CONTENT[kind].fits(given):
            return given
    notes.append("a part of its content is no content block and is given as text")
    return {"type": "text", "text": given if isinstance(given, str) else dumps(given)}


def _content_of(item: Json, asked: str, ttl_ms: int) -> ResourceContent | None:
    if not isinstance(item, dict):
        return None
    text, blob = item.get("text"), item.get("blob")
    body: str | bytes
    if isinstance(text, str):
        body = text
    elif isinstance(blob, str):
        try:
            body = b64decode(blob)
        except ValueError:
            return None
    else:
        return None
    given, where = item.get("mimeType"), item.get("uri")
    kind = given if isinstance(given, str) and given else _default_type(body)
    meta = item.get("_meta")
    uri = where if isinstance(where, str) and where else asked
    extra = _unknown(item, _CONTENT_FIELDS)
    return ResourceContent(uri, kind, body, ttl_ms=ttl_ms, meta=meta if isinstance(meta, dict) else None, extra=extra)


def _default_type(body: str | bytes) -> str:
    return "text/plain" if isinstance(body, str) else "application/octet-stream"


def _unknown(value: JsonObject, known: set[str]) -> JsonObject | None:
    """Return the fields that are not read here, to be passed on."""
    return {key: one for key, one in value.items() if key not in known} or None


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _kind(value: Json) -> str:
    names = {str: "a text", dict: "an object", list: "a list", bool: "true or false", type(None): "nothing"}
    return names.get(type(value), "a number")
