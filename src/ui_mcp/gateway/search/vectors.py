"""Static token embeddings: the meaning of a text as the average of its tokens' vectors, with the standard library only.

Sums of vectors are sums of long integers that hold one number per 32-bit lane. That is exact, needs no numpy, and takes
about 3 ms for a query over 5,000 texts.
"""

import json
import math
import re
import sys
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from itertools import pairwise
from operator import mul
from pathlib import Path
from typing import Protocol

from ui_mcp.files import PRIVATE, write_atomic
from ui_mcp.log import logger

WEIGHTS = Path(__file__).parents[2] / "bundle" / "vectors" / "tokens.bin"
MAGIC = b"uimcpvec"
_LANE = 4
_OFFSET = 128
"""Added to every number, because a lane cannot hold a negative one."""
_ROUNDED = _OFFSET + 0.5  # what a positive number needs so that cutting its fraction rounds it
_ROW_SCALE = 508
"""A component of a unit vector is stored as a multiple of 1/508, cut at a quarter of the length."""
_QUERY_LEVELS = 8
"""A component of a query is one of -8 to 8: columns with the same factor are added before they are multiplied."""
_BIAS = 1 << 24
"""More than any sum of columns times their factors: 255 * 8 * 1,024 dimensions are less."""
_MAX_TOKENS = 256
_FULL_WEIGHT = 16
_COMMON_SHARE = 0.03
"""A word that makes up this share of a catalog's words counts half; tuned with `index._SHARES`."""
_COMMON_COUNT = 20
"""So many times at least: a few tools do not tell which words are common."""
_DIGEST = 16
_SPACE = "\u2581"  # SentencePiece writes a space as this character
_WORD = re.compile(r"[^\W_]+")
_log = logger("gateway.search")


class TokenVectors:
    """A vocabulary of subwords with a vector of signed bytes for each, read from a file of `scripts/vectors.py`."""

    def __init__(self, file: Path) -> None:
        data = file.read_bytes()
        if data[:8] != MAGIC:
            raise ValueError(f"{file} is not a file of token vectors")
        size = int.from_bytes(data[8:12], "little")
        header = json.loads(data[12 : 12 + size])
        self.dimensions: int = header["dimensions"]
        self.version: str = header["version"]
        self._ranks: dict[str, int] = {token: rank for rank, token in enumerate(header["tokens"])}
        self._data = memoryview(data)[12 + size :]
        self._lanes: Callable[[int], int] = cache(self._token_lanes)
        self._ids: Callable[[str], tuple[int, ...]] = cache(self._word_ids)

    def embed(self, text: str) -> bytes:
        """Return the direction of a text: one byte per dimension, offset by 128; all 128 if no word is known."""
        ids = [number for word in _WORD.findall(text.lower()) for number in self._ids(word)][:_MAX_TOKENS]
        return self._averaged(sum(map(self._lanes, ids)), len(ids))

    def embed_weighted(self, text: str, weights: Mapping[str, int]) -> bytes:
        """Return the direction of a text whose words count as much as `weights` says, or 16 times."""
        words = [(weights.get(word, _FULL_WEIGHT), self._ids(word)) for word in _WORD.findall(text.lower())]
        pairs = [(weight, number) for weight, ids in words for number in ids][:_MAX_TOKENS]
        total = sum(weight * self._lanes(number) for weight, number in pairs)
        return self._averaged(total, sum(weight for weight, _ in pairs))

    def _averaged(self, total: int, weight: int) -> bytes:
        summed = array("I", total.to_bytes(self.dimensions * _LANE, sys.byteorder))
        shift = _OFFSET * weight
        return direction([value - shift for value in summed])

    def _token_lanes(self, number: int) -> int:
        row = self._data[number * self.dimensions : (number + 1) * self.dimensions]
        return int.from_bytes(array("I", list(row)).tobytes(), sys.byteorder)

    def _word_ids(self, word: str) -> tuple[int, ...]:
        """Split a word by byte-pair encoding: of all neighbours, the pair whose union comes first is joined first."""
        pieces = list(_SPACE + word)
        ranks = self._ranks
        while len(pieces) > 1:
            joined = [(ranks.get(left + right, sys.maxsize), at) for at, (left, right) in enumerate(pairwise(pieces))]
            rank, at = min(joined)
            if rank == sys.maxsize:
                break
            pieces[at : at + 2] = [pieces[at] + pieces[at + 1]]
        return tuple(ranks[piece] for piece in pieces if piece in ranks)


def direction(vector: Sequence[float]) -> bytes:
    """Return the direction of a vector: one byte per dimension, offset by 128."""
    length = math.sqrt(sum(map(mul, vector, vector))) or 1.0
    scale = _ROW_SCALE / length
    limit = 127 / scale
    if max(vector) > limit or min(vector) < -limit:
        vector = [min(max(value, -limit), limit) for value in vector]
    return bytes([int(value * scale + _ROUNDED) for value in vector])


class Embedder(Protocol):
    """Turns a text into its direction, one byte per dimension, offset by 128."""

    dimensions: int
    version: str

    def embed(self, text: str) -> bytes: ...


class CatalogVectors:
    """Token vectors for the queries of one catalog: a word counts the less, the more often the catalog uses it."""

    def __init__(self, vectors: TokenVectors, texts: Sequence[str]) -> None:
        self.dimensions, self.version = vectors.dimensions, vectors.version
        self._vectors = vectors
        counts = Counter(word for text in texts for word in _WORD.findall(text.lower()))
        common = max(counts.total() * _COMMON_SHARE, _COMMON_COUNT)
        self._weights = {word: round(_FULL_WEIGHT * common / (common + count)) for word, count in counts.items()}

    def embed(self, text: str) -> bytes:
        return self._vectors.embed_weighted(text, self._weights)


class VectorIndex:
    """The vectors of many texts, by dimension: a query multiplies each dimension of all texts at once."""

    def __init__(self, rows: Sequence[bytes], dimensions: int) -> None:
        self._count = len(rows)
        self._bias = int.from_bytes(array("I", [_BIAS]).tobytes() * self._count, sys.byteorder)
        together = b"".join(rows)
        self._columns = [
            int.from_bytes(array("I", list(together[dimension::dimensions])).tobytes(), sys.byteorder)
            for dimension in range(dimensions)
        ]

    def nearness(self, query: bytes, weights: Sequence[float], share: float) -> list[float]:
        """Return for every text `share` if it is the nearest, less if farther, 0 from the mean on, times its weight.

        Cosines are exact to about one per cent.
        """
        # A lane is a multiple of the cosine plus a constant; both cancel out.
        lanes = self._lanes(_factors(query))
        mean = sum(lanes) / (len(lanes) or 1)
        span = max(lanes, default=0) - mean
        if span <= 0:
            return [0.0] * self._count
        scale = share / span
        return [
            (lane - mean) * scale * weight if lane > mean else 0.0 for lane, weight in zip(lanes, weights, strict=True)
        ]

    def _lanes(self, factors: Sequence[int]) -> Sequence[int]:
        by_factor: dict[int, list[int]] = defaultdict(list)
        for factor, column in zip(factors, self._columns, strict=True):
            by_factor[factor].append(column)
        # The bias keeps every lane positive, so that no lane borrows from its neighbour.
        total = self._bias + sum(factor * sum(columns) for factor, columns in by_factor.items() if factor)
        return array("I", total.to_bytes(self._count * _LANE, sys.byteorder))


def _factors(query: bytes) -> list[int]:
    """Return the direction of a query in few levels."""
    centred = [value - _OFFSET for value in query]
    largest = max(map(abs, centred), default=0) or 1
    return [round(value * _QUERY_LEVELS / largest) for value in centred]


class VectorCache:
    """Vectors by the digest of their text, in memory and in a file; only those in use are kept."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._known: dict[bytes, bytes] | None = None

    def has_all(self, vectors: Embedder, texts: Sequence[str]) -> bool:
        """Return whether the vectors of all texts are known."""
        if self._known is None:
            self._known = self._read(vectors.dimensions)
        return all(_key(vectors, text) in self._known for text in texts)

    def rows(self, vectors: Embedder, texts: Sequence[str]) -> list[bytes]:
        """Return the vector of each text; computes and saves the missing ones."""
        known = self._known if self._known is not None else self._read(vectors.dimensions)
        keys = [_key(vectors, text) for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        known = {key: known[key] for key in keys if key in known} | {
            key: vectors.embed(text) for key, text in missing.items()
        }
        self._known = known
        if missing:
            self._write(known)
        return [known[key] for key in keys]

    def _read(self, dimensions: int) -> dict[bytes, bytes]:
        with suppress(OSError):
            data = self._file.read_bytes()
            size = _DIGEST + dimensions
            if data[:8] == MAGIC and (len(data) - 8) % size == 0:
                rows = (data[at : at + size] for at in range(8, len(data), size))
                return {row[:_DIGEST]: row[_DIGEST:] for row in rows}
        return {}

    def _write(self, known: dict[bytes, bytes]) -> None:
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            write_atomic(self._file, MAGIC + b"".join(key + row for key, row in known.items()), mode=PRIVATE)
        except OSError as error:
            _log.info("the vectors of the tools are not kept: %s", error)


def _key(vectors: Embedder, text: str) -> bytes:
    return blake2b(f"{vectors.version}\0{text}".encode(), digest_size=_DIGEST).digest()


@cache
def token_vectors() -> TokenVectors | None:
    """Return the vectors of the package, loaded once; None if it was built without them."""
    try:
        return TokenVectors(WEIGHTS)
    except (OSError, ValueError, KeyError) as error:
        _log.warning("search by meaning is off, words only: %s", error)
        return None
