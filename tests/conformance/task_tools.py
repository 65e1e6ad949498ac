"""The tools by which the conformance suite tries tasks, and where their tasks are kept."""

from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

import anyio

from ui_mcp.errors import UiMcpError
from ui_mcp.mcp_tasks.store import TaskFile, TaskStore
from ui_mcp.mcp_tasks.tasks import Tasks
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.toolkit.functions import FunctionTool, NoArgs, tool
from ui_mcp.toolkit.tool import Call, InputNeeded, ToolResult, text_result

FORM = {"type": "object", "properties": {"confirm": {"type": "boolean"}}}
NEED_TASKS = frozenset({"failing_job", "test_tool_with_task"})
"""Tools that the suite wants refused for clients without tasks."""


def suite_tasks() -> Tasks:
    folder = Path(mkdtemp(prefix="conformance-tasks-"))
    return Tasks(TaskStore(TaskFile(lambda: folder / "tasks.db")), after=0.2)


@dataclass(frozen=True, slots=True)
class Greeted:
    """Whom to greet."""

    name: str


@dataclass(frozen=True, slots=True)
class Work:
    """How much there is to do."""

    seconds: float = 0
    label: str = ""


@tool("greet", Greeted, title="Greet")
async def greet(bus: Announcements, args: Greeted, call: Call) -> ToolResult:
    """Greet at once."""
    return text_result(f"Hello, {args.name}!")


@tool("slow_compute", Work, title="Compute slowly")
async def slow_compute(bus: Announcements, args: Work, call: Call) -> ToolResult:
    """Take some time."""
    await anyio.sleep(args.seconds)
    return text_result(f"computed {args.label}")


@tool("failing_job", NoArgs, title="Fail")
async def failing_job(bus: Announcements, args: NoArgs, call: Call) -> ToolResult:
    """Fail after a while."""
    await anyio.sleep(1)
    raise UiMcpError("the job failed")


@tool("protocol_error_job", NoArgs, title="Crash")
async def protocol_error_job(bus: Announcements, args: NoArgs, call: Call) -> ToolResult:
    """Crash after a while."""
    await anyio.sleep(1)
    raise ZeroDivisionError("a defect")


@dataclass(frozen=True, slots=True)
class File:
    """What to delete."""

    filename: str = ""


@tool("confirm_delete", File, title="Confirm")
async def confirm_delete(bus: Announcements, args: File, call: Call) -> ToolResult:
    """Ask before deleting."""
    return text_result(f"deleted: {await _asked(call, 'Delete it?')}")


@tool("multi_input", NoArgs, title="Ask twice")
async def multi_input(bus: Announcements, args: NoArgs, call: Call) -> ToolResult:
    """Ask two things at once."""
    async with anyio.create_task_group() as group:
        group.start_soon(_asked, call, "First?")
        group.start_soon(_asked, call, "Second?")
    return text_result("both answered")


@tool("test_tool_with_task", NoArgs, title="Ask, then work")
async def ask_then_work(bus: Announcements, args: NoArgs, call: Call) -> ToolResult:
    """Ask by a result, then take some time."""
    if call.given is None:
        form = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        params = {"mode": "form", "message": "Your name?", "requestedSchema": form}
        return ToolResult((), needs=InputNeeded({"user_name": {"method": "elicitation/create", "params": params}}, "s"))
    await anyio.sleep(1)
    return text_result(f"worked for {call.given.responses['user_name']['content']}")


async def _asked(call: Call, message: str) -> object:
    if call.ask_client is None:
        raise UiMcpError("This client cannot be asked")
    params = {"mode": "form", "message": message, "requestedSchema": FORM}
    return await call.ask_client("elicitation/create", params)


TASK_TOOLS: tuple[FunctionTool[Announcements], ...] = (
    greet,
    slow_compute,
    failing_job,
    protocol_error_job,
    confirm_delete,
    multi_input,
    ask_then_work,
)
