"""all-MiniLM-L6-v2 with numpy alone: the rival of static vectors, from a folder with its weights and vocabulary."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np

_LAYERS, _HEADS, _MAX_TOKENS = 6, 12, 256


class SentenceModel:
    def __init__(self, folder: Path) -> None:
        data = (folder / "model.safetensors").read_bytes()
        size = int.from_bytes(data[:8], "little")
        self._weights: dict[str, Any] = {}
        for name, one in json.loads(data[8 : 8 + size]).items():
            if name != "__metadata__" and one["dtype"] == "F32":
                start, end = (8 + size + offset for offset in one["data_offsets"])
                self._weights[name] = np.frombuffer(data[start:end], dtype=np.float32).reshape(one["shape"])
        words = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")
        self._ids = {word: number for number, word in enumerate(words)}

    def embed(self, texts: list[str]) -> Any:
        """Return one row of length 1 per text."""
        return np.stack([self._one(text) for text in texts])

    def _one(self, text: str) -> Any:
        ids = [self._ids["[CLS]"], *self._pieces(text)[: _MAX_TOKENS - 2], self._ids["[SEP]"]]
        of = self._weights
        x = of["embeddings.word_embeddings.weight"][ids] + of["embeddings.position_embeddings.weight"][: len(ids)]
        x = self._norm(x + of["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        for layer in range(_LAYERS):
            x = self._layer(x, f"encoder.layer.{layer}.")
        mean = x.mean(axis=0)
        return mean / np.linalg.norm(mean)

    def _layer(self, x: Any, at: str) -> Any:
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
        inner = 0.5 * inner * (1 + np.tanh(np.sqrt(2 / np.pi) * (inner + 0.044715 * inner**3)))
        return self._norm(x + self._linear(inner, f"{at}output.dense"), f"{at}output.LayerNorm")

    def _linear(self, x: Any, name: str) -> Any:
        return x @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _norm(self, x: Any, name: str) -> Any:
        centred = x - x.mean(axis=-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-12)
        return scaled * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]

    def _pieces(self, text: str) -> list[int]:
        return [number for word in re.findall(r"\w+|[^\w\s]", text.lower()) for number in self._word(word)]

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
