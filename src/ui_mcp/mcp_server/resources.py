"""Resources and prompts: `resources/…` without subscriptions, `prompts/…` and `completion/complete`."""

from base64 import b64encode

from ui_mcp.errors import LifecycleError, NotFoundError, RefusedError, UiMcpError
from ui_mcp.jsonrpc.messages import INTERNAL_ERROR, INVALID_PARAMS, META, RESOURCE_NOT_FOUND, RpcError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.mcp_server.definition import Prompts, ServerDefinition
from ui_mcp.mcp_server.request import Request
from ui_mcp.mcp_server.results import cleaned, listed, present
from ui_mcp.toolkit.resources import Resource, ResourceContent, ResourceSet, ResourceTemplate

_DESCRIBED = {"name": "name", "title": "title", "description": "description", "mimeType": "mime_type"}
_RESOURCE = {"uri": "uri", "size": "size", **_DESCRIBED}


class Resources:
    """The handlers of one definition."""

    def __init__(self, definition: ServerDefinition, resources: ResourceSet) -> None:
        self._definition = definition
        self._resources = resources

    async def list(self, request: Request) -> JsonObject:
        _require_one_page(request)
        return {"resources": [listed_resource(entry) for entry in await self._resources.resources(request.call())]}

    async def templates(self, request: Request) -> JsonObject:
        _require_one_page(request)
        found = await self._resources.templates(request.call())
        return {"resourceTemplates": [listed_template(one) for one in found]}

    async def read(self, request: Request) -> JsonObject:
        """Return the contents of a resource, under the URI that the client used."""
        uri = request.params["uri"]
        canonical = self._definition.canonical(uri)
        try:
            read = await self._resources.read(canonical, request.call())
        except UiMcpError as error:
            raise _failure(error, uri, request) from error
        if not read:
            raise _failure(NotFoundError(f"Resource not found: {uri}"), uri, request)
        contents = [content_json(item, uri if item.uri == canonical else item.uri) for item in read]
        return {"contents": contents, "ttlMs": min(item.ttl_ms for item in read), "cacheScope": "private"}


class PromptHandlers:
    """Prompts and completion of servers that relay others."""

    def __init__(self, prompts: Prompts) -> None:
        self._prompts = prompts

    async def list(self, request: Request) -> JsonObject:
        _require_one_page(request)
        return {"prompts": list(await self._prompts.prompts(request.call()))}

    async def get(self, request: Request) -> JsonObject:
        params = request.params
        return await self._prompts.get(params["name"], params.get("arguments") or {}, request.call())

    async def complete(self, request: Request) -> JsonObject:
        params = request.params
        return {"completion": await self._prompts.complete(params["ref"], params["argument"], request.call())}


def listed_resource(entry: Resource) -> JsonObject:
    return listed(entry, _RESOURCE)


def listed_template(entry: ResourceTemplate) -> JsonObject:
    return {"uriTemplate": entry.uri_template, **listed(entry, _DESCRIBED)}


def _require_one_page(request: Request) -> None:
    """Raise if the request has a cursor: every list but that of tools is a single page."""
    if request.params.get("cursor") is not None:
        raise RpcError(INVALID_PARAMS, "Unknown cursor: this list has one page")


def _failure(error: UiMcpError, uri: str, request: Request) -> RpcError:
    """Return the error for a resource that cannot be read; the code for a missing one differs by era."""
    absent = isinstance(error, NotFoundError | RefusedError | LifecycleError)
    missing = INVALID_PARAMS if request.client.era == "modern" else RESOURCE_NOT_FOUND
    return RpcError(missing if absent else INTERNAL_ERROR, cleaned(error.message), {"uri": uri})


def content_json(item: ResourceContent, uri: str) -> JsonObject:
    """Return a content as `resources/read` shows it."""
    text = cleaned(item.body) if isinstance(item.body, str) else None
    blob = b64encode(item.body).decode() if isinstance(item.body, bytes) else None
    fields = {"uri": uri, "mimeType": item.mime_type, "text": text, "blob": blob, META: item.meta}
    return {**(item.extra or {}), **present(fields)}
