"""A sentence model that the person gives: read from a folder, joined to the index, left out when it cannot be read."""

import json
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from ui_mcp.gateway.search import builder, sentences
from ui_mcp.gateway.search.builder import IndexBuilder
from ui_mcp.gateway.search.index import Index, Meaning
from ui_mcp.gateway.search.sentences import sentence_model
from ui_mcp.gateway.search.vectors import direction
from ui_mcp.gateway.source import Entry
from ui_mcp.toolkit.tool import Tool


def entries(*names: str) -> list[Entry]:
    return [Entry(Tool(f"x__{name}", name, name, {"type": "object"}), "x", "backend", name) for name in names]


class Meanings:
    """Knows what a few texts are near to."""

    dimensions, version = 2, "1"

    def __init__(self, **near: tuple[float, float]) -> None:
        self._near = near
        self.read: list[str] = []

    def embed(self, text: str) -> bytes:
        self.read.append(text)
        return direction(next((at for word, at in self._near.items() if word in text), (1.0, 1.0)))


@pytest.mark.covers("GW-CAT-10")
def test_what_only_the_sentence_model_understands_is_found() -> None:
    tools = entries("get_forecast", "list_invoices", "play_song")
    model = Meanings(umbrella=(1.0, 0.1), forecast=(1.0, 0.0), invoices=(0.0, 1.0), song=(-1.0, 0.2))
    texts = [entry.tool.description for entry in tools]
    index = Index(tools, Meanings(), None, Meaning.of(model, texts))

    assert index.search("will I need an umbrella")[0].entry.local_name == "get_forecast"


@pytest.mark.covers("GW-CAT-10")
def test_the_first_searches_do_not_wait_for_the_model_and_later_ones_use_what_it_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, ready = Meanings(), Event()
    monkeypatch.setattr(builder, "sentence_model", lambda _: model)
    made = IndexBuilder(tmp_path, "folder", ready.set)
    first = made.build(entries("a", "b"))
    assert ready.wait(20)
    later = made.build(entries("a", "b"))
    again = IndexBuilder(tmp_path, "folder").build(entries("a", "b"))

    assert [len(one._meanings) for one in (first, later, again)] == [1, 2, 2]
    assert len(model.read) == 2


def test_off_ignores_an_installed_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builder, "sentence_model", lambda _: pytest.fail("it was loaded"))

    assert len(IndexBuilder(tmp_path, "off").build(entries("a"))._meanings) == 1


@pytest.mark.parametrize("files", [{}, {"model.safetensors": b"short", "vocab.txt": b"a"}], ids=["missing", "damaged"])
def test_a_model_that_cannot_be_read_is_left_out_with_a_warning(
    tmp_path: Path, files: dict[str, bytes], caplog: pytest.LogCaptureFixture
) -> None:
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)

    assert sentence_model(str(tmp_path)) is None
    assert "is not used" in caplog.text


def safetensors(arrays: dict[str, Any]) -> bytes:
    """Write arrays as such files hold them."""
    header, body = {}, b""
    for name, array in arrays.items():
        data = array.astype("float32").tobytes()
        header[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + body


def weights(vocabulary: Sequence[str]) -> dict[str, Any]:
    import numpy

    random, width, inner = numpy.random.default_rng(1), 24, 48
    sizes = {"attention.self.query": (width, width), "attention.self.key": (width, width)}
    sizes |= {"attention.self.value": (width, width), "attention.output.dense": (width, width)}
    sizes |= {"intermediate.dense": (inner, width), "output.dense": (width, inner)}
    found = {f"embeddings.{name}_embeddings.weight": random.normal(size=(rows, width))
             for name, rows in (("word", len(vocabulary)), ("position", 256), ("token_type", 2))}  # fmt: skip
    norms = ["embeddings.LayerNorm"]
    for layer in range(6):
        for name, (rows, columns) in sizes.items():
            found[f"encoder.layer.{layer}.{name}.weight"] = random.normal(size=(rows, columns)) / 5
            found[f"encoder.layer.{layer}.{name}.bias"] = numpy.zeros(rows)
        norms += [f"encoder.layer.{layer}.{name}.LayerNorm" for name in ("attention.output", "output")]
    for name in norms:
        found |= {f"{name}.weight": numpy.ones(width), f"{name}.bias": numpy.zeros(width)}
    return found


@pytest.mark.covers("GW-CAT-10")
def test_a_model_in_a_folder_turns_words_and_their_pieces_into_directions(tmp_path: Path) -> None:
    vocabulary = ["[CLS]", "[SEP]", "[UNK]", "order", "##s", "list"]
    (tmp_path / "vocab.txt").write_text("\n".join(vocabulary))
    (tmp_path / "model.safetensors").write_bytes(safetensors(weights(vocabulary)))
    model = sentence_model(str(tmp_path))
    assert model is not None

    assert model.dimensions == len(model.embed("list orders")) == 24
    assert model.embed("List orders") == model.embed("list orders") != model.embed("orders list")
    assert model._pieces("orders zebra") == [3, 4, 2]
    assert sentences.SentenceModel(tmp_path).version == model.version
