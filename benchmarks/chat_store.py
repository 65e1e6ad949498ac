"""The chat's store against bare SQLite, and against its own size.

Bars: appends per second at full durability at least 0.7 times a bare SQLite loop that inserts and commits the same
rows; reading 50 messages from a million within twice the time of reading them from a thousand.
"""

import sqlite3
import statistics
import sys
import tempfile
import time
from pathlib import Path

import anyio
from claims import claim

from ui_mcp.chat.message import DEFAULT_CONVERSATION, Draft, Head
from ui_mcp.chat.sqlite_store import SqliteStore
from ui_mcp.chat.store import Post, Query

APPENDS, ROUNDS, READS = 120, 15, 300
TEXT = "Deploy now? " * 10


def bare_loop(path: Path) -> float:
    """Return the appends per second of the minimal durable write: one insert, one commit, one flush to disk."""
    file = sqlite3.connect(path, isolation_level=None)
    file.execute("PRAGMA journal_mode=WAL")
    file.execute("PRAGMA synchronous=FULL")
    file.execute("CREATE TABLE IF NOT EXISTS messages (id INTEGER PRIMARY KEY, ts INTEGER, author TEXT, content TEXT)")
    start = time.perf_counter()
    for _ in range(APPENDS):
        file.execute("BEGIN IMMEDIATE")
        file.execute("INSERT INTO messages (ts, author, content) VALUES (?, 'user', ?)", (time.time_ns(), TEXT))
        file.execute("COMMIT")
    spent = time.perf_counter() - start
    file.close()
    return APPENDS / spent


async def our_loop(store: SqliteStore) -> float:
    """Return the appends per second of one writer that waits for each acknowledgement."""
    post = Post(DEFAULT_CONVERSATION, "user", "human", (Draft(TEXT),))
    start = time.perf_counter()
    for _ in range(APPENDS):
        await store.append(post)
    return APPENDS / (time.perf_counter() - start)


async def together(store: SqliteStore, writers: int = 8) -> float:
    """Return the appends per second of several concurrent writers, which share disk flushes."""
    post = Post(DEFAULT_CONVERSATION, "user", "human", (Draft(TEXT),))

    async def write() -> None:
        for _ in range(APPENDS // writers):
            await store.append(post)

    start = time.perf_counter()
    async with anyio.create_task_group() as tasks:
        for _ in range(writers):
            tasks.start_soon(write)
    return APPENDS // writers * writers / (time.perf_counter() - start)


def fill(path: Path, conversation: str, count: int) -> list[int]:
    """Write `count` messages in one go, with the same rows as single posts; return their ids."""
    ids = [1_700_000_000_000_000_000 + n * 1_000_000 for n in range(count)]
    file = sqlite3.connect(path)
    with file:
        key = file.execute(
            "INSERT INTO conversations (name, head, user_head) VALUES (?, ?, ?)", (conversation, ids[-1], ids[-1])
        ).lastrowid
        rows = ((key, number, number // 1000, "user", "human", "text/markdown", TEXT, None) for number in ids)
        file.executemany("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
    file.close()
    return ids


async def read_time(store: SqliteStore, conversation: str, ids: list[int]) -> float:
    """Return the median seconds to read 50 messages at positions all over the conversation."""
    spent = []
    for n in range(READS):
        after = ids[(n * 7919) % (len(ids) - 60)]
        start = time.perf_counter()
        page = await store.since(Query(conversation, after, 50))
        spent.append(time.perf_counter() - start)
        assert len(page.messages) == 50
    return statistics.median(spent)


async def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        store = await SqliteStore.open(home / "ours.db")
        # Alternating, and compared round by round, so that a busy disk affects all alike.
        rounds = [(bare_loop(home / "bare.db"), await our_loop(store), await together(store)) for _ in range(ROUNDS)]
        small_ids, large_ids = fill(home / "ours.db", "small", 1_000), fill(home / "ours.db", "large", 1_000_000)
        assert (await store.heads())["large"] == Head(large_ids[-1], large_ids[-1])
        small = min([await read_time(store, "small", small_ids) for _ in range(3)])
        large = min([await read_time(store, "large", large_ids) for _ in range(3)])
        await store.close()
    bare, ours, many = (statistics.median(column) for column in zip(*rounds, strict=True))
    ratio = statistics.median(own / least for least, own, _ in rounds)
    shared = statistics.median(eight / least for least, _, eight in rounds)
    growth = large / small
    print(f"appends/s  bare SQLite loop {bare:8.0f}   one writer {ours:8.0f}   eight writers {many:8.0f}")
    print(f"read_since of 50  from 1k {small * 1e3:.3f} ms   from 1M {large * 1e3:.3f} ms")
    held = [
        claim("appends, one writer / bare SQLite loop", ratio, at_least=0.7),
        claim("appends, eight writers / bare SQLite loop", shared),
        claim("read_since of 50, from 1M / from 1k", growth, at_most=2.0),
    ]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(anyio.run(main))
