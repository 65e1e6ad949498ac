"""Searches the catalog by words: BM25 ranking over an in-memory index, adjusted for verbs and path nouns."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ui_mcp.gateway.source import Entry
from ui_mcp.jsontypes import JsonObject

_WEIGHTS = {"name": 3.0, "path": 2.0, "tag": 1.0, "title": 3.0, "description": 0.7, "parameter": 0.35}
_BM25_B = 0.6
_BM25_K = 1.4
_SYNONYMS = {
    "create": "create add new post make open insert register",
    "list": "list all find browse",
    "search": "search query",
    "get": "get show read retrieve fetch view describe",
    "update": "update edit change patch modify set rename replace close reopen",
    "delete": "delete remove destroy drop erase",
}
_VERBS = {word: verb for verb, words in _SYNONYMS.items() for word in words.split()}
_VERB_BY_METHOD = {"GET": "list", "POST": "create", "PATCH": "update", "PUT": "update", "DELETE": "delete"}
_METHODS = {
    "create": {"POST", "PUT"},
    "list": {"GET"},
    "search": {"GET", "POST"},
    "act": {"POST", "PUT", "PATCH", "DELETE"},
    "get": {"GET"},
    "update": {"PATCH", "PUT", "POST"},
    "delete": {"DELETE"},
}
_STOP_WORDS = frozenset(
    "a an the of in on to for by from with my me i is are at as it its this that and or into please how do".split()  # noqa: SIM905
)
_ABBREVIATIONS = {
    "repo": "repository",
    "org": "organization",
    "pr": "pull",
    "env": "environment",
    "msg": "message",
    "auth": "authentication",
    "info": "information",
    "config": "configuration",
    "admin": "administrator",
    "app": "application",
}


@dataclass(frozen=True, slots=True)
class Hit:
    """An entry and its score."""

    entry: Entry
    score: float


@dataclass(frozen=True, slots=True)
class _Shape:
    """Features of an entry that ranking uses besides its words."""

    verb: str | None
    nouns: frozenset[str]
    """Words of the last fixed part of the path, which names the resource of an operation."""
    depth: int
    name_words: frozenset[str]
    by_id: bool


class Index:
    """Inverted index, built once per catalog; a query visits only the entries that share a word with it."""

    def __init__(self, entries: Sequence[Entry]) -> None:
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

    def search(self, query: str, *, limit: int = 8, source: str = "", method: str = "") -> list[Hit]:
        """Return the best entries, best first."""
        words = list(dict.fromkeys(_words(query)))
        verb = _query_verb(query)
        nouns = [word for word in words if word not in _STEMMED_VERBS]
        scores: dict[int, float] = defaultdict(float)
        matched: dict[int, int] = defaultdict(int)
        for word in words:
            postings = self._postings.get(word, ())
            rarity = math.log(1 + (len(self._entries) - len(postings) + 0.5) / (len(postings) + 0.5))
            # A verb says little about which resource is meant; `_verb_factor` weighs it instead.
            factor = 0.35 if word in _STEMMED_VERBS else 1.0
            for number, weight in postings:
                scores[number] += factor * rarity * weight
                matched[number] += word in nouns
        ranked = [
            Hit(self._entries[number], self._adjusted(number, score, verb, nouns, matched[number]))
            for number, score in scores.items()
            if _passes_filters(self._entries[number], source, method)
        ]
        ranked.sort(key=lambda hit: (-hit.score, len(hit.entry.name), hit.entry.name))
        return ranked[:limit]

    def _adjusted(self, number: int, score: float, verb: str | None, nouns: Sequence[str], matched: int) -> float:
        entry, shape = self._entries[number], self._shapes[number]
        if nouns:
            score *= 0.4 + 0.6 * matched / len(nouns)
        score *= _verb_factor(entry, shape, verb) if verb else 1.0
        found = len(shape.nouns & set(nouns))
        if found:
            score *= 1 + 0.5 * found / len(shape.nouns)
        extra = len(shape.name_words - set(nouns) - _STEMMED_VERBS)
        score *= 1 / (1 + 0.06 * extra)
        if "deprecated" in entry.tool.description[:14]:
            score *= 0.5
        return score / (1 + 0.04 * shape.depth)


def _verb_factor(entry: Entry, shape: _Shape, verb: str) -> float:
    """Return the factor for how well an entry's action agrees with the requested one."""
    if shape.verb == verb:
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


def _query_verb(query: str) -> str | None:
    """Return the action that a query asks for."""
    raw = _split(query)
    known = _known_verb(raw)
    # `refund a charge` contains no known verb, but its first word is one.
    if known is None and len(raw) > 1 and not raw[0].endswith("s") and set(raw[1:]) & _STOP_WORDS:
        return "act"
    return known


def summary(entry: Entry) -> dict[str, object]:
    """Return what search results show of a tool."""
    required = entry.tool.input_schema.get("required", [])
    shown: dict[str, object] = {"name": entry.name, "title": entry.tool.title[:100]}
    if entry.method:
        shown |= {"method": entry.method, "path": entry.path}
    first = entry.tool.description.split("\n", maxsplit=1)[0]
    return shown | {"summary": first[:200], "required": list(required)}


def _passes_filters(entry: Entry, source: str, method: str) -> bool:
    return (not source or entry.source == source) and (not method or entry.method == method.upper())


def _shape(entry: Entry) -> _Shape:
    parts = [part for part in entry.path.split("/") if part]
    fixed = [part for part in parts if not part.startswith("{")]
    nouns = frozenset(_words(fixed[-1])) if fixed else frozenset(_words(entry.local_name))
    names = frozenset(_words(entry.local_name)) | nouns
    by_id = bool(parts) and parts[-1].startswith("{")
    return _Shape(_verb(entry, by_id=by_id), nouns, len(fixed), names, by_id)


def _verb(entry: Entry, *, by_id: bool) -> str | None:
    words = _split(entry.local_name)
    named = _known_verb(words) or _known_verb(_split(entry.tool.title)) or _VERB_BY_METHOD.get(entry.method)
    # GET on a path that ends with a parameter reads one item.
    if named == "list" and by_id and entry.method == "GET" and "list" not in words:
        return "get"
    return named


def _known_verb(words: Iterable[str]) -> str | None:
    return next((_VERBS[word] for word in words if word in _VERBS), None)


def _bag(entry: Entry) -> Counter[str]:
    bag: Counter[str] = Counter()
    properties = entry.tool.input_schema.get("properties", {})
    body = properties.get("body")
    inner = body.get("properties", {}) if isinstance(body, dict) else {}
    for field, texts in (
        ("name", (entry.local_name,)),
        ("path", (entry.path,)),
        ("tag", (*entry.tags, entry.source)),
        ("title", (entry.tool.title,)),
        ("description", (entry.tool.description,)),
        ("parameter", (*properties, *inner, *_described(properties))),
    ):
        for word in set(_words(" ".join(texts))):  # repetition within a field does not count
            bag[word] += _WEIGHTS[field]  # type: ignore[assignment]
    return bag


def _described(properties: JsonObject) -> Iterator[str]:
    for member in properties.values():
        words = member.get("description") if isinstance(member, dict) else None
        if isinstance(words, str):
            yield words[:120]


def _split(text: str) -> list[str]:
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", text)
    return [word.lower() for word in re.findall(r"[A-Za-z]+|[0-9]+", spaced)]


def _words(text: str) -> Iterable[str]:
    for word in _split(text):
        if word not in _STOP_WORDS:
            yield _stem(_ABBREVIATIONS.get(word, word))


def _stem(word: str) -> str:
    # A rough stemmer is enough: index and query are stemmed alike.
    for ending, kept in (("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh")):
        if word.endswith(ending) and len(word) > len(ending) + 2:
            return word[: -len(ending)] + kept
    if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3:
        word = word[:-1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) > len(ending) + 3:
            return word[: -len(ending)]
    return word


_STEMMED_VERBS = frozenset(_stem(word) for word in _VERBS)
