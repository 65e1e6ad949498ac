"""Reaching a PostgreSQL database that may not be there yet, and bringing it to the newest schema."""

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import anyio
from psycopg import AsyncConnection, Error, OperationalError, conninfo

from ui_mcp.chat.stores import postgres_sql as sql
from ui_mcp.errors import ChatError
from ui_mcp.log import logger

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 2.0
_LOCK_SECONDS = 20
_log = logger("chat")

# What waiting does not mend; a failed connection brings only its text.
_HOPELESS = ("authentication failed", "no password supplied", "no pg_hba.conf entry", "does not exist")


async def patiently(url: str, work: Callable[[AsyncConnection[Any]], Awaitable[None]], *, patience: float) -> None:
    """Connect and do `work`, again and again with growing pauses while the database cannot be reached.

    Raises:
        ChatError: it could not be reached in time, or refuses us.
    """
    deadline, pause = anyio.current_time() + patience, _FIRST_PAUSE
    while True:
        try:
            async with await AsyncConnection.connect(url, autocommit=True, **_limits(url)) as connection:
                await work(connection)
                return
        except OperationalError as error:
            reason = " ".join(str(error).split())
            if anyio.current_time() + pause > deadline or any(word in reason for word in _HOPELESS):
                raise ChatError(f"Cannot open the chat database {shown(url)}: {reason}", "storage_error") from error
            _log.warning(
                "The chat database %s cannot be reached, trying again in %.1f s: %s", shown(url), pause, reason
            )
        except Error as error:
            raise ChatError(f"Cannot open the chat database {shown(url)}: {error}", "storage_error") from error
        await anyio.sleep(pause)
        pause = min(2 * pause, _LONGEST_PAUSE)


async def prepare(connection: AsyncConnection[Any]) -> None:
    """Bring a database to the newest schema; of several that start at once one works and the others wait."""
    async with connection.transaction():
        await connection.execute(f"SET LOCAL lock_timeout = '{_LOCK_SECONDS}s'")
        await connection.execute("SELECT pg_advisory_xact_lock(%s)", (sql.SCHEMA_LOCK,))
        await connection.execute(sql.VERSION_TABLE)
        row = await (await connection.execute("SELECT max(version) FROM chat_schema")).fetchone()
        version = row[0] or 0 if row else 0
        if version > len(sql.MIGRATIONS):
            message = f"The chat database was written by a newer ui-mcp (schema {version}); update this one"
            raise ChatError(message, "storage_error", schema=version)
        for script in sql.MIGRATIONS[version:]:
            await connection.execute(script)
        if version < len(sql.MIGRATIONS):
            await connection.execute("DELETE FROM chat_schema")
            await connection.execute("INSERT INTO chat_schema VALUES (%s)", (len(sql.MIGRATIONS),))


def shown(url: str) -> str:
    """Return the URL without its password."""
    parts = urlsplit(url)
    user, _, place = parts.netloc.rpartition("@")
    name = user.partition(":")[0]
    query = "&".join(part for part in parts.query.split("&") if not part.startswith("password="))
    return urlunsplit(parts._replace(netloc=f"{name}@{place}" if name else place, query=query))


def _limits(url: str) -> dict[str, Any]:
    # A host that swallows packets must not eat the whole patience; a limit in the URL wins.
    return {} if "connect_timeout" in conninfo.conninfo_to_dict(url) else {"connect_timeout": 10}
