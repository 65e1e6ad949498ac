"""Tools: `tools/list` and `tools/call`."""

from functools import partial

from ui_mcp.errors import DISK_ERRNOS, DeniedError, DiskError, TooDeepError, UiMcpError, UnknownToolError
from ui_mcp.jsonrpc.messages import INVALID_PARAMS, META, RpcError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger
from ui_mcp.mcp_server.definition import ServerDefinition
from ui_mcp.mcp_server.request import Request
from ui_mcp.mcp_server.results import call_result, cleaned, listed, present, refusal, with_object
from ui_mcp.toolkit.tool import Call, Tool

_log = logger("mcp")
_LONGEST_CURSOR = 9
"""Digits; `int` raises for texts of thousands of digits."""
_FIELDS = {
    **{name: name for name in ("name", "title", "description")},
    "inputSchema": "input_schema",
    "outputSchema": "output_schema",
    META: "meta",
}


class Tools:
    """The handlers of one definition."""

    def __init__(self, definition: ServerDefinition) -> None:
        self._definition = definition

    async def list(self, request: Request) -> JsonObject:
        size = self._definition.tools_per_page
        start = _offset(request.params.get("cursor"), size)
        call = request.call()
        shown = [tool for tool in await self._definition.toolset.tools(call) if call.shows_apps() or not tool.app_only]
        end = start + (size or len(shown))
        following = {"nextCursor": str(end)} if end < len(shown) else {}
        return {"tools": [listed_tool(tool) for tool in shown[start:end]], **following}

    async def call(self, request: Request) -> JsonObject:
        """Run a tool and return its result; a failure that the agent can act on is a result with `isError`.

        Raises:
            RpcError: there is no such tool, or the call was denied.
        """
        name = request.params["name"]
        _log.info("tool %s", name)
        tasks = self._definition.tasks
        if tasks is not None and tasks.is_declared_by(request.client):
            return await tasks.call(request, self.answer, partial(self._is_repeatable, name, request.call()))
        return await self.answer(name, request.params.get("arguments") or {}, request.call())

    async def answer(self, name: str, arguments: JsonObject, call: Call) -> JsonObject:
        """Run a tool for a caller, and return the result in MCP's form."""
        try:
            answer = await self._definition.toolset.call(name, arguments, call)
        except (UnknownToolError, TooDeepError) as error:
            raise RpcError(INVALID_PARAMS, cleaned(error.message)) from error
        except DeniedError as error:
            raise _denial(error) from error
        except UiMcpError as error:
            _log.info("tool %s failed: %s", name, error.message)
            return refusal(error)
        except OSError as error:
            if error.errno not in DISK_ERRNOS:
                raise
            return refusal(DiskError(f"{name} cannot write {error.filename or 'its files'}", error))
        if answer.needs is not None:
            asked = {"inputRequests": answer.needs.requests, "requestState": answer.needs.state}
            return {"resultType": "input_required", **asked}
        if _parses_texts(call):
            answer = with_object(answer)
        return await call_result(answer, self._definition.max_result_chars(), self._definition.spill)

    async def _is_repeatable(self, name: str, call: Call) -> bool:
        """Return whether a listed tool only reads, or changes nothing more when it is called twice."""
        tools = await self._definition.toolset.tools(call)
        hints = next((tool.annotations for tool in tools if name == tool.name or name in tool.aliases), None)
        return hints is not None and bool(hints.read_only or hints.idempotent)


def _parses_texts(call: Call) -> bool:
    """Return whether the client takes a text that is JSON for structured content, and fails if that is no object."""
    return call.client_name.casefold().startswith("gemini-cli")


def _denial(error: DeniedError) -> RpcError:
    code = error.details.get("rpc_code")
    if not isinstance(code, int):
        return RpcError(INVALID_PARAMS, cleaned(error.message))
    return RpcError(code, str(error.details.get("rpc_message")), error.details.get("data"))


def listed_tool(tool: Tool) -> JsonObject:
    """Return a tool as `tools/list` shows it."""
    given = tool.annotations
    hints = {"readOnlyHint": given.read_only, "destructiveHint": given.destructive}
    hints |= {"idempotentHint": given.idempotent, "openWorldHint": given.open_world}
    found = {**(given.extra or {}), **present(hints)}
    return {**listed(tool, _FIELDS), **({"annotations": found} if found else {})}


def _offset(cursor: str | None, size: int) -> int:
    """Return the offset of a page; the cursor is the number of entries before it."""
    if cursor is None:
        return 0
    if not size or not cursor.isdecimal() or len(cursor) > _LONGEST_CURSOR or int(cursor) % size:
        raise RpcError(INVALID_PARAMS, "Unknown cursor: list again from the start")
    return int(cursor)
