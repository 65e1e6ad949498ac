"""Checks that the headers by which proxies route a modern request agree with its body."""

import re
from collections.abc import Iterable, Iterator, Mapping

from ui_mcp.jsonrpc import messages as rpc
from ui_mcp.jsonrpc import routing_headers as routing
from ui_mcp.jsontypes import Json, JsonObject
from ui_mcp.mcp_server.definition import ServerDefinition
from ui_mcp.mcp_server.request import Request
from ui_mcp.mcp_server.transports.http import HEADER_MISMATCH
from ui_mcp.toolkit.announcements import Announcement, ListChanged
from ui_mcp.toolkit.tool import Call

_DECIMAL = re.compile(r"(-?[0-9]+)(?:\.0+)?")

_ROUTING = tuple(name.encode() for name in (routing.VERSION, routing.METHOD, routing.NAME))
_DATA_KEYWORDS = ("default", "examples", "const", "enum")
"""Their values are data, not schemas."""
_Annotated = tuple[routing.Path, str, str]
"""Path, header and type of a parameter."""


def check_unique(headers: Iterable[tuple[bytes, bytes]]) -> None:
    """Raise if a header by which proxies route occurs twice: they could read one and we the other."""
    names = [name for name, _ in headers]
    for name in _ROUTING:
        if names.count(name) > 1:
            raise _mismatch(f"{name.decode()} header appears more than once")


def check_headers(message: JsonObject, envelope: JsonObject, headers: Mapping[str, str]) -> None:
    """Check that version, method and name in the headers are those of the request.

    Raises:
        RpcError: one differs or is missing.
    """
    if routing.VERSION not in headers or headers[routing.VERSION] != envelope[rpc.VERSION_KEY]:
        raise _mismatch(f"{routing.VERSION} header does not match the protocol version in params._meta")
    method = message["method"]
    if headers.get(routing.METHOD) != method:
        raise _mismatch(f"{routing.METHOD} header does not match the request's method")
    key = routing.NAMED_BY.get(method, "")
    named = message["params"].get(key)
    if named is not None and routing.decoded(headers.get(routing.NAME)) != named:
        raise _mismatch(f"{routing.NAME} header does not match the parameter {key!r}")


class ArgumentHeaders:
    """Checks the headers that repeat arguments of tool calls; reads the schemas again after the tools have changed."""

    def __init__(self, definition: ServerDefinition) -> None:
        self._definition = definition
        self._annotated: dict[str, list[_Annotated]] | None = None
        self.close = definition.announcements.listen(self._on_announcement)

    def _on_announcement(self, announcement: Announcement) -> None:
        if isinstance(announcement, ListChanged) and announcement.kind == "tools":
            self._annotated = None

    async def check(self, request: Request, headers: Mapping[str, str]) -> None:
        """Check that each annotated argument of a tool call and its header are both absent or equal.

        Raises:
            RpcError: one differs or is missing.
        """
        arguments = request.params.get("arguments") or {}
        if request.method != "tools/call" or not isinstance(arguments, dict):
            return
        if (known := self._annotated) is None:
            tools = await self._definition.toolset.tools(Call(principal=request.origin.principal, era="modern"))
            known = self._annotated = {tool.name: found for tool in tools if (found := _annotated(tool.input_schema))}
        for path, token, kind in known.get(str(request.params.get("name")), ()):
            _check_one(
                f"Mcp-Param-{token} header",
                ".".join(path),
                kind,
                routing.argument_at(arguments, path),
                headers.get(routing.PARAMETER + token.lower()),
            )


def _check_one(where: str, name: str, kind: str, argument: Json, header: str | None) -> None:
    value = routing.argument_text(argument)
    if header is None and value is None:
        return
    if header is None or value is None:
        raise _mismatch(f"{where} and the argument {name!r} must be given together")
    if not _equal(kind, value, routing.decoded(header)):
        raise _mismatch(f"{where} does not match the argument {name!r}")


def _annotated(schema: JsonObject) -> list[_Annotated]:
    """Return path, header and type of every annotated parameter; none if any annotation is invalid."""
    found: dict[str, _Annotated] = {}
    for path, node in _positions(schema):
        if routing.ANNOTATION not in node:
            continue
        token, kind = node[routing.ANNOTATION], node.get("type")
        if not isinstance(token, str) or not routing.TOKEN.fullmatch(token) or kind not in routing.ANNOTATED_TYPES:
            return []
        if not path or token.lower() in found:
            return []
        found[token.lower()] = (path, token, kind)
    return list(found.values())


def _positions(schema: Json) -> Iterator[tuple[routing.Path | None, JsonObject]]:
    """Yield every object inside a schema, and its path if only `properties` lead to it."""
    waiting: list[tuple[routing.Path | None, Json]] = [((), schema)]
    while waiting:
        path, node = waiting.pop()
        if not isinstance(node, dict):
            continue
        yield path, node
        for key, value in node.items():
            if key == "properties" and isinstance(value, dict):
                waiting += [(None if path is None else (*path, name), one) for name, one in value.items()]
            elif key not in _DATA_KEYWORDS:
                waiting += [(None, one) for one in (value if isinstance(value, list) else [value])]


def _equal(kind: str, value: str, header: str | None) -> bool:
    if kind == "integer" and header is not None:
        # 42 and 42.0 are one integer; compared as text, because a float would round large ones.
        ours, theirs = _DECIMAL.fullmatch(value), _DECIMAL.fullmatch(header)
        if ours and theirs:
            return ours[1] == theirs[1]
    return header == value


def _mismatch(text: str) -> rpc.RpcError:
    return rpc.RpcError(HEADER_MISMATCH, text)
