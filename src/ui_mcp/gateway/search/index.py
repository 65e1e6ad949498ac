"""The search index: BM25 over the words of each tool, its meaning, rules about verbs and risk, and earlier searches."""

import math
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from operator import itemgetter

from ui_mcp.gateway.search.lookups import Lookups
from ui_mcp.gateway.search.vectors import CatalogVectors, Embedder, TokenVectors, VectorCache, VectorIndex
from ui_mcp.gateway.search.words import (
    DELETING,
    STEMMED_VERBS,
    Verb,
    asks_to_delete,
    clauses,
    known_verb,
    query_verb,
    split,
    stems,
    without_data,
)
from ui_mcp.gateway.source import Entry
from ui_mcp.jsontypes import JsonObject
from ui_mcp.lazy_dataclass import dataclass

SEARCH = "nlui__search"
_MAX_PAIRS = 1_000
_CALLS_AFTER = 2
"""How many calls after a search count as its answer."""
_LEAST_OVERLAP = 0.5
_USEFUL = frozenset({"policy_allow", "user_approve", "user_approve_edited"})
_WEIGHTS = {"name": 3.0, "path": 2.0, "tag": 1.0, "title": 3.0, "description": 0.7, "parameter": 0.35}
_BM25_B = 0.6
_BM25_K = 1.4
_SHARES = ((1.0,), (0.55, 0.45), (0.55, 0.4, 0.05))
"""How much of a score comes from words, static vectors and a sentence model, by how many meanings there are.

Tuned on half of public data sets.
"""
_WHOLE_FIRST = 5
"""Of a task of several clauses: how many hits the task as a whole decides, before the best one of each clause."""
_NEEDING = 20
"""Of how many hits the look-ups score more."""
_SPARE = 20
"""Entries ranked beyond the limit, from which the first that deletes nothing can be taken."""
_LEARNED_SHARE = 0.3
_NUMBER = itemgetter(0)
_VERB_BY_METHOD: dict[str, Verb] = {
    "GET": "list",
    "POST": "create",
    "PATCH": "update",
    "PUT": "update",
    "DELETE": "delete",
}
_METHODS: dict[Verb, frozenset[str]] = {
    "create": frozenset({"POST", "PUT"}),
    "list": frozenset({"GET"}),
    "search": frozenset({"GET", "POST"}),
    "act": frozenset({"POST", "PUT", "PATCH"}),
    "get": frozenset({"GET"}),
    "read": frozenset({"GET"}),
    "update": frozenset({"PATCH", "PUT", "POST"}),
    "delete": frozenset({"DELETE"}),
}
_READING: frozenset[Verb] = frozenset({"list", "get", "search"})


@dataclass(frozen=True, slots=True)
class Hit:
    """An entry and its score."""

    entry: Entry
    score: float


@dataclass(frozen=True, slots=True)
class _Shape:
    """Features of an entry that ranking uses besides its words."""

    verb: Verb | None
    nouns: frozenset[str]
    """Words of the last fixed part of the path, which names the resource of an operation."""
    depth: int
    by_id: bool
    deletes: bool


@dataclass(frozen=True, slots=True)
class Meaning:
    """The directions of all entries' texts, and what finds that of a query."""

    embedder: Embedder
    index: VectorIndex

    @staticmethod
    def of(embedder: Embedder, texts: Sequence[str], cache: VectorCache | None = None) -> "Meaning":
        rows = cache.rows(embedder, texts) if cache else [embedder.embed(text) for text in texts]
        return Meaning(embedder, VectorIndex(rows, embedder.dimensions))

    def nearness(self, query: str, weights: Sequence[float], share: float) -> list[float]:
        return self.index.nearness(self.embedder.embed(query), weights, share)


class Index:
    """Built once per catalog; without vectors it searches by words only."""

    def __init__(
        self,
        entries: Sequence[Entry],
        vectors: Embedder | None = None,
        cache: VectorCache | None = None,
        sentences: Meaning | None = None,
    ) -> None:
        self._entries = entries
        self._shapes = [_shape(entry) for entry in entries]
        self._postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        self._resources: dict[str, list[int]] = defaultdict(list)
        for number, shape in enumerate(self._shapes):
            for noun in shape.nouns:
                self._resources[noun].append(number)
        bags = [_bag(entry) for entry in entries]
        lengths = [sum(bag.values()) for bag in bags]
        mean = sum(lengths) / len(lengths) if lengths else 1.0
        for number, bag in enumerate(bags):
            norm = _BM25_K * (1 - _BM25_B + _BM25_B * lengths[number] / mean)
            for word, weight in bag.items():
                self._postings[word].append((number, weight * (_BM25_K + 1) / (weight + norm)))
        self._lookups = Lookups(entries)
        self._fit_by_verb: dict[tuple[Verb | None, bool], _Fit] = {}
        own = [_own_meaning(vectors, entries, cache)] if vectors is not None else []
        self._meanings = [*own, *([sentences] if sentences is not None else [])]

    def search(
        self,
        query: str,
        *,
        limit: int = 8,
        source: str = "",
        method: str = "",
        learned: Mapping[str, float] | None = None,
    ) -> list[Hit]:
        """Return the best entries, best first; `learned` tells how well tools answered similar queries, up to 1."""
        query = without_data(query)
        scores = self._scores(query)
        for number, share in self._lookups.shares(query, self._best(scores)).items():
            scores[number] += share
        for number, entry in enumerate(self._entries) if learned else ():
            if learned and entry.name in learned:
                scores[number] += _LEARNED_SHARE * learned[entry.name]
        if source or method:
            scores = [score if self._passes(number, source, method) else 0.0 for number, score in enumerate(scores)]
        ranked = self._ranked(scores, limit + _SPARE)
        for part in clauses(query):
            found = [one if score else 0.0 for one, score in zip(self._scores(part), scores, strict=True)]
            best = [number for number in self._ranked(found, 1) if number not in ranked[:_WHOLE_FIRST]]
            ranked = [*ranked[:_WHOLE_FIRST], *best, *(one for one in ranked[_WHOLE_FIRST:] if one not in best)]
        if not asks_to_delete(query) and method.upper() != "DELETE":
            ranked = self._deleting_later(ranked)
        return [Hit(self._entries[number], scores[number]) for number in ranked[:limit]]

    def _best(self, scores: Sequence[float]) -> dict[int, float]:
        return {number: scores[number] for number in self._ranked(scores, _NEEDING)}

    def _ranked(self, scores: Sequence[float], count: int) -> list[int]:
        """Return the numbers of the best entries; of equal ones the shorter name comes first."""
        best = nlargest(count, enumerate(scores), key=itemgetter(1))
        best.sort(key=lambda one: (-one[1], len(self._entries[one[0]].name), self._entries[one[0]].name))
        return [number for number, score in best if score > 0]

    def _passes(self, number: int, source: str, method: str) -> bool:
        entry = self._entries[number]
        return (not source or entry.source == source) and (not method or entry.method == method.upper())

    def _deleting_later(self, ranked: list[int]) -> list[int]:
        """Put a call that deletes behind the first that does not, if the query asks for no such thing."""
        first = next((at for at, number in enumerate(ranked) if not self._shapes[number].deletes), 0)
        return [ranked[first], *ranked[:first], *ranked[first + 1 :]] if ranked else ranked

    def _scores(self, query: str) -> list[float]:
        """Return a score from 0, which is no hit, to about 1 for every entry."""
        fit = self._fit(query_verb(query), harmless=not asks_to_delete(query))
        of_words, *of_meanings = _SHARES[len(self._meanings)]
        near = [
            meaning.nearness(query, fit.of_meaning, share)
            for meaning, share in zip(self._meanings, of_meanings, strict=True)
        ]
        scores = near[0] if near else [0.0] * len(self._entries)
        for more in near[1:]:
            scores = [score + one for score, one in zip(scores, more, strict=True)]
        by_words = self._word_scores(query, fit.of_words)
        best = max(by_words.values(), default=0.0) or 1.0
        for number, score in by_words.items():
            scores[number] += of_words * score / best
        return scores

    def _fit(self, verb: Verb | None, *, harmless: bool) -> "_Fit":
        found = self._fit_by_verb.get((verb, harmless))
        if found is None:
            pairs = list(zip(self._entries, self._shapes, strict=True))
            found = _Fit(
                [_word_factor(*pair, verb, harmless=harmless) for pair in pairs],
                [_meaning_factor(*pair, verb, harmless=harmless) for pair in pairs],
            )
            self._fit_by_verb[verb, harmless] = found
        return found

    def _word_scores(self, query: str, factors: Sequence[float]) -> dict[int, float]:
        words = list(dict.fromkeys(stems(query)))
        scores: dict[int, float] = defaultdict(float)
        matched: Counter[int] = Counter()
        resource: Counter[int] = Counter()
        for word in words:
            postings = self._postings.get(word, ())
            rarity = math.log(1 + (len(self._entries) - len(postings) + 0.5) / (len(postings) + 0.5))
            if word in STEMMED_VERBS:
                rarity *= 0.35  # a verb says little about which resource is meant; `_verb_factor` weighs it instead
            else:
                matched.update(map(_NUMBER, postings))
                resource.update(self._resources.get(word, ()))
            for number, weight in postings:
                scores[number] += rarity * weight
        nouns = sum(word not in STEMMED_VERBS for word in words)
        least, more = (0.4, 0.6 / nouns) if nouns else (1.0, 0.0)
        for number, score in scores.items():
            scores[number] = score * factors[number] * (least + more * matched[number])
        for number, found in resource.items():
            scores[number] *= 1 + 0.5 * found / len(self._shapes[number].nouns)
        return scores


@dataclass(frozen=True, slots=True)
class _Fit:
    """A factor per entry for how well it fits what a query asks to be done, whatever its words."""

    of_words: list[float]
    of_meaning: list[float]


def _own_meaning(vectors: Embedder, entries: Sequence[Entry], cache: VectorCache | None) -> Meaning:
    texts = [meaning_text(entry) for entry in entries]
    found = Meaning.of(vectors, texts, cache)
    return Meaning(CatalogVectors(vectors, texts), found.index) if isinstance(vectors, TokenVectors) else found


def _word_factor(entry: Entry, shape: _Shape, verb: Verb | None, *, harmless: bool) -> float:
    factor = _verb_factor(entry, shape, verb) if verb else 1.0
    if "deprecated" in entry.tool.description[:14]:
        factor *= 0.5
    if harmless and shape.deletes:
        factor *= 0.5
    return factor / (1 + 0.04 * shape.depth)


def _meaning_factor(entry: Entry, shape: _Shape, verb: Verb | None, *, harmless: bool) -> float:
    """Return the factor for an action other than the requested one: vectors hardly tell verbs apart."""
    if harmless and shape.deletes:
        return 0.5
    return 1.0 if verb is None or not entry.method or entry.method in _METHODS[verb] else 0.8


def _verb_factor(entry: Entry, shape: _Shape, verb: Verb) -> float:
    """Return the factor for how well an entry's action agrees with the requested one."""
    if shape.verb == verb or (verb == "read" and shape.verb in _READING):
        factor = 1.5
    elif verb == "act" and entry.method in _METHODS["act"]:
        factor = 1.3
    elif entry.method and entry.method not in _METHODS[verb]:
        return 0.45
    else:
        factor = 0.85
    if entry.method and shape.by_id:
        factor *= {"list": 0.8, "get": 1.1, "update": 1.1, "delete": 1.1}.get(verb, 1.0)
    return factor


def summary(entry: Entry) -> dict[str, object]:
    """Return what search results show of a tool."""
    required = entry.tool.input_schema.get("required", [])
    shown: dict[str, object] = {"name": entry.name, "title": entry.tool.title[:100]}
    if entry.method:
        shown |= {"method": entry.method, "path": entry.path}
    first = entry.tool.description.split("\n", maxsplit=1)[0]
    return shown | {"summary": first[:200], "required": list(required)}


def _shape(entry: Entry) -> _Shape:
    parts = [part for part in entry.path.split("/") if part]
    fixed = [part for part in parts if not part.startswith("{")]
    nouns = frozenset(stems(fixed[-1])) if fixed else frozenset(stems(entry.local_name))
    by_id = bool(parts) and parts[-1].startswith("{")
    deletes = entry.method == "DELETE" or (entry.method != "GET" and bool(DELETING & set(split(entry.local_name))))
    return _Shape(_verb(entry, by_id=by_id), nouns, len(fixed), by_id, deletes)


def _verb(entry: Entry, *, by_id: bool) -> Verb | None:
    words = split(entry.local_name)
    named = known_verb(words) or known_verb(split(entry.tool.title)) or _VERB_BY_METHOD.get(entry.method)
    # GET on a path that ends with a parameter reads one item.
    if named == "list" and by_id and entry.method == "GET" and "list" not in words:
        return "get"
    return named


def _bag(entry: Entry) -> Counter[str]:
    bag: Counter[str] = Counter()
    properties, inner = _properties(entry)
    for field, texts in (
        ("name", (entry.local_name,)),
        ("path", (entry.path,)),
        ("tag", (*entry.tags, entry.source)),
        ("title", (entry.tool.title,)),
        ("description", (entry.tool.description,)),
        ("parameter", (*properties, *inner, *_described(properties))),
    ):
        for word in set(stems(" ".join(texts))):  # repetition within a field does not count
            bag[word] += _WEIGHTS[field]  # type: ignore[assignment]
    return bag


def meaning_text(entry: Entry) -> str:
    """Return what the meaning of a tool is taken from; the name counts twice."""
    properties, _ = _properties(entry)
    name = _spaced(entry.local_name)
    return " ".join((name, name, *split(entry.path), _described_as(entry), *map(_spaced, properties)))


def sentence_text(entry: Entry) -> str:
    """Return what a sentence model reads: it was trained on sentences, and lists of words mislead it."""
    return f"{_spaced(entry.local_name)}: {_described_as(entry)}"


def _described_as(entry: Entry) -> str:
    described = entry.tool.description.rpartition("\n")[0] if entry.method else entry.tool.description
    return described or entry.tool.title


def _spaced(name: str) -> str:
    return " ".join(split(name))


def _properties(entry: Entry) -> tuple[JsonObject, JsonObject]:
    properties = entry.tool.input_schema.get("properties", {})
    body = properties.get("body")
    inner = body.get("properties", {}) if isinstance(body, dict) else {}
    return properties, inner


def _described(properties: JsonObject) -> Iterator[str]:
    for member in properties.values():
        words = member.get("description") if isinstance(member, dict) else None
        if isinstance(words, str):
            yield words[:120]


class SearchHistory:
    """Learns from the audit log which tool each principal called after which search; in memory only."""

    def __init__(self) -> None:
        self._pairs: deque[tuple[str, frozenset[str], str]] = deque(maxlen=_MAX_PAIRS)
        self._open: dict[str, tuple[frozenset[str], int]] = {}
        self._is_loaded = False

    def load(self, lines: Iterable[JsonObject]) -> None:
        """Learn once from a log of earlier processes; only its lines with arguments tell what was searched."""
        if self._is_loaded:
            return
        self._is_loaded = True
        earlier = SearchHistory()
        for line in lines:
            arguments = line.get("args")
            earlier.note(line, arguments if isinstance(arguments, dict) else {})
        self._pairs.extendleft(reversed(earlier._pairs))

    def note(self, line: JsonObject, arguments: JsonObject) -> None:
        """Take in one line of the audit log."""
        principal, tool = str(line.get("principal", "")), str(line.get("tool", ""))
        if tool == SEARCH:
            query = arguments.get("query")
            self._open[principal] = (frozenset(stems(query)) if isinstance(query, str) else frozenset(), _CALLS_AFTER)
        elif principal in self._open and line.get("method") != "own" and line.get("outcome") in _USEFUL:
            words, left = self._open.pop(principal)
            if words and not line.get("is_error"):
                self._pairs.append((principal, words, tool))
            if left > 1:
                self._open[principal] = (words, left - 1)

    def learned(self, principal: str, query: str) -> dict[str, float]:
        """Return the tools that were called after similar searches, with the share of common words."""
        words = frozenset(stems(query))
        found: dict[str, float] = {}
        for who, earlier, tool in self._pairs:
            overlap = len(words & earlier) / len(words | earlier) if who == principal and words else 0.0
            if overlap >= _LEAST_OVERLAP:
                found[tool] = max(found.get(tool, 0.0), overlap)
        return found
