"""Which calls find the ids that others need: before `/artists/{id}` comes a list of artists, or a search for one.

A task names things by their names, `the albums of Dire Straits`, while calls want ids: a search that returns only the
call at the end of a chain leaves an agent without its beginning.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

from ui_mcp.gateway.search.words import names_something, says_mine, split, stems
from ui_mcp.gateway.source import Entry

_SHARE = 0.5
"""How much of its score a call passes on to a look-up that fits the query; tuned with `index._SHARES`."""
_UNASKED = 0.4
"""How much of that a look-up gets that does not fit, such as a search when the query names nothing."""
_MYSELF = "me"


class Lookups:
    """The look-ups of every entry of a catalog."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries
        self._anything: list[int] = []
        found: dict[str, list[int]] = defaultdict(list)
        for number, entry in enumerate(entries):
            parts = _parts(entry)
            if entry.method == "GET" and parts and not _is_parameter(parts[-1]):
                found[_noun(parts[-1])].append(number)
                if parts[-1] == "search":
                    self._anything.append(number)
        self._by_noun = {noun: _most_direct(numbers, entries) for noun, numbers in found.items()}

    def shares(self, query: str, scores: Mapping[int, float]) -> dict[int, float]:
        """Return what the look-ups of the best entries, given with their scores, score more because of them."""
        named, mine = names_something(query), says_mine(query)
        shares: dict[int, float] = defaultdict(float)
        for number, score in scores.items():
            for lookup in self._of(number):
                fits = named if self._searches(lookup) else mine and _MYSELF in _parts(self._entries[lookup])
                share = _SHARE * score if fits else _SHARE * _UNASKED * score
                shares[lookup] = max(shares[lookup], share)
        return shares

    def _of(self, number: int) -> set[int]:
        nouns = [_noun(before) for before, after in pairwise(_parts(self._entries[number])) if _is_parameter(after)]
        found = {lookup for noun in nouns for lookup in self._by_noun.get(noun, ())}
        if "user" in nouns:
            found.update(self._by_noun.get(_MYSELF, ()))
        return (found | {*self._anything} if nouns else found) - {number}

    def _searches(self, number: int) -> bool:
        entry = self._entries[number]
        return "search" in split(f"{entry.path} {entry.local_name}")


def _most_direct(numbers: Iterable[int], entries: Sequence[Entry]) -> list[int]:
    """Keep those that need the fewest ids themselves."""
    needs = {number: sum(map(_is_parameter, _parts(entries[number]))) for number in numbers}
    return [number for number, count in needs.items() if count == min(needs.values())]


def _parts(entry: Entry) -> list[str]:
    return [part for part in entry.path.split("/") if part]


def _is_parameter(part: str) -> bool:
    return part.startswith("{")


def _noun(part: str) -> str:
    return " ".join(stems(part)) or part
