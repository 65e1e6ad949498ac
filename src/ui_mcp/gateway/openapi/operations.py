"""Reads operations, security schemes and servers from a document."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from typing import Literal
from urllib.parse import urljoin, urlsplit

from ui_mcp.errors import UiMcpError
from ui_mcp.gateway.config.notes import Note, Notes
from ui_mcp.gateway.openapi import model
from ui_mcp.gateway.openapi.bundle import bundle
from ui_mcp.gateway.openapi.document import Document, Place
from ui_mcp.gateway.openapi.fetch import is_url
from ui_mcp.gateway.openapi.model import Alternative, Api, Body, Operation, Parameter, Scheme
from ui_mcp.gateway.openapi.parameters import declared, is_framing, is_name, read, read_body, read_body_v2
from ui_mcp.gateway.openapi.schemas import Schemas, read_output
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.lazy_dataclass import dataclass


def read_schemes(document: Document) -> dict[str, Scheme]:
    """Read `securitySchemes`, or `securityDefinitions` of version 2; those that cannot be read are left out."""
    root = document.root
    group = (
        root.at("securityDefinitions") if document.version.startswith("2") else root.at("components", "securitySchemes")
    )
    found: dict[str, Scheme] = {}
    for name, place in group.items():
        try:
            value = document.follow(place).value
        except (UiMcpError, ValueError):
            continue
        if isinstance(value, dict):
            found[name] = _scheme(name, value)
    return found


def read_requirements(value: Json, inherited: tuple[Alternative, ...]) -> tuple[Alternative, ...]:
    """Read a `security` list; return `inherited` if it is not a list."""
    if not isinstance(value, list):
        return inherited
    return tuple(tuple(str(name) for name in entry) for entry in value if isinstance(entry, dict))


def read_servers(place: Place, variables: Mapping[str, str]) -> tuple[str, ...]:
    """Read a `servers` list with its variables replaced; relative URLs are resolved against the document."""
    found = []
    for server in place.values():
        url = server.value.get("url") if isinstance(server.value, dict) else None
        if isinstance(url, str) and url:
            found.append(_resolved(_replace_variables(url, server.value.get("variables"), variables), place.file))
    return tuple(server for server in found if server is not None)


def read_servers_v2(root: JsonObject, file: str) -> tuple[str, ...]:
    """Build servers from `host`, `basePath` and `schemes` of version 2."""
    host, path = root.get("host"), str(root.get("basePath") or "")
    given = root.get("schemes")
    schemes = [scheme for scheme in given if scheme in ("http", "https")] if isinstance(given, list) else []
    if isinstance(host, str) and host:
        chosen = "https" if "https" in schemes or not schemes else "http"
        built = _resolved(f"{chosen}://{host}{path}", file)
    else:
        built = _resolved(path or "/", file) if is_url(file) else path  # the API is where the document is
    return (built,) if built else ()


def _resolved(url: str, file: str) -> str | None:
    """Return the absolute URL of a server; None if it is not a URL."""
    try:
        resolved = urljoin(file, url) if is_url(file) and not urlsplit(url).scheme else url
        urlsplit(resolved)
    except ValueError:
        return None
    return resolved.rstrip("/")


def _replace_variables(url: str, declared: Json, chosen: Mapping[str, str]) -> str:
    known = declared if isinstance(declared, dict) else {}

    def value(match: re.Match[str]) -> str:
        name = match[1]
        if name in chosen:
            return chosen[name]
        entry = known.get(name)
        return str(entry.get("default", match[0])) if isinstance(entry, dict) else match[0]

    return re.sub(r"\{([^{}]+)\}", value, url)


def _scheme(name: str, value: JsonObject) -> Scheme:
    described = value.get("description")
    text = described if isinstance(described, str) else ""
    kind = value.get("type")
    if kind == "apiKey":
        where = value.get("in")
        place: Literal["header", "query", "cookie"] = where if where in {"header", "query", "cookie"} else "header"
        parameter = str(value.get("name") or "X-API-Key")
        # Such a header would change the framing of the request, or cannot be sent at all.
        if place == "header" and (is_framing(parameter) or not is_name(parameter)):
            return Scheme(name, "other", description=text)
        return Scheme(name, place, parameter=parameter, description=text)
    if kind == "basic" or (kind == "http" and str(value.get("scheme")).lower() == "basic"):
        return Scheme(name, "basic", description=text)
    if kind == "http":
        return Scheme(name, "bearer", description=text)
    if kind in {"oauth2", "openIdConnect"}:
        token_url, scopes = _flow(value)
        return replace(_signing_in(name, value), token_url=token_url, scopes=scopes, description=text)
    return Scheme(name, "other", description=text)


def _signing_in(name: str, value: JsonObject) -> Scheme:
    """Return the scheme with the endpoints of the flows in which a person signs in; OpenAPI 2 has them beside."""
    given = value.get("flows")
    flows = (
        given if isinstance(given, dict) else {"authorizationCode": value} if value.get("flow") == "accessCode" else {}
    )
    code, device = flows.get("authorizationCode") or {}, flows.get("deviceAuthorization") or {}

    def url(flow: Json, key: str) -> str:
        found = flow.get(key) if isinstance(flow, dict) else None
        return found if isinstance(found, str) else ""

    return Scheme(
        name,
        "oauth2",
        authorization_url=url(code, "authorizationUrl"),
        device_url=url(device, "deviceAuthorizationUrl"),
        sign_in_token_url=url(code, "tokenUrl") or url(device, "tokenUrl"),
        metadata_url=url(value, "openIdConnectUrl") or url(value, "oauth2MetadataUrl"),
    )


def _flow(value: JsonObject) -> tuple[str, tuple[str, ...]]:
    flows = value.get("flows")
    chosen: JsonObject = value
    if isinstance(flows, dict):
        candidates = [flows.get(name) for name in ("clientCredentials", "authorizationCode", "password", "implicit")]
        chosen = next((flow for flow in candidates if isinstance(flow, dict)), {})
    scopes = chosen.get("scopes")
    return str(chosen.get("tokenUrl") or ""), tuple(scopes) if isinstance(scopes, dict) else ()


METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")


@dataclass(slots=True)
class _Reader:
    """The parts of the document that reading one operation depends on."""

    document: Document
    variables: Mapping[str, str]
    notes: Notes
    schemas: Schemas
    servers: tuple[str, ...]
    security: tuple[Alternative, ...]
    schemes: dict[str, Scheme]
    outputs: Schemas | None = None
    skipped: list[Note] = field(default_factory=list)


def read_api(document: Document, variables: Mapping[str, str] | None = None, *, outputs: bool = False) -> Api:
    """Read a document; response schemas only if `outputs` is true."""
    root: JsonObject = document.root.value
    chosen = dict(variables or {})
    notes = Notes()
    is_v2 = document.version.startswith("2")
    reader = _Reader(
        document=document,
        variables=chosen,
        notes=notes,
        schemas=Schemas(document, "request", notes),
        servers=read_servers_v2(root, document.location)
        if is_v2
        else read_servers(document.root.at("servers"), chosen),
        security=read_requirements(root.get("security"), ()),
        schemes=read_schemes(document),
        outputs=Schemas(document, "response", Notes()) if outputs else None,
    )
    operations = tuple(_operations(reader))
    raw = root.get("info")
    info: JsonObject = raw if isinstance(raw, dict) else {}
    return Api(
        title=str(info.get("title") or ""),
        version=str(info.get("version") or ""),
        description=str(info.get("description") or ""),
        location=document.location,
        servers=reader.servers,
        schemes=reader.schemes,
        operations=operations,
        notes=document.notes.all(),
        skipped=tuple(reader.skipped),
    )


def _operations(reader: _Reader) -> Iterator[Operation]:
    for path, found in reader.document.root.at("paths").items():
        if not path.startswith("/"):
            continue
        try:
            item = reader.document.follow(found)
        except (UiMcpError, ValueError) as error:
            reader.skipped.append(Note(found.pointer, "dangling_reference", str(error), path))
            continue
        for method, place in _methods(item):
            label = f"{method} {path}"
            try:
                yield _operation(reader, path, method, item, reader.document.follow(place))
            except Exception as error:  # noqa: BLE001 - documents may be wrong in any way; keep the other operations
                reader.skipped.append(Note(place.pointer, "unreadable", f"{type(error).__name__}: {error}", label))


def _methods(item: Place) -> Iterator[tuple[str, Place]]:
    for key, place in item.items():
        if key in METHODS and isinstance(place.value, dict):
            yield key.upper(), place
    for key, place in item.at("additionalOperations").items():
        if isinstance(place.value, dict):
            yield key, place


def _operation(reader: _Reader, path: str, method: str, item: Place, place: Place) -> Operation:
    before = len(reader.notes.all())  # all operations share the notes; those from here on are about this one
    value: JsonObject = place.value
    places = declared(reader.document, item, place, reader.notes)
    if reader.document.version.startswith("2"):
        body = read_body_v2(places, _list(value, reader, "consumes"), reader.schemas)
        accepts = tuple(_list(value, reader, "produces"))
    else:
        body = read_body(reader.document, place, reader.schemas, reader.notes)
        accepts = _accepts(reader.document, place)
    parameters = tuple(read(places, path, reader.schemas, reader.notes, has_body=body is not None))
    label = f"{method} {path}"
    notes = tuple(replace(note, operation=label) for note in reader.notes.all()[before:])
    return Operation(
        method=method,
        path=path,
        operation_id=_text(value.get("operationId")),
        summary=_text(value.get("summary")) or _text(item.at("summary").value),
        description=_text(value.get("description")) or _text(item.at("description").value),
        tags=tuple(tag for tag in value.get("tags") or () if isinstance(tag, str)),
        deprecated=value.get("deprecated") is True,
        parameters=parameters,
        body=body,
        servers=read_servers(place.at("servers"), reader.variables)
        or read_servers(item.at("servers"), reader.variables),
        security=read_requirements(value.get("security"), reader.security),
        accepts=tuple(sorted(accepts, key=lambda kind: not model.is_json(kind))),
        input_schema=bundle(input_schema(parameters, body), reader.schemas.definitions),
        pointer=place.pointer,
        notes=notes,
        output_schema=read_output(reader.document, place, reader.outputs) if reader.outputs else None,
    )


def input_schema(parameters: tuple[Parameter, ...], body: Body | None) -> JsonObject:
    """Return the schema of a tool call: one object with a property per parameter and one for the body."""
    properties: JsonObject = {}
    for parameter in parameters:
        described = {"description": parameter.description} if parameter.description else {}
        properties[parameter.argument] = {**parameter.schema, **described}
    required = [parameter.argument for parameter in parameters if parameter.required]
    if body is not None:
        properties["body"] = _body_schema(body)
        if body.required:
            required.append("body")
        if len(body.variants) > 1:
            kinds = [variant.media_type for variant in body.variants]
            properties["content_type"] = {
                "type": "string",
                "enum": kinds,
                "default": kinds[0],
                "description": "Media type of the body.",
            }
    schema: JsonObject = {"type": "object", "properties": properties}
    return schema | {"required": required} if required else schema


def _body_schema(body: Body) -> JsonObject:
    distinct = body.schemas
    schema: JsonObject = dict(distinct[0]) if len(distinct) == 1 else {"anyOf": distinct}
    if body.description and "description" not in schema:
        schema["description"] = body.description
    return schema


def _accepts(document: Document, operation: Place) -> tuple[str, ...]:
    kinds: dict[str, None] = {}
    for status, place in operation.at("responses").items():
        if not status.startswith(("2", "3", "d")):
            continue
        try:
            response = document.follow(place)
        except (UiMcpError, ValueError):
            continue
        kinds |= {kind: None for kind, _ in response.at("content").items()}
    return tuple(kinds)


def _list(value: JsonObject, reader: _Reader, key: str) -> list[str]:
    found = value.get(key)
    if not isinstance(found, list):
        found = reader.document.root.value.get(key)
    return [kind for kind in found if isinstance(kind, str)] if isinstance(found, list) else []


def _text(value: Json) -> str:
    return value.strip() if isinstance(value, str) else ""
