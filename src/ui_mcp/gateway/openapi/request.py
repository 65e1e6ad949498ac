"""Builds the HTTP request of a call, with parameters serialized in their OpenAPI styles."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import replace
from urllib.parse import quote

from ui_mcp.errors import InvalidArgumentsError
from ui_mcp.gateway.openapi import model
from ui_mcp.gateway.openapi.auth import Attached
from ui_mcp.gateway.openapi.model import FileData, Operation, Outgoing, Parameter
from ui_mcp.gateway.openapi.payload import (
    ArrayFormat,
    EncodingOptions,
    _raw_items,
    form,
    nested,
    payload,
    text,
)
from ui_mcp.gateway.sanitize import MASK, SecretMasker, is_secret
from ui_mcp.jsontypes import Json, JsonObject, dumps, loads

_RESERVED = ":/?@!$'()*,;="
"""Characters that `allowReserved` leaves unencoded; not `#[]&+`, which would change the meaning of the query."""
_DELIMITERS = {"spaceDelimited": "%20", "pipeDelimited": "%7C", "tabDelimited": "%09"}


def in_path(name: str, value: Json, style: str, *, explode: bool, slashes: bool = False) -> str:
    """Serialize a path value in style `simple`, `label` or `matrix`; `slashes` leaves `/` unencoded."""
    safe = "/" if slashes else ""
    key = quote(name, safe="")
    if style == "matrix":
        return _matrix(key, value, safe, explode=explode)
    lead, join = (".", "." if explode else ",") if style == "label" else ("", ",")
    return lead + join.join(_items(value, safe, explode=explode))


def in_query(name: str, value: Json, style: str, *, explode: bool, reserved: bool, arrays: ArrayFormat) -> list[str]:
    """Serialize a query value as a list of URL-encoded `key=value` texts."""
    safe = _RESERVED if reserved else ""
    key = quote(name, safe="")
    if style == "deepObject" and isinstance(value, dict | list):
        return [f"{quote(path, safe='')}={quote(part, safe=safe)}" for path, part in nested(name, value, arrays)]
    if not isinstance(value, dict | list):
        return [f"{key}={quote(text(value), safe=safe)}"]
    if style in _DELIMITERS and not (explode and isinstance(value, list)):
        return [f"{key}={_DELIMITERS[style].join(_items(value, safe, explode=False))}"]
    if not explode:
        return [f"{key}={','.join(_items(value, safe, explode=False))}"]
    if isinstance(value, list):
        return [f"{key}={item}" for item in _items(value, safe, explode=True)]
    return _items(value, safe, explode=True)


def in_header(name: str, value: Json, *, explode: bool) -> str:
    """Serialize a header value in style `simple`.

    Raises:
        InvalidArgumentsError: it contains a line break or NUL, which would allow header injection.
    """
    written = ",".join(_raw_items(value, explode=explode))
    if any(mark in written for mark in "\r\n\0"):
        raise InvalidArgumentsError(f"{name}: a header value may not contain line breaks or NUL")
    return written


def in_cookie(name: str, value: Json) -> str:
    """Serialize a cookie; commas are encoded, because a cookie value may not contain them."""
    return f"{quote(name, safe='')}={quote(','.join(_raw_items(value, explode=False)), safe='')}"


def _matrix(key: str, value: Json, safe: str, *, explode: bool) -> str:
    if not isinstance(value, dict | list):
        written = quote(text(value), safe=safe)
        return f";{key}={written}" if written else f";{key}"
    items = _items(value, safe, explode=explode)
    if not explode:
        return f";{key}={','.join(items)}"
    return "".join(f";{item}" if isinstance(value, dict) else f";{key}={item}" for item in items)


def _items(value: Json, safe: str, *, explode: bool) -> list[str]:
    match value:
        case dict():
            pairs = [(quote(str(key), safe=safe), quote(text(member), safe=safe)) for key, member in value.items()]
            return (
                [f"{key}={member}" for key, member in pairs] if explode else [part for pair in pairs for part in pair]
            )
        case list():
            return [quote(text(member), safe=safe) for member in value if member is not None]
        case _:
            return [quote(text(value), safe=safe)]


_PATH_SAFE = "/:@!$&'()*+,;=~-._%"  # with %, because the template may be encoded already


def build(operation: Operation, arguments: JsonObject, base: str, options: EncodingOptions) -> Outgoing:
    """Build the request of an operation from validated arguments.

    Raises:
        InvalidArgumentsError: a value is missing from the path, or cannot be sent in its location.
    """
    given = [
        (parameter, arguments[parameter.argument])
        for parameter in operation.parameters
        if arguments.get(parameter.argument) is not None
    ]
    headers = [
        (parameter.name, in_header(parameter.name, _serialized(parameter, value), explode=parameter.explode))
        for parameter, value in given
        if parameter.location == "header"
    ]
    headers.append(("Accept", ", ".join(operation.accepts) if operation.accepts else "*/*"))
    body = None
    if operation.body is not None and "body" in arguments:
        built = payload(operation.body.variant(arguments.get("content_type")), arguments["body"], options)
        body = built.data
        headers.append(("Content-Type", built.content_type))
    return Outgoing(
        method=operation.method,
        base=base.rstrip("/"),
        path=_path(operation, {p.name: (p, v) for p, v in given if p.location == "path"}, options),
        query=tuple(part for parameter, value in given for part in _query(parameter, value, options)),
        headers=tuple(headers),
        cookies=tuple(
            in_cookie(parameter.name, _serialized(parameter, value))
            for parameter, value in given
            if parameter.location == "cookie"
        ),
        body=body,
    )


def _path(operation: Operation, values: Mapping[str, tuple[Parameter, Json]], options: EncodingOptions) -> str:
    # Some documents distinguish operations of one URL by a fragment, which is not sent.
    template = operation.path.split("#", maxsplit=1)[0]

    def filled(match: re.Match[str]) -> str:
        name = match[1]
        if name not in values:
            raise InvalidArgumentsError(f"{name}: the path {operation.path} needs a value")
        parameter, value = values[name]
        if parameter.media_type:
            return quote(dumps(value), safe="")
        slashes = name in options.path_slashes
        written = in_path(name, value, parameter.style, explode=parameter.explode, slashes=slashes)
        # Otherwise a value could select another path than the one that was approved.
        if written in {"", ".", ".."} or (slashes and {".", ".."} & set(written.split("/"))):
            raise InvalidArgumentsError(f"{name}: {value!r} cannot be part of the path {operation.path}")
        return written

    parts = re.split(r"(\{[^{}]+\})", template)
    return "".join(
        re.sub(r"\{([^{}]+)\}", filled, part) if part.startswith("{") else quote(part, safe=_PATH_SAFE + "?")
        for part in parts
    )


def _query(parameter: Parameter, value: Json, options: EncodingOptions) -> list[str]:
    if parameter.location == "querystring":
        if parameter.media_type and model.is_json(parameter.media_type):
            return [quote(dumps(value), safe="")]
        return [form(value, {}, options).replace("+", "%20")] if isinstance(value, dict) else [quote(text(value))]
    if parameter.location != "query":
        return []
    if isinstance(value, dict | list) and not value:
        return [f"{quote(parameter.name, safe='')}="] if parameter.allow_empty else []
    return in_query(
        parameter.name,
        _serialized(parameter, value),
        parameter.style,
        explode=parameter.explode,
        reserved=parameter.allow_reserved,
        arrays=options.array_format,
    )


def _serialized(parameter: Parameter, value: Json) -> Json:
    if isinstance(value, FileData):
        raise InvalidArgumentsError(f"{parameter.argument}: a file cannot be sent here")
    return dumps(value) if parameter.media_type else value


def shown(outgoing: Outgoing, attached: Attached, masker: SecretMasker) -> JsonObject:
    """Return the request as JSON with secrets masked, and the equivalent curl command."""
    secret_headers = {name.lower() for name, _ in attached.headers}
    full = replace(outgoing, query=outgoing.query + attached.query, cookies=outgoing.cookies + attached.cookies)
    masker.add(attached.secrets)
    headers = {name: masker.text(value) for name, value in full.all_headers}
    headers |= {name: MASK for name, _ in attached.headers if name.lower() in secret_headers}
    body = None if full.body is None else _masked(full.body, masker)
    url = masker.text(full.url)
    curl = ["curl", "-X", full.method, url]
    for name, value in headers.items():
        curl += ["-H", f"{name}: {value}"]
    curl += ["--data-binary", body] if body is not None else []
    return {"method": full.method, "url": url, "headers": headers, "body": body, "curl": shlex.join(curl)}


def _masked(body: bytes, masker: SecretMasker) -> str:
    """Return a body as text with known secrets, and secret fields of JSON and forms, masked."""
    text = body.decode("utf-8", errors="replace")
    try:
        return dumps(masker.json(loads(text)))
    except ValueError:
        # Not JSON: try it as a form.
        pairs = [pair.partition("=") for pair in text.split("&")]
        masked = "&".join(
            f"{name}={MASK}" if is_secret(name, value) else f"{name}{eq}{value}" for name, eq, value in pairs
        )
        return masker.text(masked)
