"""`ui_wait`: wait until the app pushes events."""

from contextlib import suppress
from dataclasses import dataclass
from time import monotonic
from typing import Annotated

from anyio import CancelScope, create_task_group, sleep

from ui_mcp.errors import SessionGoneError
from ui_mcp.fields import Named
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call, ToolResult, text_result
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.sessions.events import EventQueue, as_array, clamp_wait
from ui_mcp.validation import read

PROGRESS_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class WaitArgs:
    """How long, and where."""

    timeout: Annotated[float, "Seconds, 1 to 120; keep below your host's limit."] = 30
    session_id: Annotated[str, "Session whose events to take.", Named("sessionId")] = "1"


@tool("ui_wait", WaitArgs, title="Wait for events", annotations=Annotations(destructive=False))
async def wait(host: UiServer, args: WaitArgs, call: Call) -> ToolResult:
    """Wait until the app calls mcp.pushState, and return its events as a JSON array; [] on timeout.

    When: the person's turn has come. Each event is delivered once; call again after answering, with at most 50 s since
    hosts end long calls. Events of "app": "ui-mcp" come from the server. Example: {"timeout": 50}
    """
    if call.task is not None:
        args = read(WaitArgs, call.task.resumed) if call.task.resumed else args
        await call.task.checkpoint({"timeout": args.timeout, "sessionId": args.session_id})
    queue = host.running().sessions.get(args.session_id).events
    return text_result(as_array(await _taken(queue, clamp_wait(args.timeout), call)))


async def _taken(queue: EventQueue, seconds: float, call: Call) -> list[str]:
    taken: list[str] = []
    try:
        async with create_task_group() as tasks:
            tasks.start_soon(_report_progress, call, seconds)
            with CancelScope() as waiting, suppress(SessionGoneError):
                tasks.start_soon(_leave_when_closing, call, waiting)
                async with queue.taken(seconds) as events:
                    taken = events
            tasks.cancel_scope.cancel()
    except BaseException:
        queue.give_back(taken)  # cancelled while the task group was closing
        raise
    return taken


async def _report_progress(call: Call, seconds: float) -> None:
    began = monotonic()
    while True:
        await sleep(PROGRESS_SECONDS)
        await call.progress(min(monotonic() - began, seconds), seconds, "waiting for events")


async def _leave_when_closing(call: Call, waiting: CancelScope) -> None:
    await call.closing()
    waiting.cancel()
