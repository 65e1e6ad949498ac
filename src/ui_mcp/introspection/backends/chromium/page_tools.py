"""The WebMCP tools that a page offers to agents: listed, and called."""

import asyncio
from collections.abc import Sequence

import anyio

from ui_mcp.errors import UiActionFailedError, UiArgumentError, UiTimeoutError
from ui_mcp.introspection.backends.chromium.devtools import DevToolsError, Session
from ui_mcp.jsontypes import Json, JsonObject, dumps

CALL_SECONDS = 30.0


class PageTools:
    """The tools of one page and its frames, by frame and name."""

    def __init__(self) -> None:
        self._tools: dict[tuple[str, str], tuple[Session, JsonObject]] = {}
        self._calls: dict[str, asyncio.Future[JsonObject]] = {}

    def watch(self, session: Session) -> None:
        """Take the events of the page's own session or of a frame's."""
        session.on("WebMCP.toolsAdded", lambda event: self._added(event["tools"], session))
        session.on("WebMCP.toolsRemoved", lambda event: self._removed(event["tools"]))
        session.on("WebMCP.toolResponded", self._responded)
        session.on("Page.frameNavigated", lambda event: self._forget(event["frame"]["id"]))
        session.on("Page.frameDetached", lambda event: self._forget(event["frameId"]))

    def listed(self) -> str:
        """Return a line per tool, with the schema of its input."""
        lines = [
            f"{tool['name']}: {tool['description']} {dumps(tool.get('inputSchema') or {})}"
            for _, tool in self._tools.values()
        ]
        return "\n".join([f"{len(lines)} tools, in the page's own words", *lines])

    async def call(self, name: str, given: JsonObject) -> Json:
        """Call a tool and return its output.

        Raises:
            UiArgumentError: the page offers no such tool.
            UiActionFailedError: the tool failed.
            UiTimeoutError: it did not answer.
        """
        frame, session = self._find(name)
        try:
            started = {"frameId": frame, "toolName": name, "input": given}
            call_id = (await session.send("WebMCP.invokeTool", started))["invocationId"]
            answered = self._calls.setdefault(call_id, asyncio.get_running_loop().create_future())
            with anyio.fail_after(CALL_SECONDS):
                answer = await answered
        except DevToolsError as error:
            raise UiActionFailedError(f"The page's tool {name} cannot be called: {error}", reason="REFUSED") from error
        except TimeoutError as error:
            raise UiTimeoutError(f"The page's tool {name} did not answer within {CALL_SECONDS:g} s") from error
        finally:
            self._calls.clear()
        if answer["status"] != "Completed":
            problem = answer.get("errorText") or answer["status"]
            raise UiActionFailedError(f"The page's tool {name} failed: {problem}", reason="REFUSED")
        return answer.get("output")

    def _find(self, name: str) -> tuple[str, Session]:
        for (frame, known), (session, _) in self._tools.items():
            if known == name:
                return frame, session
        names = ", ".join(known for _, known in self._tools) or "none"
        raise UiArgumentError(f"The page offers no tool {name!r}; it offers: {names}")

    def _added(self, tools: Sequence[JsonObject], session: Session) -> None:
        self._tools.update({(tool["frameId"], tool["name"]): (session, tool) for tool in tools})

    def _removed(self, tools: Sequence[JsonObject]) -> None:
        for tool in tools:
            self._tools.pop((tool["frameId"], tool["name"]), None)

    def _forget(self, frame: str) -> None:
        self._tools = {key: value for key, value in self._tools.items() if key[0] != frame}

    def _responded(self, event: JsonObject) -> None:
        # The answer may come before that of the call which names it.
        future = self._calls.setdefault(event["invocationId"], asyncio.get_running_loop().create_future())
        if not future.done():
            future.set_result(event)
