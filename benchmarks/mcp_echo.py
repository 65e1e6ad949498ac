"""One echo tool, served by ourselves, by hand, by the bare SDK or by FastMCP: `python mcp_echo.py KIND stdio|http`.

Over HTTP the port is the first line printed.
"""

import socket
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ui_mcp.mcp_server.definition import ServerDefinition


def face() -> "ServerDefinition":
    from ui_mcp.mcp_server.definition import ServerDefinition
    from ui_mcp.toolkit.functions import FunctionToolset, tool
    from ui_mcp.toolkit.tool import Call

    @dataclass(frozen=True, slots=True)
    class Words:
        text: str

    @tool("echo", Words, title="Echo")
    async def echo(context: None, args: Words, call: Call) -> str:
        """Say it again."""
        return args.text

    return ServerDefinition("echo", "Echo", "1", FunctionToolset(None, [echo]))


def ours(transport: str) -> None:
    from ui_mcp.cli import entry

    stdio = entry.reserve_stdio() if transport == "stdio" else None
    from ui_mcp.processes import run

    if stdio is None:
        from ui_mcp.mcp_server.transports.routes import McpRoutes

        serve_http(McpRoutes(face()))
    else:
        from ui_mcp.mcp_server.server import McpServer
        from ui_mcp.mcp_server.transports.stdio import serve

        async def main() -> int:
            await serve(McpServer(face()), *stdio)
            return 0

        sys.exit(run(main))


def joined(transport: str) -> None:
    """Serve in another process that this one has joined, as `ui-mcp mcp` does."""
    from ui_mcp.cli import entry

    stdio = entry.reserve_stdio()
    import os
    import tempfile
    from pathlib import Path

    import anyio

    from ui_mcp.app.joining import connected
    from ui_mcp.app.relay import Relay
    from ui_mcp.app.server_link import ServerLink, Servers
    from ui_mcp.errors import UiMcpError
    from ui_mcp.local_socket import SocketPlace
    from ui_mcp.mcp_server.server import McpServer
    from ui_mcp.mcp_server.transports.local import LocalClients, serve_clients
    from ui_mcp.processes import run

    place = SocketPlace(Path(tempfile.mkdtemp()), "echo.sock")
    listener, _ = place.listen()

    class Place:
        async def join(self, client_name: str) -> ServerLink:
            link = await connected(place, client_name, str)
            assert link is not None
            return link

        def left(self) -> None: ...

        def unavailable(self, error: UiMcpError) -> None:
            raise error

        def route(self, message: dict[str, Any]) -> tuple[Servers, dict[str, Any]]:
            return self, message

    async def server() -> int:
        await serve_clients(listener, McpServer(face()), LocalClients({}))
        return 0

    async def relay() -> int:
        async with anyio.create_task_group() as tasks:
            await Relay(Place(), stdio, tasks).run()
            tasks.cancel_scope.cancel()
        return 0

    sys.exit(run(relay if os.fork() else server))


def hand(transport: str) -> None:
    """Serve the least that a client accepts, over stdio alone: the floor for Python and asyncio."""
    import asyncio
    import os

    import orjson

    loop = asyncio.new_event_loop()
    rest = b""

    def readable() -> None:
        nonlocal rest
        chunk = os.read(0, 64 * 1024)
        if not chunk:
            loop.stop()
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            message = orjson.loads(line)
            if "id" in message:
                os.write(1, orjson.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result(message)}) + b"\n")

    def result(message: dict[str, Any]) -> object:
        if message["method"] == "tools/call":
            return {"content": [{"type": "text", "text": message["params"]["arguments"]["text"]}], "isError": False}
        server = {"serverInfo": {"name": "echo", "version": "1"}, "capabilities": {"tools": {}}}
        return {"protocolVersion": "2025-11-25", "supportedVersions": ["2026-07-28"], **server}

    loop.add_reader(0, readable)
    loop.run_forever()


def bare(transport: str) -> None:
    import anyio
    import mcp_types as types
    from mcp.server.lowlevel import Server

    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}

    async def list_tools(ctx: object, params: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool(name="echo", description="Say it again.", input_schema=schema)])

    async def call_tool(ctx: object, params: types.CallToolRequestParams) -> types.CallToolResult:
        words = str((params.arguments or {})["text"])
        return types.CallToolResult(content=[types.TextContent(type="text", text=words)])

    server = Server("echo", version="1", on_list_tools=list_tools, on_call_tool=call_tool)
    if transport == "http":
        serve_http(server.streamable_http_app(json_response=True), lifespan="on")
        return
    from mcp.server.stdio import stdio_server

    async def main() -> None:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())

    anyio.run(main)


def fastmcp(transport: str) -> None:
    from fastmcp import FastMCP

    server = FastMCP("echo")

    def echo(text: str) -> str:
        """Say it again."""
        return text

    server.tool(echo)
    if transport == "http":
        serve_http(server.http_app(path="/mcp", json_response=True), lifespan="on")
    else:
        server.run(transport="stdio", show_banner=False)


def serve_http(app: object, lifespan: str = "off") -> None:
    import uvicorn

    # asyncio sets TCP_NODELAY only on sockets that name their protocol.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    print(listener.getsockname()[1], flush=True)
    config = uvicorn.Config(app, lifespan=lifespan, log_level="error", access_log=False, timeout_keep_alive=120)  # type: ignore[arg-type]
    uvicorn.Server(config).run([listener])


if __name__ == "__main__":
    {"ours": ours, "joined": joined, "hand": hand, "bare": bare, "fastmcp": fastmcp}[sys.argv[1]](sys.argv[2])
