"""A server behind an address, spoken to through the SDK's client."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import mcp_types as types
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter, ValidationError

from ui_mcp.errors import UiMcpError, UpstreamError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.mcp_client.transport import HttpUrl, SseUrl, streams
from ui_mcp.mcpd.carried_lists import restored
from ui_mcp.mcpd.channel import CLIENT_INFO, Channel, Greeting, Hooks, Patience
from ui_mcp.mcpd.upstream_news import Listening

_RAW: TypeAdapter[Any] = TypeAdapter(dict[str, Any])


@asynccontextmanager
async def sdk_channel(address: HttpUrl | SseUrl, hooks: Hooks, *, legacy: bool) -> AsyncIterator[Channel]:
    """Connect for the length of the block."""
    lost = anyio.Event()
    listening = Listening(hooks.notified)
    client = Client(
        streams(address, lost),
        mode="legacy" if legacy else "auto",
        message_handler=_notified(hooks),
        cache=None,
        client_info=types.Implementation.model_validate(CLIENT_INFO),
        list_roots_callback=_asking(hooks, "roots/list", types.ListRootsResult) if _has_roots(hooks) else None,
        sampling_callback=_asking(hooks, "sampling/createMessage", types.CreateMessageResult),
        elicitation_callback=_asking(hooks, "elicitation/create", types.ElicitResult),
    )
    async with client, anyio.create_task_group() as tasks:
        tasks.start_soon(listening.run, client)
        yield SdkChannel(client, listening, lost)
        tasks.cancel_scope.cancel()


class SdkChannel:
    """The SDK's session, with raw results."""

    def __init__(self, client: Client, listening: Listening, lost: anyio.Event) -> None:
        self.lost = lost
        self.greeting = Greeting(
            modern=client.protocol_version in MODERN_PROTOCOL_VERSIONS,
            name=client.server_info.name if client.server_info else "",
            instructions=client.instructions,
            capabilities=client.server_capabilities.model_dump(by_alias=True, mode="json", exclude_none=True),
        )
        self._client = client
        self._listening = listening

    async def request(self, method: str, params: JsonObject, patience: Patience | None = None) -> JsonObject:
        """Send a request and return its result as it came."""
        request = types.client_request_adapter.validate_python({"method": method, "params": params})
        if patience is None:
            return await self._send(request, None)
        with anyio.CancelScope(deadline=anyio.current_time() + patience.seconds) as limit:

            async def progress(done: float, total: float | None, message: str | None) -> None:
                limit.deadline = anyio.current_time() + patience.seconds
                await patience.progress(done, total, message)

            return await self._send(request, progress)
        raise UpstreamError(f"no answer within {patience.seconds:g} s", silent=True)

    async def subscribe(self, uri: str) -> None:
        """Ask to be told of changes of `uri`."""
        if self.greeting.modern:
            self._listening.want(uri)
        else:
            await self.request("resources/subscribe", {"uri": uri})

    async def unsubscribe(self, uri: str) -> None:
        """Stop being told."""
        if self.greeting.modern:
            self._listening.drop(uri)
        else:
            await self.request("resources/unsubscribe", {"uri": uri})

    async def _send(self, request: Any, progress: Any) -> JsonObject:
        try:
            body: JsonObject = await self._client.session.send_request(request, _RAW, progress_callback=progress)
            return restored(body)
        except MCPError as error:
            raise UpstreamError(error.message, rpc_code=error.code, data=error.data) from error
        except (ValidationError, RuntimeError, OSError) as error:
            first = next(iter(str(error).splitlines()), "") or type(error).__name__
            raise UpstreamError(f"The server's answer could not be read: {first}") from error


def _has_roots(hooks: Hooks) -> bool:
    return "roots" in hooks.capabilities


def _notified(hooks: Hooks) -> Any:
    async def take(message: Any) -> None:
        # Only notifications have a method here; requests of the server have callbacks of their own.
        if isinstance(message, types.Notification):
            told = message.model_dump(by_alias=True, mode="json", exclude_none=True)
            hooks.notified(told["method"], told.get("params") or {})

    return take


def _asking(hooks: Hooks, method: str, result: Any) -> Any:
    async def ask(_context: Any, params: Any = None) -> Any:
        given = params.model_dump(by_alias=True, mode="json", exclude_none=True) if params is not None else {}
        try:
            return result.model_validate(await hooks.asked(method, given))
        except UiMcpError as error:
            code = error.details.get("rpc_code")
            return types.ErrorData(code=code if isinstance(code, int) else -32601, message=error.message)
        except ValidationError:
            return types.ErrorData(code=-32603, message="The client's answer could not be read")

    return ask
