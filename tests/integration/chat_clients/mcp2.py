"""Drives mcp 2.x: `mcp2.py MODE TRANSPORT TARGET`, MODE auto (modern) or legacy, TARGET a URL or JSON command line."""

import json
import sys
import warnings
from contextlib import AsyncExitStack
from typing import Any

import anyio
from loop import credentials, drive, say
from mcp import Client, StdioServerParameters
from mcp.client import session
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

warnings.simplefilter("ignore")
session.DISCOVER_TIMEOUT_SECONDS = 120.0  # a busy machine must not look like a server of the older era


class Driven:
    def __init__(self, client: Client, stack: AsyncExitStack, tasks: Any) -> None:
        self.client, self.stack, self.tasks = client, stack, tasks

    async def subscribe(self, uri: str) -> None:
        if self.client.protocol_version < "2026":
            await self.client.subscribe_resource(uri)
            return
        stream = await self.stack.enter_async_context(self.client.listen(resource_subscriptions=[uri]))
        self.tasks.start_soon(self._hear, stream)

    async def _hear(self, stream: Any) -> None:
        async for _ in stream:  # the same events reach the message handler, with what rides along
            pass

    async def call(self, name: str, arguments: dict[str, Any]) -> tuple[bool, str, Any]:
        result = await self.client.call_tool(name, arguments)
        return bool(result.is_error), result.content[0].text, result.structured_content

    async def read(self, uri: str) -> tuple[str | None, str]:
        (content,) = (await self.client.read_resource(uri)).contents
        return content.mime_type, content.text

    async def tools(self) -> list[str]:
        return [tool.name for tool in (await self.client.list_tools()).tools]


async def heard(message: Any) -> None:
    if getattr(message, "method", "") == "notifications/resources/updated":
        meta = message.params.meta or {}
        say(event="updated", uri=str(message.params.uri), batch=dict(meta).get("ui-mcp/messages"))


async def main(mode: str, transport: str, target: str) -> None:
    where: Any = target
    if transport == "stdio":
        command, *arguments = json.loads(target)
        where = stdio_client(StdioServerParameters(command=command, args=arguments))
    elif transport == "sse":
        where = sse_client(target, headers=credentials())
    else:
        where = streamable_http_client(target, http_client=create_mcp_http_client(headers=credentials()))
    async with (
        Client(where, mode=mode, message_handler=heard) as client,
        anyio.create_task_group() as tasks,
        AsyncExitStack() as stack,
    ):
        say(event="version", version=client.protocol_version)
        await drive(Driven(client, stack, tasks))
        tasks.cancel_scope.cancel()


anyio.run(main, *sys.argv[1:])
