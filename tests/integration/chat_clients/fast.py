"""Drives FastMCP's client: `fast.py MODE TRANSPORT TARGET`; subscriptions go through the session under it."""

import json
import sys
from contextlib import AsyncExitStack
from typing import Any

import anyio
from fastmcp import Client
from fastmcp.client.transports import SSETransport, StdioTransport, StreamableHttpTransport
from loop import credentials, drive, say
from mcp.client.subscriptions import listen


class Driven:
    def __init__(self, client: Client, stack: AsyncExitStack, tasks: Any) -> None:
        self.client, self.stack, self.tasks = client, stack, tasks

    async def subscribe(self, uri: str) -> None:
        if self.client.protocol_version < "2026":
            await self.client.session.subscribe_resource(uri)
            return
        stream = await self.stack.enter_async_context(listen(self.client.session, resource_subscriptions=[uri]))
        self.tasks.start_soon(self._hear, stream)

    async def _hear(self, stream: Any) -> None:
        async for _ in stream:  # the same events reach the message handler, with what rides along
            pass

    async def call(self, name: str, arguments: dict[str, Any]) -> tuple[bool, str, Any]:
        result = await self.client.call_tool_mcp(name, arguments)
        return bool(result.is_error), result.content[0].text, result.structured_content

    async def read(self, uri: str) -> tuple[str | None, str]:
        (content,) = await self.client.read_resource(uri)
        return content.mime_type, content.text

    async def tools(self) -> list[str]:
        return [tool.name for tool in await self.client.list_tools()]


async def heard(message: Any) -> None:
    if getattr(message, "method", "") == "notifications/resources/updated":
        say(event="updated", uri=str(message.params.uri))


async def main(mode: str, transport: str, target: str) -> None:
    if transport == "stdio":
        command, *arguments = json.loads(target)
        where: Any = StdioTransport(command, arguments, keep_alive=False)
    else:
        kind = SSETransport if transport == "sse" else StreamableHttpTransport
        where = kind(target, headers=credentials())
    async with (
        Client(where, message_handler=heard, mode=mode) as client,
        anyio.create_task_group() as tasks,
        AsyncExitStack() as stack,
    ):
        say(event="version", version=client.protocol_version)
        await drive(Driven(client, stack, tasks))
        tasks.cancel_scope.cancel()


anyio.run(main, *sys.argv[1:])
