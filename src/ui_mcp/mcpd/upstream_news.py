"""What a foreign server announces: two callbacks, and the stream that a modern server behind an address wants."""

from collections.abc import Callable
from typing import Any

import anyio
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
from ui_mcp.mcp_client.transport import _KINDS, UPDATED
from ui_mcp.toolkit.announcements import ListKind

RETRY_SECONDS = 5.0

_log = logger("mcp.client")


class Listening:
    """Keeps the stream of a modern server behind an address open."""

    def __init__(self, notified: Callable[[str, JsonObject], None]) -> None:
        self._notified = notified
        self._wanted: dict[str, None] = {}
        self._changed = anyio.Event()

    def want(self, uri: str) -> None:
        """Ask for updates of `uri`."""
        self._wanted[uri] = None
        self._changed.set()

    def drop(self, uri: str) -> None:
        """Stop asking."""
        self._wanted.pop(uri, None)
        self._changed.set()

    async def run(self, client: Client) -> None:
        """Listen for ever, and reopen the stream when other URIs are wanted."""
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
                self._notified("notifications/tools/list_changed", {})
            case PromptsListChanged():
                self._notified("notifications/prompts/list_changed", {})
            case ResourcesListChanged():
                self._notified("notifications/resources/list_changed", {})
            case ResourceUpdated(uri):
                self._notified(UPDATED, {"uri": uri})


def _announces(client: Client, kind: ListKind) -> bool:
    capability = getattr(client.server_capabilities, kind)
    return capability is not None and bool(capability.list_changed)
