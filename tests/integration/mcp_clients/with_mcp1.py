"""Drive a server with the 1.x SDK: `with_mcp1.py stdio COMMAND…` or `with_mcp1.py sse|http URL`."""

import asyncio
import sys
from contextlib import AsyncExitStack
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from report import tell


def transport(kind: str, where: list[str]) -> Any:
    match kind:
        case "stdio":
            return stdio_client(StdioServerParameters(command=where[0], args=where[1:]))
        case "sse":
            return sse_client(where[0])
        case _:
            return streamablehttp_client(where[0])


async def main(kind: str, *where: str) -> None:
    async with AsyncExitStack() as stack:
        incoming, outgoing, *_ = await stack.enter_async_context(transport(kind, list(where)))
        session = await stack.enter_async_context(ClientSession(incoming, outgoing))
        hello = await session.initialize()
        tools = (await session.list_tools()).tools
        status = await session.call_tool("ui_status", {})
        resources = (await session.list_resources()).resources
        uri: Any = "ui://reference"
        guide = (await session.read_resource(uri)).contents[0]
        tell(str(hello.protocolVersion), tools, status, resources, guide)


asyncio.run(main(*sys.argv[1:]))
