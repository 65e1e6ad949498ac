"""Operation, Parameter, Body, media types."""

from dataclasses import dataclass, field
from typing import Literal

from ui_mcp.gateway.config.parse import Note, Status
from ui_mcp.jsontypes import Json, JsonObject

Location = Literal["path", "query", "header", "cookie", "querystring"]


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter; `argument` is what a caller writes, `name` what the API wants."""

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
    """Set when the value is sent as a document of that type instead of by style."""
    description: str = ""


@dataclass(frozen=True, slots=True)
class Variant:
    """One media type a body may have."""

    media_type: str
    schema: JsonObject
    encoding: JsonObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Body:
    """A request body; the first variant is the one sent unless the caller chooses."""

    required: bool
    variants: tuple[Variant, ...]
    description: str = ""

    def variant(self, media_type: str | None) -> Variant:
        """Return the chosen variant, else the preferred one."""
        return next((one for one in self.variants if one.media_type == media_type), self.variants[0])


@dataclass(frozen=True, slots=True)
class Scheme:
    """A security scheme of the document."""

    name: str
    kind: Literal["header", "query", "cookie", "basic", "bearer", "oauth2", "other"]
    parameter: str = ""
    token_url: str = ""
    scopes: tuple[str, ...] = ()
    description: str = ""


Alternative = tuple[str, ...]
"""Names of schemes that must all be satisfied."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of an API."""

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
    """Alternatives; empty means the operation needs nothing, `((),)` that it may go without."""
    accepts: tuple[str, ...]
    input_schema: JsonObject
    pointer: str
    notes: tuple[Note, ...] = ()
    pagination: Json = None
    output_schema: JsonObject | None = None
    """What a successful answer looks like; read only where the target lists it."""

    @property
    def wanted_name(self) -> str:
        """The words a tool name is made of."""
        return self.operation_id or f"{self.method.lower()}_{self.path.replace('{', '').replace('}', '').strip('/')}"

    @property
    def identity(self) -> str:
        """What no other operation of the document has."""
        return f"{self.method}\0{self.path}"

    @property
    def status(self) -> Status:
        """Say whether anything had to be mended."""
        return "degraded" if self.notes else "ok"


@dataclass(frozen=True, slots=True)
class Api:
    """A whole document, understood."""

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
        """Say per operation how well it was understood."""
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
    """Drop parameters and case."""
    return media_type.split(";", maxsplit=1)[0].strip().lower()


def is_json(media_type: str) -> bool:
    """Say whether bodies of this type are JSON; `*/*` is sent as JSON."""
    kind = base(media_type)
    return kind in {"application/json", "text/json", "*/*", "application/*", ""} or kind.endswith("+json")


def is_form(media_type: str) -> bool:
    """Say whether it is a URL-encoded form."""
    return base(media_type) == _FORM


def is_multipart(media_type: str) -> bool:
    """Say whether it is a multipart form."""
    return base(media_type).startswith("multipart/")


def is_xml(media_type: str) -> bool:
    """Say whether it is XML."""
    kind = base(media_type)
    return kind in {"application/xml", "text/xml"} or kind.endswith("+xml")


def is_text(media_type: str) -> bool:
    """Say whether the body is text that we do not take apart."""
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
    """Say whether we can build such a body at all."""
    return "cbor" not in base(media_type)


def preference(media_type: str) -> int:
    """Rank: the lower, the sooner it is chosen."""
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
