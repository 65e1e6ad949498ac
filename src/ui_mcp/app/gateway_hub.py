"""The process that runs one gateway for all `nlui --mcp` of its configuration, and ends soon after the last of them."""

import os
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

import anyio

from ui_mcp.app.hub_options import HubOptions
from ui_mcp.app.joined_clients import forwarding_log, serving_clients
from ui_mcp.app.joining import Readiness
from ui_mcp.app.unused import linger_seconds, until_unused
from ui_mcp.errors import AlreadyRunningError
from ui_mcp.gateway.config.configuration import GatewayOptions
from ui_mcp.gateway.config.settings import Mode
from ui_mcp.gateway.mcp import gateway_definition
from ui_mcp.gateway.runner import open_gateway
from ui_mcp.gateway.service import GatewayService
from ui_mcp.jsontypes import loads
from ui_mcp.log import logger
from ui_mcp.mcp_server.server import McpServer
from ui_mcp.mcp_server.transports.local import LocalClients
from ui_mcp.mcp_server.transports.stdio import serve
from ui_mcp.processes import only_error, run, until_signalled
from ui_mcp.ui.instance import held_lock
from ui_mcp.version import bundled_version

_log = logger("nlui")


def gateway_options(options: HubOptions) -> GatewayOptions:
    """Return the gateway's own options."""
    mode: Mode | None = "guard" if options.mode == "guard" else "host" if options.mode == "host" else None
    return GatewayOptions(options.source, options.host, None, mode, options.compact, options.verbosity)


def run_gateway_hub(words: Sequence[str]) -> int:
    """Run the hub as the command line of `HubOptions` says; the last word is the pipe for the readiness."""
    return run_hub(HubOptions(**loads(words[0])), int(words[1]))


def run_hub(options: HubOptions, pipe: int) -> int:
    """Run the hub until it is unused; report to `pipe` when it can be joined."""
    os.set_inheritable(pipe, False)
    return run(_serve, options, Readiness(pipe))


async def serve_alone(options: HubOptions, stdin: int, stdout: int) -> int:
    """Serve one client in this process, where the system has no sockets that say whose process connects."""
    given = gateway_options(options)
    async with until_signalled(), open_gateway(given, mode="host") as gateway:
        await serve(McpServer(gateway_definition(gateway, given)), stdin, stdout)
    return 0


async def _serve(options: HubOptions, ready: Readiness) -> int:
    given = gateway_options(options)
    clients = LocalClients({"version": bundled_version(), "pid": os.getpid()})
    try:
        with forwarding_log() as log, held_lock(options.lock()):
            async with open_gateway(given, mode="host") as gateway:
                service = McpServer(gateway_definition(gateway, given))
                async with serving_clients(options.place(), service, clients), anyio.create_task_group() as tasks:
                    log.forward_to(clients)
                    tasks.start_soon(log.flush_to_first, clients)
                    ready.succeed()
                    await until_unused(clients, partial(_runs_tasks, gateway), linger_seconds())
                    tasks.cancel_scope.cancel()
    except AlreadyRunningError:
        await _wait_joinable(options)
        ready.succeed()
    except Exception as error:  # noqa: BLE001 - reported to the client that started us, and logged
        ready.fail(only_error(error))
        _log.exception("the hub ended")
        return 1
    return 0


async def _runs_tasks(gateway: GatewayService) -> bool:
    """Return whether a call goes on for a client that may come back for its result."""
    return gateway.tasks.busy


async def _wait_joinable(options: HubOptions) -> None:
    """Return when the hub that holds the lock accepts clients, or when it has ended."""
    with anyio.move_on_after(30):
        while (found := options.place().connect()) is None:
            with suppress(AlreadyRunningError), held_lock(options.lock()):
                return
            await anyio.sleep(0.05)
        found.close()
