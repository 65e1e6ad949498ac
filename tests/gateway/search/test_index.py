"""Search: the right tool among the first three, at once, whatever the catalogue."""

import os
import time
from functools import cache
from pathlib import Path

import anyio
import pytest

import needs
from ui_mcp.gateway.config.notes import Notes
from ui_mcp.gateway.config.settings import TargetSettings
from ui_mcp.gateway.openapi.document import Document, load
from ui_mcp.gateway.openapi.fetch import Fetcher
from ui_mcp.gateway.openapi.operations import read_api
from ui_mcp.gateway.openapi.tools import build_tools
from ui_mcp.gateway.search.index import Index, summary
from ui_mcp.gateway.source import Entry
from ui_mcp.jsontypes import Json, JsonObject, dumps
from ui_mcp.toolkit.tool import Tool

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
    return Index(build_tools(TargetSettings(name="x"), read_api(document)).entries, needs.token_vectors())


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


HARMLESS = (
    "which {0}s are late",
    "who added this {0}",
    "what does the {0} cost",
    "how many {0}s were cancelled last week",
    "when was the {0} deleted",
    "is there a {0} with that number",
    "show me every {0}",
    "give me the {0} from Monday",
    "find the {0} of Ms Lee",
    "look up a {0}",
    "send a {0} to the customer",
    "schedule the {0} for tomorrow",
    "turn on the {0}",
    "invite somebody to the {0}",
    "start a new {0}",
    "add one more {0}",
    "make a copy of the {0}",
    "write down the address of a {0}",
    "react to a comment on the {0}",
    "mark the {0} as read",
)


@pytest.mark.covers("GW-CAT-7")
@pytest.mark.parametrize("meaning", [True, False])
def test_of_200_requests_to_read_or_create_none_has_a_delete_first(meaning: bool) -> None:
    entries = build_tools(TargetSettings(name="x"), read_api(Document("s", {"s": shop()}, Notes()))).entries
    catalogue = Index(entries, needs.token_vectors() if meaning else None)
    requests = [request.format(noun) for request in HARMLESS for noun in NOUNS]

    first = {request: catalogue.search(request)[0].entry.method for request in requests}

    assert len(first) == 200
    assert [request for request, method in first.items() if method == "DELETE"] == []


@pytest.mark.covers("GW-CAT-7")
def test_a_call_that_deletes_is_second_even_if_nothing_else_fits() -> None:
    catalogue = Index(tools(remove_message="The message", resize_image="Scale a picture for a message"))

    assert [hit.entry.local_name for hit in catalogue.search("star a message")] == ["resize_image", "remove_message"]
    assert catalogue.search("remove a message")[0].entry.local_name == "remove_message"


def tools(**described: str) -> list[Entry]:
    schema: JsonObject = {"type": "object"}
    return [
        Entry(Tool(name=f"x__{name}", title="", description=text, input_schema=schema), "x", "backend", name)
        for name, text in described.items()
    ]


@pytest.mark.covers("GW-CAT-7")
def test_questions_prefer_reading_and_only_a_wish_to_delete_finds_deleting_first() -> None:
    paths = {
        "/branches/{branch}/protection": {
            "get": {"operationId": "get_protection"},
            "put": {"operationId": "update_protection"},
            "delete": {"operationId": "delete_protection"},
        },
        "/orders": {"get": {"operationId": "list_orders"}, "post": {"operationId": "create_order"}},
    }
    tree = {"openapi": "3.0.0", "info": {"title": "t", "version": "1"}, "paths": paths}
    catalogue = Index(build_tools(TargetSettings(name="x"), read_api(Document("s", {"s": tree}, Notes()))).entries)

    def first(query: str) -> str:
        return catalogue.search(query)[0].entry.local_name

    assert first("turn on branch protection") == "update_protection"
    assert first("which orders are late") == "list_orders"
    assert first("remove the branch protection") == "delete_protection"
    assert first("who deleted the branch protection?") == "get_protection"


@pytest.mark.covers("GW-CAT-8")
@pytest.mark.parametrize(
    ("query", "tool"),
    [
        ("what will the temperature be tomorrow", "weather_forecast"),
        ("text my colleague", "send_message"),
        ("purchase a ticket for a flight", "book_trip"),
        ("how much money do we owe", "list_unpaid_invoices"),
    ],
)
def test_a_tool_is_found_by_its_meaning_when_no_word_is_shared(query: str, tool: str) -> None:
    entries = tools(
        weather_forecast="Rain, wind and sunshine for the next days",
        send_message="Write to another person in the chat",
        book_trip="Reserve seats on planes and trains",
        list_unpaid_invoices="Bills that are still open",
        resize_image="Scale a picture",
        run_tests="Execute the test suite",
    )

    assert Index(entries, needs.token_vectors()).search(query)[0].entry.local_name == tool


@pytest.mark.covers("GW-CAT-8")
def test_a_task_of_several_clauses_finds_a_tool_for_each() -> None:
    places = ("flight", "hotel", "taxi", "museum", "dinner", "concert", "theatre", "ferry", "sauna", "tennis")
    entries = tools(**{f"book_{place}": f"Book a {place}" for place in places}, git_branch_names="Repository work")

    found = Index(entries).search(f"book {' '.join(places)} for our trip, then rename the branch")

    assert "git_branch_names" in {hit.entry.local_name for hit in found}


@pytest.mark.covers("GW-CAT-9")
def test_what_was_called_after_a_similar_search_comes_first() -> None:
    entries = tools(list_people="Everybody who works here", list_guests="Everybody who visits")
    catalogue = Index(entries)

    assert [hit.entry.local_name for hit in catalogue.search("everybody")] == ["list_guests", "list_people"]
    assert catalogue.search("everybody", learned={"x__list_people": 1.0})[0].entry.local_name == "list_people"
