"""Random conversations with an MCP server, most of them slightly wrong; one seed is one conversation."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from random import Random
from typing import Any, Literal

from conformance.fixture import GUIDE, MISSING, TOOLS
from ui_mcp.jsontypes import Json, JsonObject

HANDSHAKE = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
ODD: tuple[Json, ...] = (None, True, 0, -1, 1.5, "", "x", [], ["x"], {}, {"x": {}}, 2**70)
Era = Literal["handshake", "modern"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One message, and over HTTP its headers."""

    message: Json
    headers: dict[str, str]


@dataclass(frozen=True, slots=True)
class Conversation:
    seed: int
    era: Era
    over_http: bool
    turns: list[Turn]


def conversation(seed: int) -> Conversation:
    """Return the conversation of a seed."""
    rng = Random(seed)
    era: Era = rng.choice(("handshake", "modern"))
    over_http = rng.random() < 0.4
    messages = [*_opening(rng, era), *(_message(rng, era) for _ in range(rng.randint(1, 5)))]
    return Conversation(seed, era, over_http, [_turn(rng, era, one) for one in messages])


def _opening(rng: Random, era: Era) -> list[Json]:
    if era == "modern":
        return []
    hello = _request("initialize", _hello(rng), 0)
    ready: Json = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    opening = [hello, ready]
    if rng.random() < 0.15:
        opening = [_damaged(rng, hello), ready]
    return opening[rng.random() < 0.05 :]


def _hello(rng: Random) -> JsonObject:
    capabilities: JsonObject = rng.choice(({}, {"sampling": {}}, {"roots": {"listChanged": True}, "elicitation": {}}))
    version = rng.choice((*HANDSHAKE, "1999-01-01"))
    return {"protocolVersion": version, "capabilities": capabilities, "clientInfo": {"name": "c", "version": "1"}}


def _message(rng: Random, era: Era) -> Json:
    number = rng.choice((rng.randint(1, 9), f"id-{rng.randint(1, 9)}"))
    if rng.random() < 0.1:
        return rng.choice(_OTHERS)(rng)
    method, params = rng.choice(_METHODS)
    given = params(rng)
    if era == "modern":
        given = {**given, "_meta": {**given.get("_meta", {}), VERSION: MODERN, CAPABILITIES: {}}}
    message = _request(method, given, number)
    if not given and rng.random() < 0.5:
        del message["params"]
    return _damaged(rng, message) if rng.random() < 0.5 else message


def _request(method: str, params: JsonObject, number: Json) -> JsonObject:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def _call(rng: Random) -> JsonObject:
    call: JsonObject = {"name": rng.choice((*TOOLS, "unknown"))}
    if rng.random() < 0.8:
        call["arguments"] = rng.choice(({}, {"text": "words"}, {"text": "ä", "more": [1]}))
    if rng.random() < 0.2:
        call["_meta"] = {"progressToken": rng.choice((7, "seven"))}
    if rng.random() < 0.1:
        call |= {"inputResponses": {"name": {"roots": []}}, "requestState": "state"}
    return call


def _completion(rng: Random) -> JsonObject:
    reference = rng.choice(({"type": "ref/prompt", "name": "greet"}, {"type": "ref/resource", "uri": GUIDE}))
    return {"ref": reference, "argument": {"name": "who", "value": "w"}}


def _empty(rng: Random) -> JsonObject:
    return {}


def _page(rng: Random) -> JsonObject:
    return {"cursor": "2"} if rng.random() < 0.1 else {}


def _uri(rng: Random) -> JsonObject:
    return {"uri": rng.choice((GUIDE, MISSING))}


_METHODS: tuple[tuple[str, Callable[[Random], JsonObject]], ...] = (
    ("ping", _empty),
    ("server/discover", _empty),
    ("tools/list", _page),
    *(("tools/call", _call),) * 4,
    ("resources/list", _page),
    ("resources/templates/list", _page),
    *(("resources/read", _uri),) * 2,
    ("resources/subscribe", _uri),
    ("resources/unsubscribe", _uri),
    ("prompts/list", _page),
    ("prompts/get", lambda rng: {"name": rng.choice(("greet", "none")), "arguments": {"who": "you"}}),
    ("completion/complete", _completion),
    ("logging/setLevel", lambda rng: {"level": "info"}),
    (
        "subscriptions/listen",
        lambda rng: {"notifications": {"toolsListChanged": True, "resourceSubscriptions": [GUIDE]}},
    ),
    ("initialize", _hello),
    ("tasks/list", _empty),
    ("no/such/method", _empty),
)
_OTHERS: tuple[Callable[[Random], Json], ...] = (
    lambda rng: {"jsonrpc": "2.0", "method": "notifications/initialized"},
    lambda rng: {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": rng.randint(1, 99)}},
    lambda rng: {"jsonrpc": "2.0", "method": "notifications/unknown", "params": rng.choice(({}, {"x": 1}))},
    lambda rng: {"jsonrpc": "2.0", "id": rng.randint(1, 9), "result": {}},
    lambda rng: {"jsonrpc": "2.0", "id": "ui-mcp-1", "error": {"code": 1, "message": "no"}},
    lambda rng: rng.choice(ODD),
    lambda rng: [_request("ping", {}, 1), _request("tools/list", {}, 2)],
)


def _damaged(rng: Random, message: JsonObject) -> JsonObject:
    """Return the message with one part removed, replaced or added."""
    broken = deepcopy(message)
    places = list(_objects(broken))
    place = rng.choice(places)
    key = rng.choice((*place, "extra"))
    match rng.randrange(3):
        case 0 if key in place:
            del place[key]
        case 1:
            place[key] = rng.choice(ODD)
        case _:
            place["extra"] = rng.choice(ODD)
    return broken


def _objects(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, dict):
        return []
    return [value, *(one for member in value.values() for one in _objects(member))]


def _turn(rng: Random, era: Era, message: Json) -> Turn:
    """Add the headers that a client would send, sometimes wrong ones."""
    body = message if isinstance(message, dict) else {}
    headers: dict[str, str] = {}
    if era == "modern":
        given = body.get("params")
        params: JsonObject = given if isinstance(given, dict) else {}
        headers = {"mcp-protocol-version": MODERN, "mcp-method": str(body.get("method"))}
        name = params.get("uri" if body.get("method") == "resources/read" else "name")
        if isinstance(name, str):
            headers["mcp-name"] = name
        arguments = params.get("arguments")
        text = arguments.get("text") if isinstance(arguments, dict) else None
        if isinstance(text, str) and body.get("method") == "tools/call":
            headers["mcp-param-text"] = text if text.isascii() else "=?base64?w6Q=?="
    elif rng.random() < 0.7:
        headers = {"mcp-protocol-version": rng.choice(HANDSHAKE)}
    if rng.random() < 0.08:
        names = ("mcp-protocol-version", "mcp-method", "mcp-name", "mcp-param-text", "accept", "content-type")
        values = ("", "x", "2099-01-01", MODERN, "application/json", "text/event-stream", "=?base64?!?=", "tools/call")
        headers[rng.choice(names)] = rng.choice(values)
    return Turn(message, headers)
