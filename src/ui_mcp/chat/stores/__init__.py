"""The places a chat can be kept; `open_store` picks one by URL."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ui_mcp.chat.store import ChatStore
from ui_mcp.errors import ConfigError

PATIENCE = 30.0


def default_url(folder: Path) -> str:
    """Return the URL of the store among a workspace's own files."""
    return f"sqlite:///{folder / 'runtime.db'}"


@asynccontextmanager
async def open_store(url: str, *, poll: float = 0.025, patience: float = PATIENCE) -> AsyncIterator[ChatStore]:
    """Open the store at `sqlite:///PATH` or `postgresql://…` and close it in the end.

    A database that cannot be reached is tried again for `patience` seconds.

    Raises:
        ConfigError: the URL names no store we know, or its driver is missing.
        ChatError: the store cannot be opened.
    """
    store = await _open(url, poll, patience)
    try:
        yield store
    finally:
        await store.close()


async def _open(url: str, poll: float, patience: float) -> ChatStore:
    scheme = urlsplit(url).scheme
    if scheme == "sqlite":
        from ui_mcp.chat.sqlite_store import SqliteStore

        return await SqliteStore.open(Path(unquote(url.removeprefix("sqlite:///"))), poll=poll)
    if scheme in {"postgresql", "postgres"}:
        try:
            from ui_mcp.chat.postgres_store import PostgresStore
        except ImportError as error:
            raise ConfigError("storage.url needs the PostgreSQL driver: pip install 'ui-mcp[postgres]'") from error
        return await PostgresStore.open(url, patience=patience)
    raise ConfigError(f"storage.url {scheme}://… is neither sqlite:///PATH nor postgresql://…", key="storage.url")
