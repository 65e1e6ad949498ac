"""Stores for tests, opened and closed in a thread: both may wait for another process."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

from anyio import to_thread

from ui_mcp.storage.database import Closeable, close_database

Store = TypeVar("Store", bound=Closeable)


@asynccontextmanager
async def opened(connect: Callable[..., Store], *arguments: object) -> AsyncIterator[Store]:
    store = await to_thread.run_sync(connect, *arguments)
    try:
        yield store
    finally:
        await close_database(store)
