"""Drive a server with FastMCP's client: `with_fastmcp.py stdio COMMAND…` or `with_fastmcp.py sse|http URL`."""

import asyncio
import sys
from typing import Any

from fastmcp import Client
from fastmcp.client.transports import SSETransport, StdioTransport, StreamableHttpTransport
from report import tell


def transport(kind: str, where: list[str]) -> Any:
    match kind:
        case "stdio":
            return StdioTransport(command=where[0], args=where[1:])
        case "sse":
            return SSETransport(where[0])
        case _:
            return StreamableHttpTransport(where[0])


async def main(kind: str, *where: str) -> None:
    async with Client(transport(kind, list(where))) as client:
        tools = await client.list_tools()
        status = await client.call_tool("ui_status", {})
        resources = await client.list_resources()
        guide = (await client.read_resource("ui://reference"))[0]
        tell("any", tools, status, resources, guide)


asyncio.run(main(*sys.argv[1:]))
