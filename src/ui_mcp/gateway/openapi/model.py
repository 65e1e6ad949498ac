"""Data model of an API: operations, parameters, bodies, security schemes and media types."""

from collections.abc import Mapping
from dataclasses import field
from hashlib import sha256
from typing import Literal

from ui_mcp.gateway.config.notes import Note, Status
from ui_mcp.gateway.sanitize import MASK, is_secret
from ui_mcp.jsontypes import JsonObject, digest
from ui_mcp.lazy_dataclass import dataclass

Location = Literal["path", "query", "header", "cookie", "querystring"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter; `argument` is its name in a tool call, `name` its name in the request."""

    name: str
    argument: str
    location: Location
    required: bool
    schema: JsonObject
    style: str
    explode: bool
    allow_reserved: bool = False
    allow_empty: bool = False
    media_type: str | None = None
    """Set if the value is serialized as this media type instead of by `style`."""
    description: str = ""


@dataclass(frozen=True, slots=True)
class FileData:
    """The content of a file argument."""

    data: bytes
    filename: str | None = None
    content_type: str | None = None
    url: str | None = None
    """URL of a file that is not downloaded yet; `data` is then a placeholder text."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One media type that a body may have."""

    media_type: str
    schema: JsonObject
    encoding: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Body:
    """A request body; its variants are in order of preference."""

    required: bool
    variants: tuple[Variant, ...]
    description: str = ""

    @property
    def schemas(self) -> list[JsonObject]:
        """The distinct schemas of the variants: the alternatives of the body's schema, if there are several."""
        distinct: list[JsonObject] = []
        for variant in self.variants:
            if variant.schema not in distinct:
                distinct.append(variant.schema)
        return distinct

    def allows(self, media_type: str | None) -> bool:
        return any(one.media_type == media_type for one in self.variants)

    def variant(self, media_type: str | None) -> Variant:
        """Return the variant of a media type; the preferred one if there is no such variant."""
        return next((one for one in self.variants if one.media_type == media_type), self.variants[0])


@dataclass(frozen=True, slots=True)
class Scheme:
    """A security scheme of the document; `parameter` is the header, query or cookie name of an API key."""

    name: str
    kind: Literal["header", "query", "cookie", "basic", "bearer", "oauth2", "other"]
    parameter: str = ""
    token_url: str = ""
    scopes: tuple[str, ...] = ()
    description: str = ""
    authorization_url: str = ""
    device_url: str = ""
    sign_in_token_url: str = ""
    """The token endpoint of the flows in which a person signs in."""
    metadata_url: str = ""
    """Where the authorization server describes itself."""


Alternative = tuple[str, ...]
"""Names of schemes that are required together."""


@dataclass(frozen=True, slots=True)
class Operation:
    method: str
    path: str
    operation_id: str
    summary: str
    description: str
    tags: tuple[str, ...]
    deprecated: bool
    parameters: tuple[Parameter, ...]
    body: Body | None
    servers: tuple[str, ...]
    security: tuple[Alternative, ...]
    """Alternatives; empty if the operation needs no credentials, `((),)` if they are optional."""
    accepts: tuple[str, ...]
    input_schema: JsonObject
    pointer: str
    notes: tuple[Note, ...] = ()
    output_schema: JsonObject | None = None
    """Schema of a successful response; only read if the target's `output_schemas` is on."""

    @property
    def wanted_name(self) -> str:
        """The text that the tool name is made of."""
        return self.operation_id or f"{self.method.lower()}_{self.path.replace('{', '').replace('}', '').strip('/')}"

    @property
    def identity(self) -> str:
        """A key that is unique in the document; operation ids may repeat."""
        return f"{self.method}\0{self.path}"

    @property
    def status(self) -> Status:
        return "degraded" if self.notes else "ok"


@dataclass(frozen=True, slots=True)
class Api:
    """Everything that was read from one document; `skipped` are the operations that could not be read."""

    title: str
    version: str
    description: str
    location: str
    servers: tuple[str, ...]
    schemes: dict[str, Scheme]
    operations: tuple[Operation, ...]
    notes: tuple[Note, ...]
    skipped: tuple[Note, ...] = ()

    def report(self) -> JsonObject:
        """Return for each operation whether it was read completely, as JSON."""
        return {
            "title": self.title,
            "version": self.version,
            "location": self.location,
            "operations": [
                {
                    "operation": f"{operation.method} {operation.path}",
                    "status": operation.status,
                    "notes": [note.to_json() for note in operation.notes],
                }
                for operation in self.operations
            ]
            + [{"operation": note.operation, "status": "skipped", "notes": [note.to_json()]} for note in self.skipped],
            "notes": [note.to_json() for note in self.notes],
        }


_FORM = "application/x-www-form-urlencoded"
_MULTIPART = "multipart/form-data"


def base(media_type: str) -> str:
    """Return the media type in lower case, without its parameters."""
    return media_type.split(";", maxsplit=1)[0].strip().lower()


def is_json(media_type: str) -> bool:
    """Return whether bodies of this type are JSON; `*/*` is sent as JSON."""
    kind = base(media_type)
    return kind in {"application/json", "text/json", "*/*", "application/*", ""} or kind.endswith("+json")


def is_form(media_type: str) -> bool:
    return base(media_type) == _FORM


def is_multipart(media_type: str) -> bool:
    return base(media_type).startswith("multipart/")


def is_xml(media_type: str) -> bool:
    kind = base(media_type)
    return kind in {"application/xml", "text/xml"} or kind.endswith("+xml")


def is_text(media_type: str) -> bool:
    """Return whether the body is text that is passed through unparsed; includes XML and YAML."""
    kind = base(media_type)
    texts = {
        "application/yaml",
        "application/x-yaml",
        "application/graphql",
        "application/javascript",
        "application/sql",
        "application/x-ndjson",
        "application/jsonl",
    }
    return kind.startswith("text/") or kind in texts or kind.endswith("+yaml") or is_xml(kind)


def is_sendable(media_type: str) -> bool:
    return "cbor" not in base(media_type)  # there is no encoder for CBOR


def preference(media_type: str) -> int:
    """Return the rank of a media type; the lowest is sent by default."""
    kind = base(media_type)
    exact = ("application/json", "application/merge-patch+json", "application/strategic-merge-patch+json")
    if kind in exact:
        return exact.index(kind)
    families = (
        kind.endswith("+json"),
        is_json(kind),
        is_multipart(kind),
        is_form(kind),
        is_text(kind) and not is_xml(kind),
    )
    for rank, fits in enumerate(families, start=len(exact)):
        if fits:
            return rank
    if kind == "application/octet-stream" or kind.startswith(("image/", "audio/", "video/")):
        return 20
    return 30 if is_xml(kind) else 40


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request without credentials."""

    method: str
    base: str
    path: str
    """Path below the base, URL-encoded."""
    query: tuple[str, ...]
    headers: tuple[tuple[str, str], ...]
    cookies: tuple[str, ...]
    body: bytes | None

    @property
    def url(self) -> str:
        return self.base + self.path + (("&" if "?" in self.path else "?") + "&".join(self.query) if self.query else "")

    @property
    def all_headers(self) -> tuple[tuple[str, str], ...]:
        return (*self.headers, ("Cookie", "; ".join(self.cookies))) if self.cookies else self.headers

    @property
    def digest(self) -> str:
        """Digest of method, URL, headers and body, which an approval is bound to."""
        # Values of secret headers are left out: they may be renewed between approval and call.
        headers = [[name.lower(), MASK if is_secret(name, value) else value] for name, value in self.all_headers]
        body = None if self.body is None else sha256(self.body).hexdigest()
        return digest([self.method, self.url, headers, body])


@dataclass(frozen=True, slots=True)
class Answer:
    """The response of an API."""

    status: int
    reason: str
    headers: Mapping[str, str]
    body: bytes
    url: str
    elapsed_ms: int
    retries: int = 0
    elsewhere: bool = False
    """Whether redirects led to another origin."""

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").split(";", maxsplit=1)[0].strip().lower()
