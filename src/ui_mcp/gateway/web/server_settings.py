"""The MCP servers of the chat: added by their address and removed at run time, saved in nlui.yaml."""

from pathlib import Path

from ui_mcp.errors import InvalidArgumentsError, NotFoundError
from ui_mcp.gateway.config import editor
from ui_mcp.gateway.config.loader import literal
from ui_mcp.gateway.config.settings import BackendSettings
from ui_mcp.gateway.service import GatewayService
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.toolkit.names import source_name

_SETTLE_SECONDS = 10.0


class ServerSettingsService:
    """Changes which MCP servers are mounted; without a file, changes last until the gateway stops."""

    def __init__(self, gateway: GatewayService, file: Path | None) -> None:
        self._sources = gateway.sources
        self._file = file

    async def add(self, url: str, name: str) -> JsonObject:
        """Mount the server at an address and wait a while for its tools.

        A server that is started by a command is not added here: a page should not be able to start programs.

        Raises:
            InvalidArgumentsError: it is not an http address.
            MountError: there is already a source of this name.
        """
        if not url.startswith(("http://", "https://")):
            raise InvalidArgumentsError("url must begin with http:// or https://")
        named = source_name(name or url.partition("://")[2].partition("/")[0])
        mount = await self._sources.attach(BackendSettings(name=named, url=url))
        if self._file is not None:
            entry: JsonObject = {"name": named, "url": literal(url)}
            editor.change(self._file, lambda tree: _with(tree, entry))
        await mount.settled(_SETTLE_SECONDS)
        tools = [tool.name for tool in mount.entries()]
        return {"name": named, "saved": self._file is not None, "tools": tools, "error": mount.health().error or None}

    async def remove(self, name: str) -> None:
        """Unmount a server, also in the file.

        Raises:
            NotFoundError: there is no server of this name.
            InvalidArgumentsError: the file mounts it in another place than `mcp.servers`.
        """
        mount = self._sources.mounts.get(name)
        if mount is None:
            raise NotFoundError(f"There is no MCP server named {name}")
        if mount.settings.pinned:
            raise InvalidArgumentsError(f"{name} is pinned: remove it in the configuration")
        if self._file is not None:
            editor.change(self._file, lambda tree: _without(tree, name))
        await self._sources.detach(name)


def _with(tree: JsonObject, entry: JsonObject) -> JsonObject:
    section = _section(tree)
    return {**tree, "mcp": {**section, "servers": [*(section.get("servers") or []), entry]}}


def _without(tree: JsonObject, name: str) -> JsonObject:
    section = _section(tree)
    servers = section.get("servers") or []
    left = [one for one in servers if _name(one) != name]
    elsewhere = [*(section.get("clients") or []), *({"name": one} for one in tree.get("mcpServers") or {})]
    if name in map(_name, elsewhere):
        raise InvalidArgumentsError(f"{name} is not in mcp.servers: remove it in the file yourself")
    return {**tree, "mcp": {**section, "servers": left}} if len(left) < len(servers) else tree


def _section(tree: JsonObject) -> JsonObject:
    found = tree.get("mcp")
    return found if isinstance(found, dict) else {}


def _name(server: Json) -> str:
    return source_name(str(server.get("name") or "")) if isinstance(server, dict) else ""
