"""Builds the one HTTP request a call means; touches nothing."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from urllib.parse import quote

from ui_mcp.compositor.canonical import digest
from ui_mcp.compositor.openapi import media, styles
from ui_mcp.errors import InvalidArgumentsError
from ui_mcp.gateway.openapi.model import Operation, Parameter
from ui_mcp.gateway.openapi.payload import FileData, Habits, form, payload
from ui_mcp.gateway.sanitize import MASK, is_secret
from ui_mcp.jsontypes import Json, JsonObject, dumps

_PATH_SAFE = "/:@!$&'()*+,;=~-._%"


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request, complete but for credentials."""

    method: str
    base: str
    path: str
    """Path below the base, encoded."""
    query: tuple[str, ...]
    headers: tuple[tuple[str, str], ...]
    cookies: tuple[str, ...]
    body: bytes | None

    @property
    def url(self) -> str:
        """The address with its query."""
        return self.base + self.path + (("&" if "?" in self.path else "?") + "&".join(self.query) if self.query else "")

    @property
    def all_headers(self) -> tuple[tuple[str, str], ...]:
        """The headers, cookies included."""
        return (*self.headers, ("Cookie", "; ".join(self.cookies))) if self.cookies else self.headers

    @property
    def digest(self) -> str:
        """Binds method, address, headers and body; values of secret headers are left out, since they may rotate."""
        headers = [[name.lower(), MASK if is_secret(name, value) else value] for name, value in self.all_headers]
        body = None if self.body is None else sha256(self.body).hexdigest()
        return digest([self.method, self.url, headers, body])


def build(operation: Operation, arguments: JsonObject, base: str, habits: Habits) -> Outgoing:
    """Put every argument where the document says it goes.

    Raises:
        InvalidArgumentsError: a value cannot be sent where it belongs.
    """
    given = [
        (parameter, arguments[parameter.argument])
        for parameter in operation.parameters
        if arguments.get(parameter.argument) is not None
    ]
    headers = [
        (parameter.name, styles.in_header(parameter.name, _sent(parameter, value), explode=parameter.explode))
        for parameter, value in given
        if parameter.location == "header"
    ]
    headers.append(("Accept", ", ".join(operation.accepts) if operation.accepts else "*/*"))
    body = None
    if operation.body is not None and "body" in arguments:
        built = payload(operation.body.variant(arguments.get("content_type")), arguments["body"], habits)
        body = built.data
        headers.append(("Content-Type", built.content_type))
    return Outgoing(
        method=operation.method,
        base=base.rstrip("/"),
        path=_path(operation, {p.name: (p, v) for p, v in given if p.location == "path"}, habits),
        query=tuple(part for parameter, value in given for part in _query(parameter, value, habits)),
        headers=tuple(headers),
        cookies=tuple(
            styles.in_cookie(parameter.name, _sent(parameter, value))
            for parameter, value in given
            if parameter.location == "cookie"
        ),
        body=body,
    )


def _path(operation: Operation, values: Mapping[str, tuple[Parameter, Json]], habits: Habits) -> str:
    template = operation.path.split("#", maxsplit=1)[0]

    def filled(match: re.Match[str]) -> str:
        name = match[1]
        if name not in values:
            raise InvalidArgumentsError(f"{name}: the path {operation.path} needs a value")
        parameter, value = values[name]
        if parameter.media_type:
            return quote(dumps(value), safe="")
        slashes = name in habits.path_slashes
        written = styles.in_path(name, value, parameter.style, explode=parameter.explode, slashes=slashes)
        if written in {"", ".", ".."} or (slashes and {".", ".."} & set(written.split("/"))):
            raise InvalidArgumentsError(f"{name}: {value!r} cannot stand as a part of the path {operation.path}")
        return written

    parts = re.split(r"(\{[^{}]+\})", template)
    return "".join(
        re.sub(r"\{([^{}]+)\}", filled, part) if part.startswith("{") else quote(part, safe=_PATH_SAFE + "?")
        for part in parts
    )


def _query(parameter: Parameter, value: Json, habits: Habits) -> list[str]:
    if parameter.location == "querystring":
        if parameter.media_type and media.is_json(parameter.media_type):
            return [quote(dumps(value), safe="")]
        return [form(value, {}, habits).replace("+", "%20")] if isinstance(value, dict) else [quote(styles.text(value))]
    if parameter.location != "query":
        return []
    if isinstance(value, dict | list) and not value:
        return [f"{quote(parameter.name, safe='')}="] if parameter.allow_empty else []
    return styles.in_query(
        parameter.name,
        _sent(parameter, value),
        parameter.style,
        explode=parameter.explode,
        reserved=parameter.allow_reserved,
        arrays=habits.array_format,
    )


def _sent(parameter: Parameter, value: Json) -> Json:
    if isinstance(value, FileData):
        raise InvalidArgumentsError(f"{parameter.argument}: a file cannot be sent here")
    return dumps(value) if parameter.media_type else value
