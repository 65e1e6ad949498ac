"""What MCP clients of the gateway see: its own resources, and resources and prompts of mounted servers."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import parse_qs, unquote, urlsplit

import anyio
import anyio.lowlevel

from ui_mcp.discovery import lazy
from ui_mcp.errors import ApprovalError, NotFoundError, ResourceNotFoundError, UiMcpError
from ui_mcp.gateway.approvals.model import Approval
from ui_mcp.gateway.apps.addresses import (
    EXTENSION,
    MIME,
    listed_resource,
    listed_template,
    owner_of,
    relayed_content,
    resource_address,
)
from ui_mcp.gateway.config.configuration import GatewayOptions
from ui_mcp.gateway.mount import Mount
from ui_mcp.gateway.mount_connection import Connection
from ui_mcp.gateway.service import GatewayService
from ui_mcp.gateway.source import health_json
from ui_mcp.gateway.toolset import GatewayToolset
from ui_mcp.jsontypes import Json, JsonObject, dumps
from ui_mcp.log import logger
from ui_mcp.mcp_server.definition import ServerDefinition
from ui_mcp.mcp_server.request import Request
from ui_mcp.toolkit.announcements import ListKind
from ui_mcp.toolkit.names import Unnamed, tool_names
from ui_mcp.toolkit.resources import CombinedResources, Resource, ResourceContent, ResourceSet, ResourceTemplate
from ui_mcp.toolkit.tool import Call, Tool, ToolResult
from ui_mcp.toolkit.toolset import Combined, LazyToolset, Toolset
from ui_mcp.version import bundled_version

# Few clients lend their model, and the loop is large.
if TYPE_CHECKING:
    from ui_mcp.agent.tools import ControlTools, TurnControl
    from ui_mcp.gateway.ask_tool import AskToolset
    from ui_mcp.toolkit.resource_tools import Unlisted, resource_tools
else:
    ControlTools = lazy("ui_mcp.agent.tools:ControlTools")
    TurnControl = lazy("ui_mcp.agent.tools:TurnControl")
    AskToolset = lazy("ui_mcp.gateway.ask_tool:AskToolset")
    Unlisted = lazy("ui_mcp.toolkit.resource_tools:Unlisted")
    resource_tools = lazy("ui_mcp.toolkit.resource_tools:resource_tools")

JSON = "application/json"
ASK = "nlui__ask"
_LIST_TIMEOUT_SECONDS = 5.0
_log = logger("gateway.resources")
T = TypeVar("T")


class OwnResources:
    """Resources under `nlui://`, `compositor://` and `approvals://`."""

    def __init__(self, gateway: GatewayService) -> None:
        self._gateway = gateway

    async def resources(self, call: Call) -> Sequence[Resource]:
        listed = [
            Resource("nlui://health", "health", "State of every API and server", JSON),
            Resource("compositor://servers", "servers", "Mounted servers and APIs", JSON),
            Resource("approvals://pending", "approvals", "Calls that wait for a person", JSON),
            Resource("approvals://history", "approval history", "Answered approvals, newest first", JSON),
        ]
        listed += [
            Resource(f"nlui://targets/{name}/report", f"{name} report", f"What of {name} was understood", JSON)
            for name in self._gateway.sources.targets
        ]
        return [*listed, *(Resource(f"compositor://{s.name}/state", s.name, "", JSON) for s in self._gateway.health())]

    async def templates(self, call: Call) -> Sequence[ResourceTemplate]:
        return [
            ResourceTemplate("nlui://results/{handle}", "result", "An answer that was cut"),
            ResourceTemplate("approvals://{id}", "approval", "One approval", JSON),
            ResourceTemplate("approvals://history{?limit}", "approval history", "Answered approvals", JSON),
            ResourceTemplate("compositor://{server}/state", "server state", "State of one mount", JSON),
        ]

    async def read(self, uri: str, call: Call) -> Sequence[ResourceContent]:
        """Read a resource; a stored result only for the principal that it belongs to."""
        parts = urlsplit(uri)
        path = [unquote(part) for part in (parts.netloc, *parts.path.split("/")) if part]
        if parts.scheme == "nlui" and path[:1] == ["results"] and len(path) == 2:
            try:
                kept = await self._gateway.results.read(path[1], call.principal)
            except NotFoundError as error:
                raise ResourceNotFoundError(uri, error.message) from error
            body = kept.data.decode() if kept.media_type.startswith(("text/", JSON)) else kept.data
            return [ResourceContent(uri, kept.media_type, body)]
        value = await self._json(parts.scheme, path, parse_qs(parts.query), call)
        if value is None:
            raise ResourceNotFoundError(uri)
        return [ResourceContent(uri, JSON, dumps(value))]

    async def _json(self, scheme: str, path: list[str], query: Mapping[str, list[str]], call: Call) -> Json:
        gateway = self._gateway
        match (scheme, *path):
            case ("nlui", "health"):
                return {"sources": health_json(gateway.health()), "tools": len(gateway.catalog.entries())}
            case ("nlui", "targets", name, "report") if name in gateway.sources.targets:
                api = gateway.sources.targets[name].source.api
                return api.report() if api else {"error": gateway.sources.targets[name].source.error}
            case ("compositor", "servers"):
                return {"servers": health_json(gateway.health())}
            case ("compositor", name, "state"):
                return self._state(name)
            case ("approvals", *rest):
                return await self._approvals(rest, query, call)
            case _:
                return None

    async def _approvals(self, path: list[str], query: Mapping[str, list[str]], call: Call) -> Json:
        """Return a caller's own approvals in full, and only an outline of other callers' approvals."""
        approvals, masker = self._gateway.approvals, self._gateway.masker

        def seen(row: Approval) -> JsonObject:
            return row.to_json(masker) if row.belongs_to(call.principal, call.connection) else row.outline()

        match path:
            case ["pending"]:
                proposals = [one.to_json() for one in await self._gateway.proposals.all() if one.status == "pending"]
                return {"approvals": [seen(row) for row in await approvals.pending()], "proposals": proposals}
            case ["history"]:
                asked = query.get("limit", ["100"])[0]
                limit = int(asked) if asked.isdecimal() and len(asked) < 10 else 100
                return {"approvals": [seen(row) for row in await approvals.history(limit)]}
            case [approval_id]:
                try:
                    return seen(await approvals.get(approval_id))
                except ApprovalError:
                    return None
            case _:
                return None

    def _state(self, name: str) -> JsonObject | None:
        found = next((entry for entry in self._gateway.health() if entry.name == name), None)
        if found is None:
            return None
        if found.state == "pending":
            return {"state": "initializing"}
        if found.state == "failed":
            return {"state": "failed", "error": found.error}
        source = self._gateway.catalog.source(name)
        tools = [entry.name for entry in source.entries()] if source else []
        state: JsonObject = {"state": "running" if found.state == "active" else found.state, "tools": tools}
        mount = self._gateway.sources.mounts.get(name)
        if mount is not None and mount.connection is not None:
            server = mount.connection
            kinds: tuple[ListKind, ...] = ("tools", "resources", "prompts")
            offers: JsonObject = {kind: {} for kind in kinds if server.offers(kind)}
            said = {"serverInfo": {"name": server.name}, "capabilities": offers, "instructions": server.instructions}
            state["initialize"] = said
        return {**state, "error": found.error}


class MountedResources:
    """Resources of mounted servers under their own URIs; if two servers share a URI, the first one keeps it.

    Apps (`ui://`) always have an address that names their server.
    """

    def __init__(self, gateway: GatewayService) -> None:
        self._gateway = gateway
        self._owners: dict[str, str] = {}

    async def resources(self, call: Call) -> Sequence[Resource]:
        """List the resources of every running server; one that is slow or fails is left out."""
        found = await _each(self._gateway.sources.mounts, lambda connection: connection.resources(call))
        listed: list[Resource] = []
        self._owners = {}
        for name, resources in found.items():
            for resource in (listed_resource(one, name) for one in resources):
                if resource.uri in self._owners:
                    listed.append(replace(resource, uri=resource_address(name, resource.uri)))
                else:
                    self._owners[resource.uri] = name
                    listed.append(resource)
        return listed

    async def templates(self, call: Call) -> Sequence[ResourceTemplate]:
        found = await _each(self._gateway.sources.mounts, lambda connection: connection.templates(call))
        return [listed_template(one, name) for name, templates in found.items() for one in templates]

    async def read(self, uri: str, call: Call) -> Sequence[ResourceContent]:
        """Read from the server that lists the URI, else from the first one that can."""
        live = self._live()
        named = owner_of(uri)
        if named is not None:
            if named[0] not in live:
                raise ResourceNotFoundError(uri)
            return await self._read(*named, call)
        owner = self._owners.get(uri)
        # URIs made from a template are in no list: ask every server, the one that listed the URI first.
        order = sorted(live, key=lambda name: name != owner)
        for name in order:
            with self._gateway.sources.mounts[name].requests:
                try:
                    with anyio.fail_after(_LIST_TIMEOUT_SECONDS if name != owner else 60):
                        return await self._read(name, uri, call)
                except (UiMcpError, TimeoutError):
                    continue
        raise ResourceNotFoundError(uri)

    async def _read(self, server: str, uri: str, call: Call) -> Sequence[ResourceContent]:
        mount = self._gateway.sources.mounts[server]
        found = await self._live()[server].read(uri, call)
        return [relayed_content(one, server, mount.app_names()) for one in found]

    def _live(self) -> dict[str, Connection]:
        return {
            name: mount.connection
            for name, mount in self._gateway.sources.mounts.items()
            if mount.connection is not None
        }


class MountedPrompts:
    """Prompts of mounted servers, named like their tools."""

    def __init__(self, gateway: GatewayService) -> None:
        self._gateway = gateway
        self._table: dict[str, tuple[str, str]] = {}

    async def prompts(self, call: Call) -> Sequence[JsonObject]:
        """List the prompts of every running server, prefixed with its name."""
        found = await _each(self._gateway.sources.mounts, lambda connection: connection.prompts(call))
        listed: list[JsonObject] = []
        self._table = {}
        for source, prompts in found.items():
            names = tool_names(source, [Unnamed(prompt["name"], prompt["name"]) for prompt in prompts])
            for name, prompt in zip(names, prompts, strict=True):
                self._table[name] = (source, prompt["name"])
                listed.append({**prompt, "name": name})
        return listed

    async def get(self, name: str, arguments: Mapping[str, str], call: Call) -> JsonObject:
        connection, inner = await self._find(name, call)
        return await connection.get(inner, arguments, call)

    async def complete(self, reference: JsonObject, argument: JsonObject, call: Call) -> JsonObject:
        """Complete an argument at the server that owns the prompt or resource."""
        if reference.get("type") == "ref/prompt":
            connection, inner = await self._find(str(reference.get("name")), call)
            return await connection.complete({**reference, "name": inner}, argument, call)
        for mount in self._gateway.sources.mounts.values():
            if mount.connection is not None:
                with mount.requests:
                    try:
                        return await mount.connection.complete(reference, argument, call)
                    except UiMcpError:
                        continue
        return {"values": []}

    async def _find(self, name: str, call: Call) -> tuple[Connection, str]:
        if name not in self._table:
            await self.prompts(call)
        source, inner = self._table.get(name, ("", ""))
        mount = self._gateway.sources.mounts.get(source)
        if mount is None or mount.connection is None:
            raise NotFoundError(f"No prompt named {name!r}")
        return mount.connection, inner


async def _each(
    mounts: Mapping[str, Mount], ask: Callable[[Connection], Awaitable[Sequence[T]]]
) -> dict[str, Sequence[T]]:
    """Query all running servers concurrently, each within a time limit; those that fail are left out."""
    found: dict[str, Sequence[T]] = {}

    async def one(mount: Mount, connection: Connection) -> None:
        with mount.requests:
            try:
                with anyio.fail_after(_LIST_TIMEOUT_SECONDS):
                    found[mount.name] = await ask(connection)
            except (UiMcpError, TimeoutError) as error:
                _log.info("server %s did not answer a list request: %s", mount.name, error)

    async with anyio.create_task_group() as group:
        for mount in mounts.values():
            if mount.connection is not None:
                group.start_soon(one, mount, mount.connection)
    return {name: found[name] for name in mounts if name in found}


def _log_levels(gateway: GatewayService) -> Callable[[Request], Awaitable[JsonObject]]:
    """Return the handler of `logging/setLevel`, which also asks the mounted servers."""

    async def set_level(request: Request) -> JsonObject:
        level = request.params["level"]
        request.origin.queue.set_log_level(level)
        await gateway.sources.set_log_level(level)
        return {}

    return set_level


class SamplingToolset:
    """The gateway's tools, and `nlui__ask` for clients that lend their model (sampling)."""

    def __init__(self, offered: Toolset, instructions: Callable[[], str]) -> None:
        self._offered = offered
        self._asking = LazyToolset(lambda: AskToolset(offered, instructions), anyio.lowlevel.checkpoint)

    async def tools(self, call: Call) -> Sequence[Tool]:
        lends = call.ask_client is not None and call.capabilities.get("sampling") is not None
        return await (self._asking if lends else self._offered).tools(call)

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        return await (self._asking if name == ASK else self._offered).call(name, arguments, call)


def _unlisted_tools(gateway: GatewayService, resources: ResourceSet) -> Toolset:
    """Return `loop_yield_turn` and `resources__…`, which can be called, but are not listed."""
    return Combined(
        [
            Unlisted(gateway.audited(ControlTools(TurnControl()), "loop")),
            Unlisted(gateway.audited(resource_tools(resources), "resources")),
        ]
    )


def gateway_definition(gateway: GatewayService, options: GatewayOptions) -> ServerDefinition:
    """Return the gateway as a server definition."""
    resources = CombinedResources([OwnResources(gateway), MountedResources(gateway)])
    tools = GatewayToolset(gateway, mode="compact" if options.compact else None)
    unlisted = LazyToolset(lambda: _unlisted_tools(gateway, resources), anyio.lowlevel.checkpoint, lambda: ())
    return ServerDefinition(
        name="nlui",
        title="NLUI gateway",
        version=bundled_version(),
        toolset=Combined([unlisted, SamplingToolset(tools, tools.instructions)]),
        resources=resources,
        announcements=gateway.announcements,
        instructions=tools.instructions,
        prompts=MountedPrompts(gateway),
        tools_per_page=gateway.settings.catalogue.page_size,
        list_changed=frozenset({"tools", "resources", "prompts"}),
        extensions={EXTENSION: {"mimeTypes": [MIME]}},
        tasks=gateway.tasks,
        extra_handlers={"logging/setLevel": _log_levels(gateway)},
    )
