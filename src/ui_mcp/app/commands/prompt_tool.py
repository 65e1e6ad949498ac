"""What `ui-mcp approvals prompt-tool` does: serve the tool to which Claude Code hands its permission prompts."""

from pathlib import Path

from ui_mcp.app.commands.hook import decide
from ui_mcp.inbox.host_hooks import PROMPT_TOOL, Wanted, prompt_denial, prompted
from ui_mcp.jsontypes import JsonObject, dumps
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.log import to_stderr
from ui_mcp.mcp_server.definition import ServerDefinition
from ui_mcp.mcp_server.server import McpServer
from ui_mcp.mcp_server.transports.stdio import serve
from ui_mcp.processes import run, until_signalled
from ui_mcp.toolkit.functions import FunctionToolset, tool
from ui_mcp.toolkit.tool import Call, ToolResult, text_result
from ui_mcp.version import bundled_version

NO_INBOX = "No ui-mcp server shows the inbox of this folder, so nobody could be asked. Start ui-mcp serve."
IN_HOST = "This question offers a choice of its own, which the inbox cannot answer."


@dataclass(frozen=True, slots=True)
class Prompt:
    """What Claude Code sends."""

    tool_name: str
    input: JsonObject
    tool_use_id: str = ""


@tool(PROMPT_TOOL, Prompt, title="Ask the person for permission")
async def permission(cwd: str, given: Prompt, _: Call) -> ToolResult:
    """Ask the person in the inbox whether a tool may run; for --permission-prompt-tool, not for models."""
    asked = prompted(given.tool_name, given.input, cwd)
    return text_result(dumps(prompt_denial(IN_HOST) if asked is None else await _decision(asked)))


async def _decision(asked: Wanted) -> JsonObject:
    # Claude Code has no prompt of its own here: what was not decided is denied.
    return await decide(asked) or prompt_denial(NO_INBOX)


def run_prompt_tool(stdin: int, stdout: int) -> int:
    """Serve the host on two file descriptors."""
    return run(_stdio, stdin, stdout)


async def _stdio(stdin: int, stdout: int) -> int:
    to_stderr(0)
    tools = FunctionToolset(str(Path.cwd()), [permission])
    async with until_signalled():
        await serve(McpServer(ServerDefinition("ui-mcp-inbox", "Inbox", bundled_version(), tools)), stdin, stdout)
    return 0
