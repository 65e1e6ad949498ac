"""Recognises where the next page of an answer is."""

import re
from dataclasses import dataclass
from urllib.parse import urljoin

from ui_mcp.gateway.openapi.model import Operation
from ui_mcp.gateway.openapi.send import Answer
from ui_mcp.gateway.results import rows_of
from ui_mcp.http_client import same_origin
from ui_mcp.jsontypes import Json, JsonObject

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
    """The next page has an address of its own."""

    url: str


@dataclass(frozen=True, slots=True)
class NextArguments:
    """The next page is the same call with these arguments changed."""

    changed: JsonObject


Next = NextUrl | NextArguments | None


def next_page(operation: Operation, arguments: JsonObject, answer: Answer, value: Json) -> Next:
    """Find the next page, if the answer or the parameters tell where it is."""
    url = _linked(answer) or _named_url(value)
    if url is not None:
        try:
            absolute = urljoin(answer.url, url)
        except ValueError:
            return None
        # What another origin answered after a redirect gets no further requests with our credentials.
        return NextUrl(absolute) if not answer.elsewhere and same_origin(absolute, answer.url) else None
    rows = rows_of(value)
    if rows is None or not rows[1]:
        return None
    known = {parameter.argument for parameter in operation.parameters}
    return _by_cursor(known, value, rows[1]) or _by_number(known, arguments, rows[1])


def _linked(answer: Answer) -> str | None:
    # A search through a long header could take its time.
    found = re.search(r'<([^<>]+)>\s*;[^,]*rel="?next"?', answer.headers.get("link", "")[:4096])
    return found[1] if found else None


def _named_url(value: Json) -> str | None:
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
