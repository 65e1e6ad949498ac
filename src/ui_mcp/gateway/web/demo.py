"""The demo: a coffee shop API and a configuration with a scripted model."""

import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from tempfile import TemporaryDirectory

from anyio import create_task_group, sleep_forever
from anyio.abc import TaskStatus
from platformdirs import user_config_path
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ui_mcp.gateway.config import loader
from ui_mcp.gateway.config.configuration import GatewayOptions
from ui_mcp.gateway.config.settings import GatewaySettings
from ui_mcp.jsontypes import JsonObject
from ui_mcp.validation import read
from ui_mcp.webserver.server import bind, listening, port_of

ORDERS: Sequence[JsonObject] = (
    {"id": 1, "customer": "Ada Lovelace", "item": "Espresso machine", "amount": 349.0, "shipped": False},
    {"id": 2, "customer": "Grace Hopper", "item": "Grinder", "amount": 129.5, "shipped": True},
    {"id": 3, "customer": "Alan Turing", "item": "Filter papers", "amount": 7.9, "shipped": False},
)

ID = {
    "name": "id",
    "in": "path",
    "required": True,
    "schema": {"type": "integer"},
    "description": "Number of the order.",
}

SPEC: JsonObject = {
    "openapi": "3.1.0",
    "info": {"title": "Coffee shop", "version": "1.0.0", "description": "Orders of a small coffee shop."},
    "paths": {
        "/orders": {
            "get": {
                "operationId": "list_orders",
                "summary": "List all orders.",
                "responses": {"200": {"description": "The orders."}},
            }
        },
        "/orders/{id}": {
            "get": {
                "operationId": "get_order",
                "summary": "Read one order.",
                "parameters": [ID],
                "responses": {"200": {"description": "The order."}, "404": {"description": "No such order."}},
            }
        },
        "/orders/{id}/ship": {
            "post": {
                "operationId": "ship_order",
                "summary": "Ship an order; it cannot be taken back.",
                "parameters": [ID],
                "responses": {"200": {"description": "The order, shipped."}, "404": {"description": "No such order."}},
            }
        },
    },
}


Orders = dict[int, JsonObject]


def first_orders() -> Orders:
    """Return the orders with which the shop opens, by their number."""
    return {int(order["id"]): dict(order) for order in ORDERS}


def demo_api(given: Orders | None = None) -> Starlette:
    """Return the shop API, over these orders or its first ones."""
    orders = first_orders() if given is None else given

    async def document(request: Request) -> Response:
        return JSONResponse(SPEC)

    async def listed(request: Request) -> Response:
        return JSONResponse(list(orders.values()))

    async def one(request: Request) -> Response:
        order = orders.get(request.path_params["id"])
        return JSONResponse(order) if order else JSONResponse({"error": "No such order"}, 404)

    async def ship(request: Request) -> Response:
        order = orders.get(request.path_params["id"])
        if order is None:
            return JSONResponse({"error": "No such order"}, 404)
        order["shipped"] = True
        return JSONResponse(order)

    return Starlette(
        routes=[
            Route("/openapi.json", document, methods=["GET"]),
            Route("/orders", listed, methods=["GET"]),
            Route("/orders/{id:int}", one, methods=["GET"]),
            Route("/orders/{id:int}/ship", ship, methods=["POST"]),
        ]
    )


HELLO = """\
Hello! I am a scripted demo over a small coffee shop. Try **show the orders** or **ship order 1**.

To talk to your own APIs with a real model, run `nlui init` and edit `nlui.yaml`.
"""

SCRIPT: list[JsonObject] = [
    {
        "when": {"user": r"ship\D*(\d+)"},
        "emit": [
            {"say": "I ship order {{match.1}}."},
            {"call": "shop__ship_order", "args": {"id": "{{match.1 | number}}"}},
            {"usage": [180, 24]},
        ],
    },
    {"when": {"user": "order|list|show"}, "emit": [{"call": "shop__list_orders"}, {"usage": [160, 12]}]},
    {
        "when": {"tool": "list_orders"},
        "emit": [{"say": "Say *ship order 1*, and I ask you before I do it."}, {"usage": [420, 30]}],
    },
    {"when": {"tool_result": '"shipped": ?true'}, "emit": [{"say": "Order {{result.id}} is on its way."}]},
    {"when": {"tool": "ship_order"}, "emit": [{"say": "Then I leave it."}]},
    {"emit": [{"say": HELLO}]},
]


async def serve_demo_api(orders: Orders | None = None, *, task_status: TaskStatus[str]) -> None:
    """Serve the shop on a free loopback port until cancelled; report its address when started."""
    listener = bind("127.0.0.1", 0)
    async with listening(demo_api(orders), listener):
        task_status.started(f"http://127.0.0.1:{port_of(listener)}")
        await sleep_forever()


@asynccontextmanager
async def demo_unless_configured(options: GatewayOptions) -> AsyncIterator[GatewayOptions]:
    """Yield the given options, or those of the demo if no source is given and no configuration is found."""
    if options.source or options.settings or loader.find(None, os.environ, user_config_path()):
        yield options
        return
    sys.stderr.write("nlui: no nlui.yaml here: showing the demo (nlui init writes one)\n")
    async with create_task_group() as tasks:
        url = await tasks.start(serve_demo_api)
        with TemporaryDirectory(prefix="nlui-demo-") as data:
            yield replace(options, settings=_demo_settings(data, url))
        tasks.cancel_scope.cancel()


def _demo_settings(data: str, url: str) -> GatewaySettings:
    return read(
        GatewaySettings,
        {
            "data_dir": data,
            "targets": [{"name": "shop", "base_url": url}],
            "llm": {"provider": "scripted", "script": SCRIPT},
        },
    )
