"""The gateway and its chat inside another Python program, without a server.

```python
async with Gateway.from_config("nlui.yaml") as gateway:
    print([tool["name"] for tool in await gateway.tools()])
    print(await gateway.call("petstore__getPetById", {"petId": 5}))
    async for name, data in gateway.chat("Which pets are sold?"):
        print(name, data)
```
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from secrets import token_hex
from types import TracebackType
from typing import Self

from ui_mcp.errors import LifecycleError
from ui_mcp.gateway.config.configuration import GatewayOptions
from ui_mcp.gateway.toolset import GatewayToolset
from ui_mcp.gateway.web.service import Serving, open_chat_page, tools_of
from ui_mcp.gateway.web.streams import Named, NluiEvents
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.tool import Call, ToolResult


class Gateway:
    """The sources that an nlui.yaml names; they run for the length of the `async with` block."""

    def __init__(self, options: GatewayOptions) -> None:
        self._options = options
        self._stack = AsyncExitStack()
        self._chat: Serving | None = None

    @classmethod
    def from_config(cls, path: str | Path) -> Self:
        return cls(GatewayOptions(str(path)))

    async def __aenter__(self) -> Self:
        self._chat = await self._stack.enter_async_context(open_chat_page(self._options))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._chat = None
        await self._stack.__aexit__(kind, error, trace)

    async def tools(self) -> list[JsonObject]:
        """List the tools with names, descriptions and parameters."""
        return await tools_of(self._running.gateway)

    async def call(self, name: str, arguments: JsonObject | None = None, *, principal: str = "python") -> ToolResult:
        """Call a tool under the policy of the configuration.

        Raises:
            UiMcpError: there is no such tool, the call was denied, or its source cannot be reached.
        """
        return await GatewayToolset(self._running.gateway).call(name, arguments or {}, Call(principal=principal))

    async def chat(self, message: str, conversation: str | None = None) -> AsyncIterator[Named]:
        """Post a message and yield the events of its turn, named as in the chat API.

        Without `conversation` a new conversation begins.
        """
        conversations = self._running.conversations
        opened = await conversations.open(conversation or await conversations.create())
        events = NluiEvents(token_hex(16), opened.name, lambda: opened.goes_on)
        with opened.news.watched() as news:
            await conversations.say(opened.name, message)
            yield events.opening()
            async for frame in news:
                for event in events.of(frame):
                    yield event
                if events.done:
                    return

    @property
    def _running(self) -> Serving:
        if self._chat is None:
            raise LifecycleError("The gateway is not running; use it as `async with Gateway.from_config(…)`")
        return self._chat
