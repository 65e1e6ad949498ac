"""Serve the conformance server: `python -m conformance.serve [--stdio]`; over HTTP it prints the port first."""

import sys
from collections.abc import Awaitable, Callable


def main() -> None:
    if "--stdio" in sys.argv:
        from ui_mcp.cli import entry

        stdin, stdout = entry.reserve_stdio()
        _run(lambda: _stdio(stdin, stdout))
    else:
        _run(_http)


def _run(main: Callable[[], Awaitable[None]]) -> None:
    import anyio

    anyio.run(main)


async def _stdio(stdin: int, stdout: int) -> None:
    from conformance.definition import served_definition
    from ui_mcp.mcp_server.server import McpServer
    from ui_mcp.mcp_server.transports.stdio import serve

    await serve(McpServer(served_definition()), stdin, stdout)


async def _http() -> None:
    import anyio

    from conformance.definition import served_definition
    from ui_mcp.mcp_server.transports.routes import McpRoutes
    from ui_mcp.webserver.security import AccessRules, SecurityMiddleware
    from ui_mcp.webserver.server import bind, listening, port_of

    listener = bind("127.0.0.1", 0)
    port = port_of(listener)
    async with listening(SecurityMiddleware(McpRoutes(served_definition()), AccessRules(frozenset({port}))), listener):
        print(port, flush=True)
        await anyio.sleep_forever()


if __name__ == "__main__":
    main()
