"""Tasks that a mounted server begins instead of answering: followed until they end, over its restarts and ours."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import anyio

from ui_mcp.errors import UiMcpError, UpstreamError
from ui_mcp.gateway.mount_connection import Connection
from ui_mcp.gateway.source import Entry
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger
from ui_mcp.toolkit.tool import Call, ToolResult

if TYPE_CHECKING:
    from ui_mcp.mcp_client.tasks import UpstreamTask

_log = logger("gateway.mount")
_CANCEL_SECONDS = 5.0
_MAX_LOST = 5
"""How often in a row the server may be gone when it is asked about a task."""


async def call_server(
    connected: Callable[[], Awaitable[Connection]], entry: Entry, arguments: JsonObject, call: Call
) -> ToolResult:
    """Call a tool, and wait for its task if the server begins one.

    A call that continues after a restart of ours asks about the task that it began before, and never calls again.
    """
    from ui_mcp.mcp_client.tasks import TaskBegunError, UpstreamTask

    begun = call.task.resumed.get("upstream_task") if call.task is not None and call.task.resumed else None
    if begun is not None:
        return await _ended(connected, UpstreamTask({"taskId": begun}), call)
    try:
        return await (await connected()).call(entry.local_name, arguments, call)
    except TaskBegunError as error:
        if call.task is not None:
            await call.task.checkpoint({"tool": entry.name, "upstream_task": error.task.id})
        return await _ended(connected, error.task, call)


async def _ended(connected: Callable[[], Awaitable[Connection]], task: "UpstreamTask", call: Call) -> ToolResult:
    """Ask about a task until it has ended; one that its caller gives up is cancelled at the server."""
    lost = 0
    try:
        while True:
            try:
                result = await (await connected()).task_changed(task, call)
            except UpstreamError as error:
                if "rpc_code" in error.details or lost >= _MAX_LOST:
                    raise
                lost += 1  # it restarts, and a server with durable tasks knows this one again
            else:
                lost = 0
                if result is not None:
                    return result
                await call.progress(0.0, None, task.message or None)
            await anyio.sleep(task.pause)
    except anyio.get_cancelled_exc_class():
        # A task of ours whose client did not cancel it is continued by the next process.
        if call.task is None or call.task.is_cancelled:
            with anyio.CancelScope(shield=True), anyio.move_on_after(_CANCEL_SECONDS):
                await _cancel(connected, task.id)
        raise


async def _cancel(connected: Callable[[], Awaitable[Connection]], task_id: str) -> None:
    try:
        await (await connected()).cancel_task(task_id)
    except UiMcpError as error:
        _log.info("the task could not be cancelled at its server: %s", error.message)
