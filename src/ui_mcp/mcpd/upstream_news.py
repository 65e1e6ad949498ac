"""What a foreign server announces, in both eras, turned into two callbacks."""

from collections.abc import Callable
from typing import Any, get_args

import anyio
import mcp_types as types
from mcp import Client
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import (
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger
from ui_mcp.toolkit.resources import ListKind

RETRY_SECONDS = 5.0
_log = logger("mcp.client")
_KINDS: tuple[ListKind, ...] = get_args(ListKind)


class News:
    """Relays list changes and resource updates of one server."""

    def __init__(
        self,
        list_changed: Callable[[ListKind], None],
        resource_updated: Callable[[str, JsonObject | None], None],
    ) -> None:
        self._list_changed = list_changed
        self._resource_updated = resource_updated
        self._wanted: dict[str, None] = {}
        self._changed = anyio.Event()

    def want(self, uri: str) -> None:
        """Ask for updates of `uri` (modern era)."""
        self._wanted[uri] = None
        self._changed.set()

    def drop(self, uri: str) -> None:
        """Stop asking (modern era)."""
        self._wanted.pop(uri, None)
        self._changed.set()

    async def notified(self, message: Any) -> None:
        """Take a notification of the handshake era."""
        match message:
            case types.ToolListChangedNotification():
                self._list_changed("tools")
            case types.PromptListChangedNotification():
                self._list_changed("prompts")
            case types.ResourceListChangedNotification():
                self._list_changed("resources")
            case types.ResourceUpdatedNotification(params=params):
                self._resource_updated(str(params.uri), dict(params.model_extra or {}) or None)
            case _:
                pass

    async def listen(self, client: Client) -> None:
        """Keep a modern server's stream open, and reopen it when other URIs are wanted."""
        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return
        while True:
            self._changed = anyio.Event()
            wanted: dict[str, Any] = {f"{kind}_list_changed": True for kind in _KINDS if _announces(client, kind)}
            if self._wanted or wanted:
                await self._one_stream(client, wanted)
            else:
                await self._changed.wait()

    async def _one_stream(self, client: Client, wanted: dict[str, Any]) -> None:
        try:
            async with (
                client.listen(**wanted, resource_subscriptions=list(self._wanted)) as subscription,
                anyio.create_task_group() as tasks,
            ):
                tasks.start_soon(self._relay, subscription)
                await self._changed.wait()
                tasks.cancel_scope.cancel()
        except* (MCPError, SubscriptionLost, TimeoutError) as lost:
            _log.info("A subscription stream ended: %s", lost.exceptions[0])
            with anyio.move_on_after(RETRY_SECONDS):
                await self._changed.wait()

    async def _relay(self, subscription: Any) -> None:
        async for event in subscription:
            self._tell(event)
        raise SubscriptionLost("the server closed the stream")

    def _tell(self, event: ServerEvent) -> None:
        match event:
            case ToolsListChanged():
                self._list_changed("tools")
            case PromptsListChanged():
                self._list_changed("prompts")
            case ResourcesListChanged():
                self._list_changed("resources")
            case ResourceUpdated(uri):
                self._resource_updated(uri, None)


def _announces(client: Client, kind: ListKind) -> bool:
    capability = getattr(client.server_capabilities, kind)
    return capability is not None and bool(capability.list_changed)
