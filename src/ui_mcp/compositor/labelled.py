"""Marks what a mounted server asks a person with the server's name, so that it cannot pose as the gateway."""

from dataclasses import replace

from ui_mcp.compositor.plain import plain
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.toolkit.tool import Call, InputNeeded, ToolResult

_ELICIT = "elicitation/create"


def labelled_call(call: Call, server: str) -> Call:
    """Return the call with a way to its client that tells who asks."""
    ask = call.ask_client
    if ask is None:
        return call

    async def asked(method: str, params: JsonObject) -> JsonObject:
        return await ask(method, _labelled(method, params, server))

    return replace(call, ask_client=asked)


def labelled_result(result: ToolResult, server: str) -> ToolResult:
    """Return the result with its questions marked."""
    if result.needs is None:
        return result
    requests = {key: _request(one, server) for key, one in result.needs.requests.items()}
    return replace(result, needs=InputNeeded(requests, result.needs.state))


def _request(one: Json, server: str) -> Json:
    if not isinstance(one, dict) or not isinstance(one.get("params"), dict):
        return one
    return {**one, "params": _labelled(str(one.get("method")), one["params"], server)}


def _labelled(method: str, params: JsonObject, server: str) -> JsonObject:
    if method != _ELICIT:
        return params
    return {**params, "message": f"The server {server} asks: {plain(str(params.get('message', '')))}"}
