"""ResourceSet protocol, the records it deals in, and combined sets."""

from collections.abc import Sequence
from typing import Protocol

from ui_mcp.errors import ResourceNotFoundError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.toolkit.tool import Call


@dataclass(frozen=True, slots=True)
class Resource:
    uri: str
    name: str
    description: str
    mime_type: str
    title: str | None = None
    size: int | None = None
    extra: JsonObject | None = None
    """Further fields that a mounted server lists, passed on unchanged."""


@dataclass(frozen=True, slots=True)
class ResourceTemplate:
    uri_template: str
    name: str
    description: str
    mime_type: str | None = None
    title: str | None = None
    extra: JsonObject | None = None
    """Further fields that a mounted server lists, passed on unchanged."""


@dataclass(frozen=True, slots=True)
class ResourceContent:
    """Content of a resource: text or bytes."""

    uri: str
    mime_type: str
    body: str | bytes
    ttl_ms: int = 0
    """How long a client may cache it (modern era); 0 for live state."""
    meta: JsonObject | None = None
    extra: JsonObject | None = None
    """Further fields that a mounted server sends, passed on unchanged."""


class ResourceSet(Protocol):
    async def resources(self, call: Call) -> Sequence[Resource]:
        """Return the listed resources in a stable order."""
        ...

    async def templates(self, call: Call) -> Sequence[ResourceTemplate]: ...

    async def read(self, uri: str, call: Call) -> Sequence[ResourceContent]:
        """Read one resource.

        Raises:
            ResourceNotFoundError: this set has no such resource.
        """
        ...


class CombinedResources:
    """Several resource sets as one; the first that knows a URI reads it."""

    def __init__(self, parts: Sequence[ResourceSet]) -> None:
        self._parts = parts

    async def resources(self, call: Call) -> Sequence[Resource]:
        return [resource for part in self._parts for resource in await part.resources(call)]

    async def templates(self, call: Call) -> Sequence[ResourceTemplate]:
        return [template for part in self._parts for template in await part.templates(call)]

    async def read(self, uri: str, call: Call) -> Sequence[ResourceContent]:
        for part in self._parts:
            try:
                return await part.read(uri, call)
            except ResourceNotFoundError:
                continue
        raise ResourceNotFoundError(uri)
