"""Serves `nlui --mcp`: the gateway over stdio."""

from ui_mcp.gateway.config.configuration import GatewayOptions
from ui_mcp.gateway.mcp import gateway_definition
from ui_mcp.gateway.runner import open_gateway
from ui_mcp.mcp_server.server import McpServer
from ui_mcp.mcp_server.transports.stdio import serve
from ui_mcp.processes import run, until_signalled


def run_stdio(options: GatewayOptions, stdin: int, stdout: int) -> int:
    """Serve one MCP client on two file descriptors."""
    return run(_stdio, options, stdin, stdout)


async def _stdio(options: GatewayOptions, stdin: int, stdout: int) -> int:
    async with until_signalled(), open_gateway(options, mode="host") as gateway:
        await serve(McpServer(gateway_definition(gateway, options)), stdin, stdout)
    return 0
