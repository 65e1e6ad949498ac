"""Words of tools and queries: splitting, stemming, and what a query asks to be done."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

Verb = Literal["create", "list", "search", "get", "read", "update", "delete", "act"]

_SYNONYMS: dict[Verb, str] = {
    "create": "create add new post make open insert register",
    "list": "list all find browse",
    "search": "search query",
    "get": "get show read retrieve fetch view describe give tell check count look display",
    "update": "update edit change patch modify set rename replace close reopen",
    "delete": "delete remove destroy drop erase",
}
VERBS: dict[str, Verb] = {word: verb for verb, words in _SYNONYMS.items() for word in words.split()}
_QUESTIONS = frozenset("who whom whose what which when where why how is are was were does did can has have".split())  # noqa: SIM905
_ENDING = frozenset(
    """delete remove destroy drop erase purge clear cancel revoke terminate unsubscribe unfollow unlike unstar unlink
    uninstall detach dismiss discard disable deactivate leave kick ban reset wipe withdraw abort stop end rid trash undo
    unpin unassign unblock unwatch unregister expire archive close clean prune eject empty void reject""".split()  # noqa: SIM905
)
"""Words that ask for an end: without one of them a call that deletes is never the first hit."""
DELETING = frozenset("delete remove destroy drop erase purge revoke terminate uninstall wipe cancel unset".split())  # noqa: SIM905
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
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
"""In `HTTPServer2` there are three."""
_CLAUSE = re.compile(r"[.;:!?\n]+\s+|,\s+(?:and\s+|then\s+)?|\s+(?:and then|then|and also|and)\s+")
_MAX_CLAUSES = 4
_MAX_STEMS = 20_000
"""Kept: a catalog of 20,000 tools has the same few thousand words hundreds of thousands of times."""
_NAME = re.compile(r"""'[^']+'|"[^"]+"|(?<=[\w,] )[A-Z]\w""")
"""Something in quotation marks, or a capital letter that does not begin a sentence."""
_MINE = frozenset({"my", "me", "i", "mine"})
_URL = re.compile(r"https?://\S+")
_FILE = re.compile(r"(?<!\w)[~.]?(?:/[\w.-]+){2,}/?|\b[\w-]+\.(?:csv|docx|html|json|md|pdf|png|pptx|txt|xlsx)\b")


def query_verb(query: str) -> Verb | None:
    """Return the action that a query asks for; a question asks to read."""
    raw = split(query)
    if is_question(query):
        return "read"
    known = known_verb(raw)
    # `refund a charge` contains no known verb, but its first word is one.
    if known is None and len(raw) > 1 and not raw[0].endswith("s") and set(raw[1:]) & _STOP_WORDS:
        return "act"
    return known


def is_question(query: str) -> bool:
    raw = split(query)
    return bool(raw) and (raw[0] in _QUESTIONS or query.rstrip().endswith("?"))


def asks_to_delete(query: str) -> bool:
    """Return whether a query may mean a call that deletes; a question about what was deleted does not."""
    if is_question(query) and "how" not in split(query)[:1]:
        return False
    return any(word in _ENDING or word.rstrip("s") in _ENDING for word in split(query)) or "turn off" in query.lower()


def names_something(query: str) -> bool:
    """Return whether a query has a name in it, of a person, a song or a place."""
    return _NAME.search(query) is not None


def says_mine(query: str) -> bool:
    return not _MINE.isdisjoint(split(query))


def without_data(query: str) -> str:
    """Return a query with what each path and address in it is: their own words say nothing about the call."""
    return _FILE.sub(_kind, _URL.sub(" url ", query))


def _kind(found: re.Match[str]) -> str:
    name, dot, ending = found[0].rpartition(".")
    return f" file {ending} " if dot and name else " directory "


def clauses(query: str) -> list[str]:
    """Return the parts of a task that can be searched on their own; none if it is a single request."""
    parts = [part.strip() for part in _CLAUSE.split(query) if len(part.split()) >= 3]
    return parts[:_MAX_CLAUSES] if len(parts) > 1 else []


def known_verb(words: Iterable[str]) -> Verb | None:
    return next((VERBS[word] for word in words if word in VERBS), None)


def split(text: str) -> list[str]:
    """Return the words of a text or an identifier, in lower case."""
    return [word.lower() for word in _WORD.findall(text)]


def stems(text: str) -> Iterable[str]:
    """Yield the stems of the words of a text, without stop words."""
    for word in split(text):
        if word not in _STOP_WORDS:
            yield _stem(_ABBREVIATIONS.get(word, word))


@lru_cache(_MAX_STEMS)
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


STEMMED_VERBS = frozenset(_stem(word) for word in VERBS)
