"""`ui_run`: execute Lua in a session."""

from dataclasses import dataclass
from typing import Annotated

from ui_mcp.errors import LuaError, SessionGoneError
from ui_mcp.fields import Named
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call, ToolResult, text_result
from ui_mcp.ui.server import UiServer


@dataclass(frozen=True, slots=True)
class RunArgs:
    """What to run, and where."""

    code: Annotated[str, "Lua chunk; its first returned value is the answer."]
    session_id: Annotated[str, "Session to run it in.", Named("sessionId")] = "1"


@tool("ui_run", RunArgs, title="Run Lua", annotations=Annotations(destructive=True))
async def run(host: UiServer, args: RunArgs, call: Call) -> ToolResult:
    """Execute Lua in the session and return its first value as JSON; pages follow every change.

    When: to read or change state, or to call an app's method. Apps are globals in camelCase; `session:getApp()` is the
    displayed one. What is not JSON comes as {"non-json": text}. Example: {"code": "return todo.items[1].text"}
    """
    session = host.running().sessions.get(args.session_id)
    try:
        return text_result(await session.run_lua(args.code))
    except (LuaError, SessionGoneError) as error:
        trace = str(error.details.get("traceback") or "")
        raise type(error)(_failure_text(error.message, trace), **error.details) from error


def _failure_text(message: str, trace: str) -> str:
    """Join message and traceback, which often begins with the message."""
    text = trace if trace.startswith(message) else f"{message}\n{trace}"
    return f"execution failed: {text}".rstrip()
