"""Builds request bodies: JSON, URL-encoded and multipart forms, text and files."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal
from urllib.parse import quote_plus

from ui_mcp.errors import InvalidArgumentsError
from ui_mcp.gateway.openapi import model
from ui_mcp.gateway.openapi.model import FileData, Variant
from ui_mcp.jsontypes import Json, JsonObject, dumps

ArrayFormat = Literal["index", "brackets", "repeat"]


def text(value: Json) -> str:
    """Return a scalar as it is written in a URL or form; objects and arrays become JSON."""
    match value:
        case str():
            return value
        case None:
            return ""
        case _:
            return dumps(value)


def nested(name: str, value: Json, arrays: ArrayFormat) -> Iterator[tuple[str, str]]:
    """Yield names such as `a[b][c]` with their values, not URL-encoded."""
    match value:
        case dict():
            for key, member in value.items():
                yield from nested(f"{name}[{key}]", member, arrays)
        case list():
            for index, member in enumerate(value):
                suffix = {"index": f"[{index}]", "brackets": "[]", "repeat": ""}[arrays]
                yield from nested(name + suffix, member, arrays)
        case _:
            yield name, text(value)


def _raw_items(value: Json, *, explode: bool) -> list[str]:
    match value:
        case dict():
            pairs = [(str(key), text(member)) for key, member in value.items()]
            return (
                [f"{key}={member}" for key, member in pairs] if explode else [part for pair in pairs for part in pair]
            )
        case list():
            return [text(member) for member in value if member is not None]
        case _:
            return [text(value)]


_JOINS = {"form": ",", "spaceDelimited": " ", "pipeDelimited": "|", "tabDelimited": "\t"}


@dataclass(frozen=True, slots=True)
class EncodingOptions:
    """Encodings that OpenAPI leaves open and that APIs handle differently."""

    array_format: ArrayFormat = "index"
    form_nested: bool = False
    path_slashes: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Payload:
    data: bytes
    content_type: str


def payload(variant: Variant, value: Json, options: EncodingOptions) -> Payload:
    """Encode a body in the variant's media type.

    Raises:
        InvalidArgumentsError: the media type is a form, and the value is not an object.
    """
    kind = variant.media_type
    if isinstance(value, FileData):
        return Payload(value.data, _file_type([kind], value))
    if model.is_form(kind):
        return Payload(form(_require_object(value, kind), variant.encoding, options).encode(), kind)
    if model.is_multipart(kind):
        return _multipart(_require_object(value, kind), variant)
    if model.is_json(kind):
        return Payload(dumps(value).encode(), _concrete_type(kind, "application/json"))
    return Payload(text(value).encode(), kind)


def form(fields: JsonObject, encoding: JsonObject, options: EncodingOptions) -> str:
    """Encode a form for the URL; null becomes an empty value."""
    pairs = [pair for name, value in fields.items() for pair in _form_field(name, value, encoding.get(name), options)]
    return "&".join(f"{quote_plus(name)}={quote_plus(value)}" for name, value in pairs)


def _form_field(name: str, value: Json, rule: Json, options: EncodingOptions) -> Iterator[tuple[str, str]]:
    rule = rule if isinstance(rule, dict) else {}
    style = rule.get("style")
    if not isinstance(value, dict | list):
        yield name, text(value)
    elif model.base(str(rule.get("contentType") or "")).endswith("json"):
        yield name, dumps(value)
    elif style == "deepObject" or (style is None and options.form_nested):
        yield from nested(name, value, options.array_format)
    elif isinstance(value, list):
        yield from _form_list(name, value, rule)
    else:
        yield from _form_object(name, value, rule)


def _form_list(name: str, value: list[Json], rule: JsonObject) -> Iterator[tuple[str, str]]:
    style = rule.get("style")
    if style in _JOINS and rule.get("explode") is False:
        yield name, _JOINS[style].join(text(item) for item in value)
    else:
        yield from ((name, text(item)) for item in value)


def _form_object(name: str, value: JsonObject, rule: JsonObject) -> Iterator[tuple[str, str]]:
    style = rule.get("style")
    if style == "form" and rule.get("explode") is not False:
        yield from ((key, text(member)) for key, member in value.items())
    elif style in _JOINS:
        yield name, _JOINS[style].join(part for key, member in value.items() for part in (key, text(member)))
    else:
        yield name, dumps(value)


def _multipart(fields: JsonObject, variant: Variant) -> Payload:
    rules = {name: rule for name, rule in variant.encoding.items() if isinstance(rule, dict)}
    declared = variant.schema.get("properties", {})
    parts = [
        _part(name, item, {"contentType": _media_type(declared.get(name)), **rules.get(name, {})})
        for name, value in fields.items()
        for item in (value if isinstance(value, list) else [value])
    ]
    # A digest is as unlikely to occur in the parts as a random boundary, and makes the body reproducible:
    # approvals compare the digest of the request.
    boundary = sha256(b"".join(parts)).hexdigest()[:32]
    between = f"--{boundary}\r\n".encode()
    body = b"".join(between + part for part in parts) + f"--{boundary}--\r\n".encode()
    return Payload(body, f"{model.base(variant.media_type)}; boundary={boundary}")


def _part(name: str, value: Json, rule: JsonObject) -> bytes:
    kinds = [kind for one in str(rule.get("contentType") or "").split(",") if (kind := model.base(one))]
    declared = kinds[0] if kinds else ""
    disposition = f'Content-Disposition: form-data; name="{_quoted(name)}"'
    if isinstance(value, FileData):
        disposition += f'; filename="{_quoted(value.filename or name)}"'
        kind, data = _file_type(kinds, value), value.data
    elif isinstance(value, dict | list):
        kind, data = declared or "application/json", dumps(value).encode()
    else:
        kind, data = declared, text(value).encode()
    headers = [disposition, *([f"Content-Type: {kind}"] if kind else [])]
    extra = rule.get("headers")
    if isinstance(extra, dict):
        headers += [f"{key}: {_header_default(header)}" for key, header in extra.items() if _header_default(header)]
    return "\r\n".join(headers).encode() + b"\r\n\r\n" + data + b"\r\n"


def _header_default(header: Json) -> str:
    schema = header.get("schema") if isinstance(header, dict) else None
    value = text(schema.get("default")) if isinstance(schema, dict) else ""
    return value.replace("\r", "").replace("\n", "")  # the document must not inject headers


def _quoted(name: str) -> str:
    return name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")


def _file_type(declared: Sequence[str], file: FileData) -> str:
    """Return the type of a file: the only one that the document allows, else the file's own if it is one of them."""
    concrete = [kind for kind in declared if "*" not in kind]
    own = model.base(file.content_type or "")
    if len(declared) == 1 and concrete and own != model.base(concrete[0]):
        return concrete[0]
    if own and (own in map(model.base, concrete) or len(concrete) < len(declared) or not declared):
        return file.content_type or own
    return concrete[0] if concrete else "application/octet-stream"


def _media_type(schema: Json) -> str:
    found = schema.get("contentMediaType") if isinstance(schema, dict) else None
    # FastAPI writes octet-stream for every upload, whatever its type.
    return found if isinstance(found, str) and found != "application/octet-stream" else ""


def _concrete_type(kind: str, otherwise: str) -> str:
    return otherwise if not kind or "*" in kind else kind


def _require_object(value: Json, kind: str) -> JsonObject:
    if not isinstance(value, dict):
        raise InvalidArgumentsError(f"body: a body of type {kind} must be an object with one member per field")
    return value
