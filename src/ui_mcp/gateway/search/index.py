"""The search index: BM25 over the words of each tool, its meaning, rules about verbs and risk, and earlier searches."""

import math
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import nlargest
from operator import itemgetter

from ui_mcp.gateway.search.vectors import Embedder, VectorCache, VectorIndex
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
_SHARES = ((1.0,), (0.55, 0.45), (0.55, 0.3, 0.15))
"""How much of a score comes from words, static vectors and a sentence model, by how many meanings there are.

Tuned on half of public data sets.
"""
_WHOLE_FIRST = 5
"""Of a task of several clauses: how many hits the task as a whole decides, before the best one of each clause."""
_SPARE = 20
"""Entries ranked beyond the limit, from which the first that deletes nothing can be taken."""
_LEARNED_SHARE = 0.3
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
    other_words: frozenset[str]
    """Words of the name and the resource, without verbs."""
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

    def cosines(self, query: str) -> list[float]:
        return self.index.similarities(self.embedder.embed(query))


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
        bags = [_bag(entry) for entry in entries]
        lengths = [sum(bag.values()) for bag in bags]
        mean = sum(lengths) / len(lengths) if lengths else 1.0
        for number, bag in enumerate(bags):
            norm = _BM25_K * (1 - _BM25_B + _BM25_B * lengths[number] / mean)
            for word, weight in bag.items():
                self._postings[word].append((number, weight * (_BM25_K + 1) / (weight + norm)))
        self._fit_by_verb: dict[tuple[Verb | None, bool], list[float]] = {}
        own = [Meaning.of(vectors, [meaning_text(entry) for entry in entries], cache)] if vectors is not None else []
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
        scores = self._scores(query)
        for number, entry in enumerate(self._entries) if learned else ():
            if learned and entry.name in learned:
                scores[number] = scores.get(number, 0.0) + _LEARNED_SHARE * learned[entry.name]
        wanted = scores
        if source or method:
            wanted = {number: score for number, score in scores.items() if self._passes(number, source, method)}
        ranked = self._ranked(wanted, limit + _SPARE)
        for part in clauses(query):
            found = {number: score for number, score in self._scores(part).items() if number in wanted}
            best = [number for number in self._ranked(found, 1) if number not in ranked[:_WHOLE_FIRST]]
            ranked = [*ranked[:_WHOLE_FIRST], *best, *(one for one in ranked[_WHOLE_FIRST:] if one not in best)]
        if not asks_to_delete(query) and method.upper() != "DELETE":
            ranked = self._deleting_later(ranked)
        return [Hit(self._entries[number], wanted[number]) for number in ranked[:limit]]

    def _ranked(self, scores: Mapping[int, float], count: int) -> list[int]:
        """Return the numbers of the best entries; of equal ones the shorter name comes first."""
        best = nlargest(count, scores.items(), key=itemgetter(1))
        best.sort(key=lambda one: (-one[1], len(self._entries[one[0]].name), self._entries[one[0]].name))
        return [number for number, _ in best]

    def _passes(self, number: int, source: str, method: str) -> bool:
        entry = self._entries[number]
        return (not source or entry.source == source) and (not method or entry.method == method.upper())

    def _deleting_later(self, ranked: list[int]) -> list[int]:
        """Put a call that deletes behind the first that does not, if the query asks for no such thing."""
        first = next((at for at, number in enumerate(ranked) if not self._shapes[number].deletes), 0)
        return [ranked[first], *ranked[:first], *ranked[first + 1 :]] if ranked else ranked

    def _scores(self, query: str) -> dict[int, float]:
        """Return scores from 0 to about 1 by number of the entry."""
        by_words = self._word_scores(query)
        best = max(by_words.values(), default=0.0)
        scores = {number: score / best for number, score in by_words.items()} if best else {}
        of_words, *of_meanings = _SHARES[len(self._meanings)]
        fits = self._fits(query_verb(query), harmless=not asks_to_delete(query)) if self._meanings else []
        found = {number: of_words * score for number, score in scores.items()}
        for meaning, part in zip(self._meanings, of_meanings, strict=True):
            near = _nearness(meaning.cosines(query), fits, part)
            for number, score in found.items():
                near[number] = near.get(number, 0.0) + score
            found = near
        return found

    def _fits(self, verb: Verb | None, *, harmless: bool) -> list[float]:
        """Return a factor per entry for an action other than the requested one: vectors hardly tell verbs apart."""
        found = self._fit_by_verb.get((verb, harmless))
        if found is None:
            methods = _METHODS[verb] | {""} if verb else None
            found = [
                0.5 if harmless and shape.deletes else 1.0 if methods is None or entry.method in methods else 0.8
                for entry, shape in zip(self._entries, self._shapes, strict=True)
            ]
            self._fit_by_verb[verb, harmless] = found
        return found

    def _word_scores(self, query: str) -> dict[int, float]:
        words = list(dict.fromkeys(stems(query)))
        verb, harmless = query_verb(query), not asks_to_delete(query)
        nouns = frozenset(words) - STEMMED_VERBS
        scores: dict[int, float] = defaultdict(float)
        matched: dict[int, int] = defaultdict(int)
        for word in words:
            postings = self._postings.get(word, ())
            rarity = math.log(1 + (len(self._entries) - len(postings) + 0.5) / (len(postings) + 0.5))
            # A verb says little about which resource is meant; `_verb_factor` weighs it instead.
            factor = 0.35 if word in STEMMED_VERBS else 1.0
            for number, weight in postings:
                scores[number] += factor * rarity * weight
                matched[number] += word in nouns
        for number, score in scores.items():
            adjusted = self._adjusted(number, score, verb, nouns, matched[number])
            scores[number] = adjusted * (0.5 if harmless and self._shapes[number].deletes else 1.0)
        return scores

    def _adjusted(self, number: int, score: float, verb: Verb | None, nouns: frozenset[str], matched: int) -> float:
        entry, shape = self._entries[number], self._shapes[number]
        if nouns:
            score *= 0.4 + 0.6 * matched / len(nouns)
        score *= _verb_factor(entry, shape, verb) if verb else 1.0
        found = len(shape.nouns & nouns)
        if found:
            score *= 1 + 0.5 * found / len(shape.nouns)
        extra = len(shape.other_words - nouns)
        score *= 1 / (1 + 0.06 * extra)
        if "deprecated" in entry.tool.description[:14]:
            score *= 0.5
        return score / (1 + 0.04 * shape.depth)


def _nearness(cosines: Sequence[float], fits: Sequence[float], share: float) -> dict[int, float]:
    """Return the entries that are nearer than the mean, from 0 to `share`, times how well their action fits."""
    mean = sum(cosines) / len(cosines) if cosines else 0.0
    span = max(cosines, default=0.0) - mean
    if span <= 0:
        return {}
    scale = share / span
    pairs = enumerate(zip(cosines, fits, strict=True))
    return {number: scale * (cosine - mean) * fit for number, (cosine, fit) in pairs if cosine > mean}


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
    names = frozenset(stems(entry.local_name)) | nouns
    by_id = bool(parts) and parts[-1].startswith("{")
    deletes = entry.method == "DELETE" or (entry.method != "GET" and bool(DELETING & set(split(entry.local_name))))
    return _Shape(_verb(entry, by_id=by_id), nouns, len(fixed), names - STEMMED_VERBS, by_id, deletes)


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
    described = entry.tool.description.rpartition("\n")[0] if entry.method else entry.tool.description
    name = " ".join(split(entry.local_name))
    return " ".join((name, name, *split(entry.path), described or entry.tool.title, *map(_spaced, properties)))


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
