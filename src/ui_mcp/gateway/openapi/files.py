"""Reads file arguments, given as path, URL, base64 or text, before the request is built."""

import base64
import binascii
import mimetypes
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote_to_bytes

import anyio

from ui_mcp.errors import InvalidArgumentsError, RefusedError
from ui_mcp.gateway.openapi import model
from ui_mcp.gateway.openapi.model import FileData, Variant
from ui_mcp.jsontypes import Json, JsonObject

_FORMS = ("path", "url", "base64", "text")
_PREFIX = "#/$defs/"
FILE: JsonObject = {
    "type": ["string", "object"],
    "format": "binary",
    "description": "A file: {path}, {url}, {base64} or {text}, with optional filename and content_type; "
    "or plain text, base64 or a data URI.",
}
Download = Callable[[str], Awaitable[bytes]]


def with_files(schema: JsonObject, definitions: Mapping[str, JsonObject]) -> JsonObject:
    """Return the schema of a multipart body with its binary fields described as file arguments."""
    resolved_schema = _resolved(schema, definitions)
    properties = resolved_schema.get("properties")
    if not isinstance(properties, dict):
        return schema
    changed = {name: _as_file(member, definitions) for name, member in properties.items()}
    return schema if changed == properties else {**resolved_schema, "properties": changed}


def _as_file(member: JsonObject, definitions: Mapping[str, JsonObject]) -> JsonObject:
    resolved_schema = _resolved(member, definitions)
    if is_file(resolved_schema):
        described = resolved_schema.get("description")
        kept = {key: resolved_schema[key] for key in ("contentMediaType",) if key in resolved_schema}
        return {**FILE, **kept, "description": f"{described} {FILE['description']}"} if described else {**FILE, **kept}
    items = resolved_schema.get("items")
    if isinstance(items, dict) and is_file(_resolved(items, definitions)):
        return {**resolved_schema, "items": FILE}
    return member


def _resolved(schema: JsonObject, definitions: Mapping[str, JsonObject]) -> JsonObject:
    for _ in range(20):  # definitions may refer to each other in a circle
        reference = schema.get("$ref")
        if not isinstance(reference, str):
            break
        schema = definitions.get(reference.removeprefix(_PREFIX), {})
    return schema


def is_file(schema: JsonObject) -> bool:
    """Return whether a schema describes the bytes of a file."""
    raw_media = "contentMediaType" in schema and "contentEncoding" not in schema
    return schema.get("format") == "binary" or (raw_media and "properties" not in schema)


class Files:
    """Reads the files of a call; paths must be below the configured roots."""

    def __init__(self, roots: tuple[Path, ...], download: Download) -> None:
        self._roots = tuple(root.resolve() for root in roots)
        self._download = download

    async def read(self, variant: Variant, body: Json) -> Json:
        """Return the body with every file argument replaced by `FileData`; uses no network.

        Files given by URL stay placeholders until `downloaded` fetches them, which only calls that run may do.
        """
        kind = variant.media_type
        if model.is_multipart(kind) and isinstance(body, dict):
            properties = variant.schema.get("properties", {})
            return {name: await self._field(properties.get(name, {}), value, name) for name, value in body.items()}
        structured = model.is_json(kind) or model.is_form(kind) or model.is_text(kind)
        return body if structured or model.is_multipart(kind) else await self.file(body, "body")

    async def downloaded(self, body: Json) -> Json:
        """Return a body from `read` with the files that are given by URL fetched."""
        match body:
            case FileData(url=str(url)):
                return replace(body, data=await self._download(url), url=None)
            case dict():
                return {name: await self.downloaded(value) for name, value in body.items()}
            case list():
                return [await self.downloaded(value) for value in body]
            case _:
                return body

    async def _field(self, schema: JsonObject, value: Json, name: str) -> Json:
        items = schema.get("items")
        if isinstance(value, list) and isinstance(items, dict) and is_file(items):
            return [await self.file(item, name) for item in value]
        return await self.file(value, name) if is_file(schema) or _is_file_form(value) else value

    async def file(self, value: Json, name: str) -> FileData:
        """Read one file argument.

        Raises:
            InvalidArgumentsError: it has none of the known forms, or cannot be read or decoded.
            RefusedError: the path is outside the configured roots.
        """
        match value:
            case str():
                return _from_text(value)
            case {"path": str(path)}:
                data = FileData(await self._from_path(path), Path(path).name)
            case {"url": str(url)}:
                placeholder = f"(the file at {url}, downloaded when the call runs)"
                data = FileData(placeholder.encode(), url.split("?")[0].rsplit("/", 1)[-1] or None, url=url)
            case {"base64": str(encoded)}:
                data = FileData(_decoded(encoded, name))
            case {"text": str(plain)}:
                data = FileData(plain.encode(), content_type="text/plain; charset=utf-8")
            case _:
                raise InvalidArgumentsError(f"{name}: a file is {{path}}, {{url}}, {{base64}}, {{text}} or text")
        filename = value.get("filename") or data.filename
        guessed = mimetypes.guess_type(filename)[0] if filename else None
        return replace(data, filename=filename, content_type=value.get("content_type") or data.content_type or guessed)

    async def _from_path(self, path: str) -> bytes:
        resolved = Path(await anyio.Path(path).expanduser())
        resolved = Path(await anyio.Path(resolved).resolve())
        if not any(resolved.is_relative_to(root) for root in self._roots):
            allowed = ", ".join(str(root) for root in self._roots) or "none"
            raise RefusedError(f"{path} is not in a directory that files may be read from (files.roots: {allowed})")
        try:
            return await anyio.Path(resolved).read_bytes()
        except OSError as error:
            raise InvalidArgumentsError(f"{path}: {error.strerror or error}") from error


def _is_file_form(value: Json) -> bool:
    if not isinstance(value, dict) or not value:
        return False
    return value.keys() <= {*_FORMS, "filename", "content_type"} and any(form in value for form in _FORMS)


def _from_text(value: str) -> FileData:
    if value.startswith("data:") and "," in value:
        head, _, rest = value[5:].partition(",")
        kind = head.split(";")[0] or "text/plain"
        data = base64.b64decode(rest) if head.endswith(";base64") else unquote_to_bytes(rest)
        return FileData(data, content_type=kind)
    try:
        # Short words such as "test" decode by accident; real base64 of a file is longer or padded.
        if len(value) >= 16 or value.endswith("="):
            return FileData(base64.b64decode(value, validate=True))
    except (binascii.Error, ValueError):
        pass
    return FileData(value.encode(), content_type="text/plain; charset=utf-8")


def _decoded(encoded: str, name: str) -> bytes:
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidArgumentsError(f"{name}: base64 does not decode: {error}") from error
