"""The tools of one nlui conversation: posts go to its own inbox, whatever the model says."""

from collections.abc import Sequence

from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.tool import Call, Tool, ToolResult
from ui_mcp.toolkit.toolset import Toolset

POST = "chat_assistant_post"


class Posting:
    """The shared tools, and posting into one conversation, which the loop does on the model's behalf."""

    def __init__(self, chat: Toolset, shared: Toolset, conversation: str) -> None:
        self._chat = chat
        self._shared = shared
        self._conversation = conversation

    async def tools(self, call: Call) -> Sequence[Tool]:
        """List only the shared tools: plain text is posted by itself."""
        return await self._shared.tools(call)

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        """Post, or call a shared tool."""
        if name == POST:
            return await self._chat.call(POST, {**arguments, "conversation": self._conversation}, call)
        return await self._shared.call(name, arguments, call)
