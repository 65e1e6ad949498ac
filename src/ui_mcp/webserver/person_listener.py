"""Listeners of the person: registered while they run, with links that sign the person in."""

import socket
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager, suppress

from ui_mcp.errors import ConfigError
from ui_mcp.person import PersonKeys, registered_listener, state_folder
from ui_mcp.webserver.server import App, listening, port_of


@contextmanager
def registered(port: int) -> Iterator[None]:
    """Register a person's listener while the block runs.

    Raises:
        ConfigError: the account's own folder cannot be written.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(registered_listener(port))
        except OSError as error:
            message = f"{state_folder()} cannot be written: {error.strerror or error}"
            hint = "It keeps your credentials; make it writable, or choose another place by XDG_STATE_HOME."
            raise ConfigError(f"{message}\n{hint}") from error
        yield


@asynccontextmanager
async def person_listening(
    app: App, listener: socket.socket, allowed_users: Sequence[str | int] = ()
) -> AsyncIterator[None]:
    """Serve a person's origin while the block runs; browsers driven by agents do not open its port."""
    async with AsyncExitStack() as stack:
        stack.enter_context(registered(port_of(listener)))
        await stack.enter_async_context(listening(app, listener, allowed_users))
        yield


def person_link(url: str, path: str = "") -> str:
    """Return the URL of a person's page, with a one-time code only if stdout is a terminal."""
    with suppress(OSError):
        if sys.stdout.isatty():
            return f"{url}/{path}#code={PersonKeys().new_code()}"
    return f"{url}/{path}".rstrip("/")
