"""Protocol versions, the two eras that they form, and what a client says about itself in each."""

from dataclasses import field

from ui_mcp.jsonrpc import messages as rpc
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.toolkit.tool import Era

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""Negotiated by `initialize`."""
MODERN_VERSIONS = ("2026-07-28",)
"""Named by every request in its envelope, `params._meta`."""
OLDEST, LATEST_HANDSHAKE = HANDSHAKE_VERSIONS[0], HANDSHAKE_VERSIONS[-1]
UNSUPPORTED_VERSION = -32022


@dataclass(frozen=True, slots=True)
class Client:
    """What a client said about itself, in its handshake or with a modern request."""

    version: str
    name: str = ""
    capabilities: JsonObject = field(default_factory=dict)
    """Those that are not null."""

    @property
    def era(self) -> Era:
        return "modern" if self.version in MODERN_VERSIONS else "handshake"


def client_of(version: str, info: Json, declared: Json) -> Client:
    """Return the client that `clientInfo` and capabilities describe; malformed parts count as absent."""
    name = info.get("name") if isinstance(info, dict) else None
    capabilities = declared if isinstance(declared, dict) else {}
    known = {key: value for key, value in capabilities.items() if value is not None}
    return Client(version, name if isinstance(name, str) else "", known)


def envelope_of(message: JsonObject) -> JsonObject:
    """Return the envelope of a modern request.

    Raises:
        RpcError: it is missing or incomplete.
    """
    meta = (message.get("params") or {}).get(rpc.META)
    if not isinstance(meta, dict):
        raise rpc.RpcError(
            rpc.INVALID_PARAMS, f"params._meta must be an object with {rpc.VERSION_KEY!r} and {rpc.CAPABILITIES_KEY!r}"
        )
    missing = [key for key in (rpc.VERSION_KEY, rpc.CAPABILITIES_KEY) if key not in meta]
    if missing:
        raise rpc.RpcError(rpc.INVALID_PARAMS, f"params._meta lacks {' and '.join(missing)}")
    return meta


def modern_client(envelope: JsonObject) -> Client:
    """Return the client that sent an envelope.

    Raises:
        RpcError: its version is not a text, or not supported.
    """
    version = envelope[rpc.VERSION_KEY]
    if not isinstance(version, str):
        raise rpc.RpcError(rpc.INVALID_PARAMS, f"{rpc.VERSION_KEY} must be a string")
    require_modern(version)
    return client_of(version, envelope.get(rpc.CLIENT_KEY), envelope[rpc.CAPABILITIES_KEY])


def require_modern(version: str) -> None:
    """Raise the error that lists the supported versions, unless `version` is one of them."""
    if version not in MODERN_VERSIONS:
        data: JsonObject = {"supported": list(MODERN_VERSIONS), "requested": version}
        raise rpc.RpcError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)


def negotiated(offered: str) -> str:
    """Return the version that `initialize` answers to the one that the client offered."""
    return offered if offered in HANDSHAKE_VERSIONS else LATEST_HANDSHAKE
