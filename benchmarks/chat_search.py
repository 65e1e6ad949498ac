"""Search over the messages of all conversations, and the list of conversations.

Bars: with 100,000 messages in 100 conversations, each of the searches and the list takes at most 50 milliseconds of
processor time, which other programs on the machine disturb less than the clock.
"""

import random
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path

import anyio
from claims import claim

from ui_mcp.agent.journal import NewEvent
from ui_mcp.agent.journal_store import JournalStore

CONVERSATIONS, MESSAGES, ROUNDS, MOST_MS = 100, 1000, 9, 50.0
WORDS = [
    "the",
    "order",
    "of",
    "coffee",
    "was",
    "shipped",
    "to",
    "a",
    "customer",
    "in",
    "town",
    "after",
    "noon",
    "with",
    "tea",
    "and",
    "milk",
    "for",
    "one",
]
SEARCHES = {"a common word": "coffee", "a rare phrase": "zebra crossing", "nothing": "quixotic"}


def said(conversation: int, number: int, chance: random.Random) -> NewEvent:
    words = " ".join(chance.choices(WORDS, k=25))
    text = f"{words} zebra crossing" if (conversation, number) == (7, 7) else words
    name = f"m{conversation}-{number}"
    if number % 2:
        return NewEvent("ui_message", {"message_id": name, "mime": "text/markdown", "md": text})
    return NewEvent("user_text", {"message_id": name, "mime": "text/plain", "text": text})


async def filled(file: Path) -> JournalStore:
    journal, chance = JournalStore(file), random.Random(1)
    for conversation in range(CONVERSATIONS):
        lease = await journal.take_lease(f"c{conversation}", "benchmark", 0.0)
        assert lease is not None
        events = [said(conversation, number, chance) for number in range(MESSAGES)]
        await journal.append(f"c{conversation}", lease, events)
    return journal


async def best(work: Callable[[], Awaitable[object]]) -> float:
    """Return the least processor time of several rounds, in milliseconds."""
    spent = []
    for _ in range(ROUNDS):
        start = time.process_time()
        await work()
        spent.append((time.process_time() - start) * 1000)
    return min(spent)


async def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        journal = await filled(Path(folder) / "journal.db")
        held = [
            claim(f"search for {name}, ms", await best(partial(journal.search, words, 50)), at_most=MOST_MS)
            for name, words in SEARCHES.items()
        ]
        held.append(claim("list of conversations, ms", await best(journal.list_agents), at_most=MOST_MS))
        await journal.close()
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(anyio.run(main))
