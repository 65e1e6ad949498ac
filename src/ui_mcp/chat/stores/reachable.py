"""Asks a PostgreSQL server whether it is there, changing nothing in it."""

from psycopg import AsyncConnection, Error

from ui_mcp.errors import ChatError

_SECONDS = 4


async def server_version(url: str) -> str:
    """Connect and return the version of the server.

    Raises:
        ChatError: it cannot be reached or lets us not in; the message never holds the password.
    """
    try:
        async with await AsyncConnection.connect(url, connect_timeout=_SECONDS) as connection:
            row = await (await connection.execute("show server_version")).fetchone()
    except Error as error:
        said = str(error).strip().splitlines() or ["no answer"]
        raise ChatError(said[-1].strip(), "storage_error") from error
    return str(row[0]) if row else "of unknown version"
