"""Drives mcp 1.x: `mcp1.py MODE TRANSPORT TARGET`."""

import json
import sys
from contextlib import AsyncExitStack
from typing import Any

import anyio
from loop import credentials, drive, say
from mcp import ClientSession, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from pydantic import AnyUrl


class Driven:
    def __init__(self, session: ClientSession) -> None:
        self.session = session

    async def subscribe(self, uri: str) -> None:
        await self.session.subscribe_resource(AnyUrl(uri))

    async def call(self, name: str, arguments: dict[str, Any]) -> tuple[bool, str, Any]:
        result = await self.session.call_tool(name, arguments)
        return result.isError, result.content[0].text, result.structuredContent

    async def read(self, uri: str) -> tuple[str | None, str]:
        (content,) = (await self.session.read_resource(AnyUrl(uri))).contents
        return content.mimeType, content.text

    async def tools(self) -> list[str]:
        return [tool.name for tool in (await self.session.list_tools()).tools]


async def heard(message: Any) -> None:
    root = getattr(message, "root", None)
    if getattr(root, "method", "") == "notifications/resources/updated":
        say(event="updated", uri=str(root.params.uri), batch=(root.params.model_extra or {}).get("messages"))


async def main(_: str, transport: str, target: str) -> None:
    async with AsyncExitStack() as stack:
        if transport == "stdio":
            command, *arguments = json.loads(target)
            opened: Any = stdio_client(StdioServerParameters(command=command, args=arguments))
        elif transport == "sse":
            opened = sse_client(target, headers=credentials())
        else:
            opened = streamablehttp_client(target, headers=credentials())
        read, write, *_ = await stack.enter_async_context(opened)
        session = await stack.enter_async_context(ClientSession(read, write, message_handler=heard))
        say(event="version", version=(await session.initialize()).protocolVersion)
        await drive(Driven(session))


anyio.run(main, *sys.argv[1:])
