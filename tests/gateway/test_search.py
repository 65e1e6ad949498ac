"""Search: the right tool among the first three, at once, whatever the catalogue."""

import os
import time
from functools import cache
from pathlib import Path

import anyio
import pytest

from ui_mcp.gateway.config.parse import Notes
from ui_mcp.gateway.config.settings import TargetSettings
from ui_mcp.gateway.openapi.document import Document, load
from ui_mcp.gateway.openapi.fetch import Fetcher
from ui_mcp.gateway.openapi.operations import read_api
from ui_mcp.gateway.openapi.tools import build_tools
from ui_mcp.gateway.search import Index, summary
from ui_mcp.jsontypes import Json, JsonObject, dumps

NOUNS = (
    "order",
    "customer",
    "invoice",
    "product",
    "warehouse",
    "shipment",
    "supplier",
    "employee",
    "contract",
    "ticket",
)
EXTRAS = ("comment", "attachment", "label", "member", "address")

OURS = [
    ("create an order", "create-order"),
    ("list all customers", "list-customers"),
    ("get an invoice", "get-invoice"),
    ("delete a product", "delete-product"),
    ("update a warehouse", "update-warehouse"),
    ("show shipment", "get-shipment"),
    ("add a supplier", "create-supplier"),
    ("remove an employee", "delete-employee"),
    ("edit a contract", "update-contract"),
    ("find tickets", "list-tickets"),
    ("add comment to ticket", "create-ticket-comment"),
    ("list attachments of an order", "list-order-attachments"),
    ("add a label to an invoice", "create-invoice-label"),
    ("delete address of customer", "delete-customer-address"),
    ("list members of a contract", "list-contract-members"),
    ("new product", "create-product"),
    ("change an order", "update-order"),
    ("read a customer", "get-customer"),
    ("cancel an order", "cancel-order"),
    ("refund an invoice", "refund-invoice"),
]
STRIPE = [
    ("create a customer", "PostCustomers"),
    ("refund a charge", "PostChargesChargeRefund"),
    ("list invoices", "GetInvoices"),
    ("cancel a subscription", "DeleteSubscriptionsSubscriptionExposedId"),
    ("create payment intent", "PostPaymentIntents"),
    ("retrieve balance", "GetBalance"),
    ("create a product", "PostProducts"),
    ("delete a coupon", "DeleteCouponsCoupon"),
    ("list disputes", "GetDisputes"),
    ("update a customer", "PostCustomersCustomer"),
    ("create a checkout session", "PostCheckoutSessions"),
    ("pay an invoice", "PostInvoicesInvoicePay"),
]
SLACK = [
    ("send a message to a channel", "chat_postMessage"),
    ("list users", "users_list"),
    ("upload a file", "files_upload"),
    ("create a channel", "conversations_create"),
    ("add a reaction", "reactions_add"),
    ("invite user to channel", "conversations_invite"),
    ("set channel topic", "conversations_setTopic"),
    ("delete a message", "chat_delete"),
]


def shop() -> Json:
    """A document of 300 operations that look alike."""
    paths: JsonObject = {}
    for noun in NOUNS:
        _crud(paths, f"/{noun}s", noun, noun)
        for extra in EXTRAS:
            _crud(paths, f"/{noun}s/{{{noun}_id}}/{extra}s", f"{noun}-{extra}", f"{extra} of a {noun}")
    for verb, noun in (("cancel", "order"), ("refund", "invoice")):
        operation = {"operationId": f"{verb}-{noun}", "summary": f"{verb.title()} {noun}"}
        paths[f"/{noun}s/{{{noun}_id}}/{verb}"] = {"post": operation}
    return {"openapi": "3.0.3", "info": {"title": "Shop", "version": "1"}, "paths": paths}


def _crud(paths: JsonObject, path: str, name: str, words: str) -> None:
    last = path.rsplit("/", 1)[-1].removesuffix("s")
    paths[path] = {
        "get": {"operationId": f"list-{name}s", "summary": f"List every {words}"},
        "post": {"operationId": f"create-{name}", "summary": f"Create a {words}"},
    }
    paths[f"{path}/{{{last}_id}}"] = {
        "get": {"operationId": f"get-{name}", "summary": f"Get a {words}"},
        "patch": {"operationId": f"update-{name}", "summary": f"Update a {words}"},
        "delete": {"operationId": f"delete-{name}", "summary": f"Delete a {words}"},
    }


@cache
def index(name: str) -> Index:
    document = Document("shop.json", {"shop.json": shop()}, Notes()) if name == "shop" else anyio.run(_real, name)
    return Index(build_tools(TargetSettings(name="x"), read_api(document)).entries)


async def _real(name: str) -> Document:
    folder = Path(os.environ["UI_MCP_OPENAPI_DIR"])
    async with Fetcher(str(next(folder.glob(f"{name}*")))) as fetcher:
        root = await fetcher.root()
        assert root is not None
        return await load(fetcher, root)


def queries() -> list[tuple[str, str, str]]:
    found = [("shop", query, tool) for query, tool in OURS]
    folder = os.environ.get("UI_MCP_OPENAPI_DIR")
    for name, known in (("stripe", STRIPE), ("slack", SLACK)):
        if folder and any(Path(folder).glob(f"{name}*")):
            found += [(name, query, tool) for query, tool in known]
    return found


@pytest.mark.covers("GW-CAT-2", "GW-CAT-4")
@pytest.mark.parametrize(("catalogue", "query", "tool"), queries())
def test_the_right_tool_is_among_the_first_three(catalogue: str, query: str, tool: str) -> None:
    hits = [hit.entry.name.removeprefix("x__") for hit in index(catalogue).search(query)]

    assert tool in hits[:3], hits


@pytest.mark.covers("GW-CAT-3", "GW-CAT-4")
def test_a_query_is_quick_and_its_answer_small() -> None:
    catalogue = index("shop")
    started = time.thread_time()
    answers = [catalogue.search(query) for query, _ in OURS]
    spent = (time.thread_time() - started) / len(OURS)

    assert spent < 0.05
    assert all(len(dumps([summary(hit.entry) for hit in answer])) < 6000 for answer in answers)


def test_filters_narrow_the_search() -> None:
    hits = index("shop").search("order", method="delete", limit=30)

    assert {hit.entry.method for hit in hits} == {"DELETE"}
    assert index("shop").search("order", source="other") == []
