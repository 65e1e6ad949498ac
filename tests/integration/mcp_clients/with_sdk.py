"""Drive a server with our own SDK: `with_sdk.py MODE stdio COMMAND…` or `with_sdk.py MODE sse|http URL`."""

import asyncio
import sys
from typing import Any

from mcp import Client, StdioServerParameters
from mcp.client import session
from mcp.client.sse import sse_client
from report import tell

session.DISCOVER_TIMEOUT_SECONDS = 120.0  # a busy machine must not look like a server of the older era


def transport(kind: str, where: list[str]) -> Any:
    match kind:
        case "stdio":
            return StdioServerParameters(command=where[0], args=where[1:])
        case "sse":
            return sse_client(where[0])
        case _:
            return where[0]


async def main(mode: Any, kind: str, *where: str) -> None:
    async with Client(transport(kind, list(where)), mode=mode) as client:
        tools = (await client.list_tools()).tools
        status = await client.call_tool("ui_status", {})
        resources = (await client.list_resources()).resources
        guide = (await client.read_resource("ui://reference")).contents[0]
        tell(client.protocol_version, tools, status, resources, guide)


asyncio.run(main(*sys.argv[1:]))
