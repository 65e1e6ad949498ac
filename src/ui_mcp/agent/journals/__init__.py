"""The places a journal can be kept: beside the chat, in the same PostgreSQL database or in a file."""

from pathlib import Path

from ui_mcp.agent.journal import Journal
from ui_mcp.agent.journal_store import SqliteJournal
from ui_mcp.agent.observer import JournalReader, Reader
from ui_mcp.errors import ConfigError

FILE = "agent.db"
MISSING = "storage.url needs the PostgreSQL driver: pip install 'ui-mcp[postgres]'"


def journal_for(url: str | None, folder: Path) -> Journal:
    """Return the journal beside a chat at `url`.

    Raises:
        ConfigError: the driver is missing.
    """
    if not _is_postgres(url):
        return SqliteJournal(folder / FILE)
    try:
        from ui_mcp.agent.journals.postgres import PostgresJournal
    except ImportError as error:
        raise ConfigError(MISSING) from error
    return PostgresJournal(str(url))


def _is_postgres(url: str | None) -> bool:
    return url is not None and url.startswith(("postgresql:", "postgres:"))
