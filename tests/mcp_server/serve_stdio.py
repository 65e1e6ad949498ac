"""The sample server as a program: `python -m mcp_server.serve_stdio`."""

from ui_mcp.cli import entry

stdio = entry.reserve_stdio()

import anyio  # noqa: E402

print("printed while importing")

from mcp_server.definitions import sample_definition  # noqa: E402
from ui_mcp.log import to_stderr  # noqa: E402
from ui_mcp.mcp_server.server import McpServer  # noqa: E402
from ui_mcp.mcp_server.transports.stdio import serve  # noqa: E402


async def main() -> None:
    to_stderr()
    await serve(McpServer(sample_definition()), *stdio)


if __name__ == "__main__":
    anyio.run(main)
