"""A task that a foreign server began instead of answering a call (MCP's Tasks extension)."""

from ui_mcp.errors import UpstreamError
from ui_mcp.jsontypes import JsonObject
from ui_mcp.mcp_client import parsing
from ui_mcp.toolkit.tool import ToolResult

EXTENSION = "io.modelcontextprotocol/tasks"
FASTEST_POLL, SLOWEST_POLL = 0.2, 60.0
_DEFAULT_POLL = 1.0


class UpstreamTask:
    """What the server said last about a task."""

    def __init__(self, said: JsonObject) -> None:
        task_id = said.get("taskId")
        if not isinstance(task_id, str) or not task_id:
            raise parsing.MalformedError("The server began a task without an id")
        self.id = task_id
        self._said = said
        self._answered: set[str] = set()

    def read(self, said: JsonObject) -> None:
        self._said = said

    @property
    def questions(self) -> JsonObject:
        """The questions that were not answered yet; a server repeats a question until it has seen the answer."""
        asked = self._said.get("inputRequests")
        if self._said.get("status") != "input_required" or not isinstance(asked, dict):
            return {}
        return {key: one for key, one in asked.items() if key not in self._answered}

    def answered(self, answers: JsonObject) -> None:
        self._answered |= answers.keys()

    @property
    def message(self) -> str:
        """What the server says about the state of the task."""
        said = self._said.get("statusMessage")
        return said if isinstance(said, str) else ""

    @property
    def pause(self) -> float:
        """Seconds until the server wants to be asked again, within limits of ours."""
        wanted = self._said.get("pollIntervalMs")
        seconds = wanted / 1000 if isinstance(wanted, int | float) and not isinstance(wanted, bool) else _DEFAULT_POLL
        return min(max(seconds, FASTEST_POLL), SLOWEST_POLL)

    def result(self) -> ToolResult | None:
        """Return the result of a task that has ended well; None if it has not ended.

        Raises:
            UpstreamError: it failed or was cancelled, or its state is none that the protocol knows.
        """
        match self._said.get("status"):
            case "working" | "input_required":
                return None
            case "completed":
                given = self._said.get("result")
                return parsing.tool_result(given if isinstance(given, dict) else {})
            case "failed":
                raise _failure(self._said.get("error"))
            case "cancelled":
                raise UpstreamError("The server cancelled the task", rpc_code=0)
            case other:
                raise parsing.MalformedError(f"The server's task is in an unknown state: {str(other)[:40]}")


class TaskBegunError(UpstreamError):
    """The server answers a call later; `task` tells where to ask."""

    def __init__(self, task: UpstreamTask) -> None:
        super().__init__("The server began a task", rpc_code=0)
        self.task = task


def _failure(problem: object) -> UpstreamError:
    found = problem if isinstance(problem, dict) else {}
    code = found.get("code")
    message = str(found.get("message", "")) or "The server's task failed"
    return UpstreamError(message, rpc_code=code if isinstance(code, int) else 0, data=found.get("data"))
