"""The first messages of a conversation, of both eras, and the subscription stream of the modern one."""

from typing import Literal

import anyio

from ui_mcp.errors import UpstreamError
from ui_mcp.jsonrpc import messages
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.log import logger
from ui_mcp.mcp_client.session import Session
from ui_mcp.mcp_client.transport import ServerInfo

HANDSHAKE_VERSION = "2025-11-25"
MODERN_VERSION = "2026-07-28"
UNSUPPORTED_VERSION = -32022
RETRY_SECONDS = 5.0
_log = logger("mcp.client")
Mode = Literal["auto", "legacy", "modern"]


async def handshake_first(session: Session, mode: Mode) -> None:
    """Agree on an era over pipes, where older servers may not survive a method that they do not know.

    Raises:
        UpstreamError: the server refuses both `initialize` and `server/discover`.
    """
    if mode == "modern":
        await discover(session)
        return
    try:
        await initialize(session)
    except UpstreamError as refused:
        if mode == "legacy" or session.lost.is_set():
            raise
        try:
            await discover(session)
        except UpstreamError:
            raise refused from None


async def discovery_first(session: Session, mode: Mode) -> None:
    """Agree on an era over HTTP, where every server answers a method that it does not know.

    Raises:
        UpstreamError: the server refuses both `server/discover` and `initialize`.
    """
    if mode == "legacy":
        await initialize(session)
        return
    try:
        await discover(session)
    except UpstreamError as refused:
        if refused.details.get("fatal") or session.lost.is_set() or _is_modern_only(refused):
            raise
        session.envelope = {}
        await initialize(session)


def _is_modern_only(refused: UpstreamError) -> bool:
    """Return whether the server names the versions that it knows, and none has a handshake."""
    data = refused.details.get("data")
    known = data.get("supported") if isinstance(data, dict) else None
    if refused.details.get("rpc_code") != UNSUPPORTED_VERSION or not isinstance(known, list):
        return False
    return bool(known) and all(isinstance(one, str) and one >= MODERN_VERSION for one in known)


async def initialize(session: Session) -> None:
    params: JsonObject = {
        "protocolVersion": HANDSHAKE_VERSION,
        "capabilities": session.handlers.capabilities,
        "clientInfo": session.handlers.client_info,
    }
    data = await session.request("initialize", params)
    version = data.get("protocolVersion")
    session.version = version if isinstance(version, str) else ""
    session.server_info = _server_info(data, data.get("serverInfo"), modern=False)
    session.notify("notifications/initialized")
    await session.flush()  # requests that overtake it may be refused


async def discover(session: Session) -> None:
    session.envelope = {
        messages.VERSION_KEY: MODERN_VERSION,
        messages.CLIENT_KEY: session.handlers.client_info,
        messages.CAPABILITIES_KEY: session.handlers.capabilities,
    }
    data = await session.request("server/discover", {})
    known = data.get("supportedVersions")
    if isinstance(known, list) and MODERN_VERSION not in known:
        raise UpstreamError(f"The server does not speak MCP {MODERN_VERSION}")
    meta = data.get(messages.META)
    info: Json = meta.get(messages.SERVER_KEY) if isinstance(meta, dict) else None
    session.server_info = _server_info(data, info, modern=True)


def _server_info(data: JsonObject, info: Json, *, modern: bool) -> ServerInfo:
    name = info.get("name") if isinstance(info, dict) else None
    instructions, capabilities = data.get("instructions"), data.get("capabilities")
    return ServerInfo(
        modern=modern,
        name=name if isinstance(name, str) else "",
        instructions=instructions if isinstance(instructions, str) else None,
        capabilities=capabilities if isinstance(capabilities, dict) else {},
    )


async def follow_changes(session: Session) -> None:
    """Keep a modern server's subscription stream open, and reopen it when the subscriptions change."""
    kinds = [kind for kind in ("tools", "prompts", "resources") if _announces(session.server_info, kind)]
    while True:
        session.wanted_changed = anyio.Event()
        if not (session.wanted or kinds):
            await session.wanted_changed.wait()
            continue
        wanted: JsonObject = {f"{kind}ListChanged": True for kind in kinds}
        if session.wanted:
            wanted["resourceSubscriptions"] = list(session.wanted)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_keep_stream, session, wanted)
            await session.wanted_changed.wait()
            tasks.cancel_scope.cancel()


async def _keep_stream(session: Session, wanted: JsonObject) -> None:
    while not session.lost.is_set():
        try:
            await session.request("subscriptions/listen", {"notifications": wanted})
        except UpstreamError as error:
            _log.info("A subscription stream ended: %s", error.message)
        await anyio.sleep(RETRY_SECONDS)


def _announces(server_info: ServerInfo, kind: str) -> bool:
    offered = server_info.capabilities.get(kind)
    return isinstance(offered, dict) and bool(offered.get("listChanged"))
