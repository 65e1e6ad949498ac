"""Static token vectors: exact sums in long integers, kept by the digest of their text."""

import math
from pathlib import Path

import pytest

import needs
from gateway.conftest import Recorder
from gateway.gateways import gateway
from ui_mcp.gateway.search.vectors import CatalogVectors, TokenVectors, VectorCache, VectorIndex
from ui_mcp.gateway.toolset import GatewayToolset
from ui_mcp.toolkit.tool import Call

TEXTS = ["send a message", "write to a colleague", "resize a picture", "", "☃", "delete the repository " * 200]


def cosine(left: bytes, right: bytes) -> float:
    pairs = [(one - 128, other - 128) for one, other in zip(left, right, strict=True)]
    lengths = [math.sqrt(sum(pair[side] ** 2 for pair in pairs)) for side in (0, 1)]
    return sum(one * other for one, other in pairs) / (lengths[0] * lengths[1] or 1.0)


@pytest.mark.covers("GW-CAT-8")
def test_words_are_split_into_the_longest_common_pieces() -> None:
    vectors = needs.token_vectors()

    assert vectors.embed("message") == vectors.embed("Message!")
    assert cosine(vectors.embed("unsubscribe"), vectors.embed("subscription")) > cosine(
        vectors.embed("unsubscribe"), vectors.embed("weather")
    )


@pytest.mark.covers("GW-CAT-8")
def test_a_word_that_the_whole_catalog_uses_counts_less_in_a_query() -> None:
    vectors = needs.token_vectors()
    catalog = CatalogVectors(vectors, ["the poster of a movie", *["the movie of a year"] * 40])
    query, wanted = "poster of a movie", vectors.embed("poster")

    assert cosine(catalog.embed(query), wanted) > cosine(vectors.embed(query), wanted)
    assert CatalogVectors(vectors, []).embed(query) == vectors.embed(query)


@pytest.mark.covers("GW-CAT-8")
def test_nearness_of_all_texts_at_once_follows_their_cosines_and_is_0_from_the_mean_on() -> None:
    vectors = needs.token_vectors()
    rows = [vectors.embed(text) for text in TEXTS]
    index, query = VectorIndex(rows, vectors.dimensions), vectors.embed("post a note to a friend")
    cosines = [cosine(row, query) for row in rows]
    mean = sum(cosines) / len(cosines)
    near = [max(one - mean, 0) / (max(cosines) - mean) for one in cosines]

    assert index.nearness(query, [1.0] * len(TEXTS), 0.5) == pytest.approx([0.5 * one for one in near], abs=0.03)
    assert index.nearness(query, [0.0] * len(TEXTS), 0.5) == [0.0] * len(TEXTS)
    assert index.nearness(vectors.embed("☃☃"), [1.0] * len(TEXTS), 0.5) == [0.0] * len(TEXTS)


@pytest.mark.covers("GW-CAT-8")
def test_vectors_are_kept_by_digest_and_only_while_in_use(tmp_path: Path) -> None:
    vectors, file = needs.token_vectors(), tmp_path / "cache" / "vectors.bin"
    rows = VectorCache(file).rows(vectors, TEXTS)
    size = file.stat().st_size

    class Unused(TokenVectors):
        def embed(self, text: str) -> bytes:
            raise AssertionError(text)

    again = Unused.__new__(Unused)
    again.dimensions, again.version = vectors.dimensions, vectors.version
    assert VectorCache(file).rows(again, TEXTS) == rows
    VectorCache(file).rows(vectors, ["something new"])
    assert file.stat().st_size < size
    file.write_bytes(b"damaged")
    assert VectorCache(file).rows(vectors, TEXTS) == rows


@pytest.mark.covers("GW-CAT-9")
async def test_a_gateway_learns_from_its_audit_log_per_principal(tmp_path: Path, recorder: Recorder) -> None:
    async with gateway(tmp_path, recorder, policy={"mode": "host"}) as found:
        offered = GatewayToolset(found)

        async def first(query: str, principal: str) -> str:
            return (await found.search(query, principal))[0].entry.local_name

        before = await first("everything we have", "anna")
        for principal, tool in (("anna", "addThing"), ("bert", "listThings")):
            call = Call(principal=principal)
            await offered.call("nlui__search", {"query": "everything we have"}, call)
            await offered.call(f"shop__{tool}", {"body": {}} if tool == "addThing" else {}, call)

        assert before == "listThings"
        assert await first("have we everything", "anna") == "addThing"
        assert await first("have we everything", "bert") == "listThings"
