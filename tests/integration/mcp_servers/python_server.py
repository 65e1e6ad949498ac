"""A server built on a foreign library, in whose environment it runs: `python_server.py LIBRARY TRANSPORT PORT`."""

import sys
from typing import Any

library, transport, port = sys.argv[1], sys.argv[2], int(sys.argv[3])

if library == "fastmcp":
    from fastmcp import Context, FastMCP

    server: Any = FastMCP("foreign", instructions="Be kind.")
elif library == "mcp1":
    from mcp.server.fastmcp import Context, FastMCP

    server = FastMCP("foreign", instructions="Be kind.", host="127.0.0.1", port=port)
else:
    from mcp.server import MCPServer
    from mcp.server.mcpserver import Context
    from mcp.server.streamable_http import EventStore

    server = MCPServer("foreign", instructions="Be kind.")

    class Events(EventStore):
        """All events, in memory."""

        def __init__(self) -> None:
            self.kept: list[tuple[str, Any]] = []

        async def store_event(self, stream_id: str, message: Any) -> str:
            self.kept.append((stream_id, message))
            return str(len(self.kept))

        async def replay_events_after(self, last_event_id: str, send_callback: Any) -> str:
            from mcp.server.streamable_http import EventMessage

            stream = self.kept[int(last_event_id) - 1][0]
            for number, (of, message) in enumerate(self.kept[int(last_event_id) :], int(last_event_id) + 1):
                if of == stream and message is not None:
                    await send_callback(EventMessage(message, str(number)))
            return stream

    @server.tool()
    async def interrupted(ctx: Context) -> str:
        """Close the stream of this very call, and answer after that."""
        await ctx.close_sse_stream()
        return "resumed"


@server.tool()
async def echo(text: str) -> str:
    """Return the text."""
    return text


@server.tool()
async def count(ctx: Context) -> str:
    """Count to three."""
    for number in (1, 2, 3):
        await ctx.report_progress(number, 3)
    return "counted"


@server.resource("x://greeting")
def greeting() -> str:
    """Greet."""
    return "hello"


@server.prompt()
def greet(name: str) -> str:
    """Ask for a greeting."""
    return f"Greet {name}"


if transport == "stdio":
    server.run("stdio")
elif library == "fastmcp":
    server.run(transport, host="127.0.0.1", port=port, show_banner=False)
elif library == "mcp1":
    server.run("streamable-http" if transport == "http" else "sse")
elif transport == "http":
    server.run("streamable-http", host="127.0.0.1", port=port, event_store=Events(), retry_interval=10)
else:
    server.run("sse", host="127.0.0.1", port=port)
