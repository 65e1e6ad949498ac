"""`Mcp-Param-*` headers: copies of tool arguments for proxies, which must agree with the body."""

from collections.abc import Mapping

from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import validate_mcp_param_headers, x_mcp_header_map

from ui_mcp.jsontypes import JsonObject
from ui_mcp.mcp_server.definition import Face
from ui_mcp.toolkit.tool import Call

_PREFIX = "mcp-param-"


async def check_mirrored_headers(face: Face, message: JsonObject, headers: Mapping[str, str], principal: str) -> None:
    """Compare a modern tool call's mirrored headers with its arguments.

    Raises:
        MCPError: they disagree.
    """
    if message["method"] != "tools/call":
        return
    params = message.get("params", {})
    arguments = params.get("arguments") or {}
    mirrored = any(name.startswith(_PREFIX) for name in headers)
    if not isinstance(arguments, dict) or not (mirrored or face.mirrors_arguments):
        return
    schema = await _schema(face, params.get("name"), principal)
    if schema is None or not x_mcp_header_map(schema):
        return
    rejection = validate_mcp_param_headers(schema, arguments, headers)
    if rejection is not None:
        raise MCPError(rejection.code, rejection.message, rejection.data)


async def _schema(face: Face, name: object, principal: str) -> JsonObject | None:
    listed = await face.toolset.tools(Call(principal=principal, era="modern"))
    return next((tool.input_schema for tool in listed if tool.name == name), None)
