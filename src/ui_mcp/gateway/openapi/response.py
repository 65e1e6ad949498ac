"""Converts API responses to tool results, and finds the next page of a list."""

import base64
import re
from dataclasses import asdict, dataclass
from urllib.parse import urljoin

from ui_mcp.gateway.openapi import model
from ui_mcp.gateway.openapi.auth import how_to
from ui_mcp.gateway.openapi.model import Answer, Operation
from ui_mcp.gateway.results import Limits, ResultStore, pick, rows_of, trim
from ui_mcp.gateway.sanitize import SecretMasker
from ui_mcp.http_client import same_origin
from ui_mcp.jsontypes import Json, JsonObject, dumps, loads
from ui_mcp.toolkit.tool import Media, Relayed, Text, ToolResult

_SMALL_FILE = 1024 * 1024
"""Bytes up to which a binary file is embedded in the result instead of linked."""

_SHOWN_HEADERS = (
    "content-type",
    "etag",
    "last-modified",
    "link",
    "location",
    "retry-after",
    "www-authenticate",
    "x-request-id",
)

_RATE_LIMIT_HEADER = re.compile(r"^(x-)?rate-?limit", re.IGNORECASE)
_TEXT_LIMIT = 60_000
_JSON_LINES = frozenset({"application/x-ndjson", "application/jsonl", "application/json-seq"})
_SVG = "image/svg+xml"


@dataclass(frozen=True, slots=True)
class Shaping:
    """How to present one response: what the caller asked for, and remarks to add."""

    fields: tuple[str, ...] = ()
    limits: Limits = Limits()
    raw: bool = False
    remarks: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


class Responses:
    """Converts the responses of one API."""

    def __init__(self, store: ResultStore, masker: SecretMasker) -> None:
        self._store = store
        self._masker = masker

    async def result(self, answer: Answer, shaping: Shaping, principal: str) -> ToolResult:
        """Convert one response by its status and media type; errors keep the API's own text."""
        meta = self._meta(answer, shaping)
        if answer.status >= 400:
            return self._failure(answer, shaping, meta)
        if not answer.body or answer.status == 204:
            status: JsonObject = {"status": answer.status}
            return ToolResult((Text(f"HTTP {answer.status}"),), structured=status, meta=meta)
        kind = answer.media_type
        if shaping.raw and (model.is_json(kind) or _is_text(answer)):
            return await self._text(answer, principal, meta)
        if model.is_json(kind):
            return await self._json_or_text(answer, shaping, principal, meta)
        if kind in _JSON_LINES:
            return await self.json(_json_lines(answer.body), shaping, principal, meta)
        return await self._by_media_type(answer, principal, meta)

    async def _json_or_text(self, answer: Answer, shaping: Shaping, principal: str, meta: JsonObject) -> ToolResult:
        try:
            return await self.json(loads(answer.body), shaping, principal, meta)
        except ValueError:
            return await self._text(answer, principal, meta)

    async def _by_media_type(self, answer: Answer, principal: str, meta: JsonObject) -> ToolResult:
        kind = answer.media_type
        if kind.startswith("image/") and kind != _SVG:
            return ToolResult((Media("image", answer.body, kind),), meta=meta)
        if kind.startswith("audio/"):
            return ToolResult((Media("audio", answer.body, kind),), meta=meta)
        return await (self._text if _is_text(answer) else self._file)(answer, principal, meta)

    async def json(self, value: Json, shaping: Shaping, principal: str, meta: JsonObject) -> ToolResult:
        """Convert a JSON value: selected fields only, cut to whole rows; a handle gives access to the rest."""
        value = self._masker.values(value) if self._masker.knows(dumps(value)) else value
        if shaping.fields:
            value = pick(value, list(shaping.fields))
        trimmed = trim(value, shaping.limits.max_bytes, shaping.limits.max_rows)
        shown: JsonObject = trimmed.value if isinstance(trimmed.value, dict) else {"result": trimmed.value}
        if trimmed.cuts:
            handle = await self._store.store_json(value, principal)
            cuts = [asdict(cut) for cut in trimmed.cuts]
            shown = {**shown, "truncated": cuts[0] if len(cuts) == 1 else cuts, "handle": handle}
        if shaping.remarks:
            meta = {**meta, "ui-mcp/remarks": list(shaping.remarks)}
        texts = [Text(remark) for remark in shaping.remarks]
        return ToolResult((Text(dumps(shown)), *texts), structured=shown, meta=meta)

    def _failure(self, answer: Answer, shaping: Shaping, meta: JsonObject) -> ToolResult:
        lines = [f"HTTP {answer.status} {answer.reason}".rstrip()]
        lines += [
            f"{name}: {value}"
            for name, value in answer.headers.items()
            if name.lower() in {"retry-after", "www-authenticate"} or _RATE_LIMIT_HEADER.match(name)
        ]
        if answer.status in {401, 403} and shaping.missing:
            lines.append(f"No credentials were sent for: {', '.join(shaping.missing)}. {how_to(shaping.missing)}")
        body = _decoded(answer)
        problem = _problem_details(body)
        if problem:
            lines.append(problem)
        if body.strip():
            lines.append(body[:_TEXT_LIMIT])
        lines += shaping.remarks
        return ToolResult((Text(self._masker.text("\n".join(lines))),), is_error=True, meta=meta)

    async def _text(self, answer: Answer, principal: str, meta: JsonObject) -> ToolResult:
        text = self._masker.text(_decoded(answer))
        if len(text) <= _TEXT_LIMIT:
            return ToolResult((Text(text),), meta=meta)
        handle = await self._store.store(text.encode(), answer.media_type or "text/plain", principal)
        note = f"\n… {len(text) - _TEXT_LIMIT} more characters; nlui__more with handle {handle} reads on."
        return ToolResult((Text(text[:_TEXT_LIMIT] + note),), meta=meta)

    async def _file(self, answer: Answer, principal: str, meta: JsonObject) -> ToolResult:
        kind = answer.media_type or "application/octet-stream"
        handle = await self._store.store(answer.body, kind, principal)
        uri = f"nlui://results/{handle}"
        if len(answer.body) <= _SMALL_FILE:
            blob = base64.b64encode(answer.body).decode()
            block: JsonObject = {"type": "resource", "resource": {"uri": uri, "mimeType": kind, "blob": blob}}
            return ToolResult((Relayed(block),), meta=meta)
        link = {
            "type": "resource_link",
            "uri": uri,
            "name": _filename(answer),
            "mimeType": kind,
            "size": len(answer.body),
        }
        return ToolResult((Relayed(link),), meta=meta)

    def _meta(self, answer: Answer, shaping: Shaping) -> JsonObject:
        shown = {
            name: self._masker.text(value)
            for name, value in answer.headers.items()
            if name.lower() in _SHOWN_HEADERS or _RATE_LIMIT_HEADER.match(name)
        }
        url = self._masker.text(answer.url)
        return {"ui-mcp/http": {"status": answer.status, "headers": shown, "elapsed_ms": answer.elapsed_ms, "url": url}}


def _decoded(answer: Answer) -> str:
    charset = re.search(r"charset=\"?([\w-]+)", answer.headers.get("content-type", ""))
    try:
        return answer.body.decode(charset[1] if charset else "utf-8-sig", errors="replace")
    except LookupError:
        return answer.body.decode("utf-8", errors="replace")


def _problem_details(body: str) -> str:
    """Return title and detail of an RFC 9457 problem document, else an empty text."""
    try:
        value = loads(body)
    except ValueError:
        return ""
    if not isinstance(value, dict) or not isinstance(value.get("title"), str):
        return ""
    return ": ".join(str(value[key]) for key in ("title", "detail") if value.get(key))


def _json_lines(body: bytes) -> list[Json]:
    rows: list[Json] = []
    for line in body.replace(b"\x1e", b"").splitlines():  # json-seq (RFC 7464) puts a record separator before each
        if line.strip():
            try:
                rows.append(loads(line))
            except ValueError:
                rows.append(line.decode("utf-8", errors="replace"))
    return rows


def _is_text(answer: Answer) -> bool:
    return model.is_text(answer.media_type) or answer.media_type == _SVG or _looks_like_text(answer.body)


def _looks_like_text(body: bytes) -> bool:
    head = body[:1024]
    if b"\0" in head:
        return False
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start >= len(head) - 4  # only a character that the cut split
    return True


def _filename(answer: Answer) -> str:
    named = re.search(r'filename="?([^";]+)', answer.headers.get("content-disposition", ""))
    return named[1] if named else answer.url.split("?", maxsplit=1)[0].rsplit("/", 1)[-1] or "file"


MAX_PAGES = 50
_NEXT_URLS = ("next", "next_page", "nextLink", "@odata.nextLink", "next_url", "next_page_url", "nextPageUrl")

_CURSORS = (
    "next_cursor",
    "nextCursor",
    "next_page_token",
    "nextPageToken",
    "cursor",
    "continue",
    "next_token",
    "nextToken",
)

_CURSOR_ARGUMENTS = (
    "cursor",
    "page_token",
    "pageToken",
    "after",
    "continue",
    "next_token",
    "nextToken",
    "starting_after",
)

_PAGE_ARGUMENTS = ("page", "page_number", "pageNumber", "page[number]")
_OFFSET_ARGUMENTS = ("offset", "skip", "start", "startIndex")
_SIZE_ARGUMENTS = ("limit", "per_page", "page_size", "pageSize", "count", "top", "size")


@dataclass(frozen=True, slots=True)
class NextUrl:
    """The next page has its own URL."""

    url: str


@dataclass(frozen=True, slots=True)
class NextArguments:
    """The next page is the same call with these arguments replaced."""

    changed: JsonObject


Next = NextUrl | NextArguments | None


def next_page(operation: Operation, arguments: JsonObject, answer: Answer, value: Json) -> Next:
    """Return how to get the next page: by link, by cursor, or by page number or offset; None if there is none."""
    url = _next_link(answer) or _next_url_in_body(value)
    if url is not None:
        try:
            absolute = urljoin(answer.url, url)
        except ValueError:
            return None
        # Another origin, reached by redirect or link, must not receive our credentials.
        return NextUrl(absolute) if not answer.elsewhere and same_origin(absolute, answer.url) else None
    rows = rows_of(value)
    if rows is None or not rows[1]:
        return None
    known = {parameter.argument for parameter in operation.parameters}
    return _by_cursor(known, value, rows[1]) or _by_number(known, arguments, rows[1])


def _next_link(answer: Answer) -> str | None:
    # Limited, because the regular expression is quadratic on hostile headers.
    found = re.search(r'<([^<>]+)>\s*;[^,]*rel="?next"?', answer.headers.get("link", "")[:4096])
    return found[1] if found else None


def _next_url_in_body(value: Json) -> str | None:
    if not isinstance(value, dict):
        return None
    places = [value, *(value[key] for key in ("links", "_links", "paging", "pagination", "meta") if key in value)]
    for place in places:
        for key in _NEXT_URLS if isinstance(place, dict) else ():
            found = place.get(key)
            found = found.get("href") or found.get("url") if isinstance(found, dict) else found
            if isinstance(found, str) and (found.startswith(("http://", "https://", "/", "?"))):
                return found
    return None


def _by_cursor(known: set[str], value: Json, rows: list[Json]) -> Next:
    argument = next((name for name in _CURSOR_ARGUMENTS if name in known), None)
    if argument is None or not isinstance(value, dict):
        return None
    places = [value, *(member for member in value.values() if isinstance(member, dict))]
    for place in places:
        for key in _CURSORS:
            if isinstance(place.get(key), str) and place[key]:
                return NextArguments({argument: place[key]})
    last = rows[-1]
    # Stripe's convention: the cursor is the id of the last row.
    if argument == "starting_after" and value.get("has_more") is True and isinstance(last, dict) and "id" in last:
        return NextArguments({argument: last["id"]})
    return None


def _by_number(known: set[str], arguments: JsonObject, rows: list[Json]) -> Next:
    size = next((arguments[name] for name in _SIZE_ARGUMENTS if isinstance(arguments.get(name), int)), None)
    if size is not None and len(rows) < size:
        return None
    for name in _PAGE_ARGUMENTS:
        if name in known:
            return NextArguments({name: int(arguments.get(name) or 1) + 1})
    for name in _OFFSET_ARGUMENTS:
        if name in known:
            return NextArguments({name: int(arguments.get(name) or 0) + len(rows)})
    return None
