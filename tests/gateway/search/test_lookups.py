"""Search also finds the calls that come first in a chain: those that find an id."""

import pytest

from ui_mcp.gateway.search.index import Index
from ui_mcp.gateway.search.words import names_something, says_mine, without_data
from ui_mcp.gateway.source import Entry
from ui_mcp.toolkit.tool import Tool

CALLS = (
    "GET /artists/{id}/albums",
    "GET /me/artists",
    "GET /search",
    "GET /users/{user_id}/photos",
    "GET /me",
    "PUT /lamps/{lamp}/colour",
    "GET /houses/{house}/lamps",
    "GET /lamps",
)


def found(query: str) -> list[str]:
    entries = [operation(*call.split()) for call in CALLS]
    return [f"{hit.entry.method} {hit.entry.path}" for hit in Index(entries).search(query)]


def operation(method: str, path: str) -> Entry:
    name = path.replace("/", "_").strip("_")
    return Entry(Tool(f"x__{name}", "", "", {"type": "object"}), "x", "backend", name, method, path)


@pytest.mark.covers("GW-CAT-11")
def test_a_name_brings_the_search_that_finds_its_id() -> None:
    assert found("albums of Dire Straits")[:2] == ["GET /artists/{id}/albums", "GET /search"]


@pytest.mark.covers("GW-CAT-11")
def test_my_brings_the_list_of_what_is_mine() -> None:
    assert found("albums of all those I like")[:2] == ["GET /artists/{id}/albums", "GET /me/artists"]
    assert found("photos of me") == ["GET /users/{user_id}/photos", "GET /me", "GET /search"]


@pytest.mark.covers("GW-CAT-11")
def test_of_two_lists_the_one_that_needs_no_id_is_brought() -> None:
    assert found("set the colour to red") == ["PUT /lamps/{lamp}/colour", "GET /lamps", "GET /search"]


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("albums of Dire Straits", True),
        ("play 'yesterday'", True),
        ('rename it to "mine"', True),
        ("Show all albums. Then stop.", False),
        ("don't stop", False),
    ],
)
def test_names_are_capitals_inside_a_sentence_or_quoted(query: str, named: bool) -> None:
    assert names_something(query) == named


def test_mine_is_a_word_of_its_own() -> None:
    assert says_mine("rename my list")
    assert not says_mine("rename the army list")


@pytest.mark.parametrize(
    ("query", "plain"),
    [
        ("save it as /srv/notes/red-cats.md now", "save it as file md now"),
        ("what is in /srv/notes", "what is in directory"),
        ("summarize https://example.com/delete/cats please", "summarize url please"),
        ("sum up report.pdf", "sum up file pdf"),
        ("read and/or write", "read and/or write"),
    ],
)
def test_paths_and_addresses_count_by_what_they_are(query: str, plain: str) -> None:
    assert without_data(query).split() == plain.split()
