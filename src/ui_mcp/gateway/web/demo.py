"""A small shop as an HTTP API with its own OpenAPI document: something for `nlui` to talk to on its first run."""

from collections.abc import Sequence

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ui_mcp.jsontypes import JsonObject

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


def demo_api() -> Starlette:
    """Return a shop with orders of its own."""
    orders: dict[int, JsonObject] = {int(order["id"]): dict(order) for order in ORDERS}

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
