"""Fault isolation: an error in one source is reported by that source and does not stop the others."""

from collections.abc import Awaitable, Callable
from types import TracebackType

import anyio
from anyio.abc import TaskGroup

from ui_mcp.errors import LifecycleError, UiMcpError
from ui_mcp.log import logger

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
_log = logger("isolation")


class Boundary:
    """Catches the errors of one source: an API, a server, a model or a file.

    `failed` receives the message for the source's health. An error that repeats is logged once.
    """

    def __init__(self, source: str, failed: Callable[[str], None]) -> None:
        self._source = source
        self._failed = failed
        self._logged = ""

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        """Suppress every `Exception` of the block; cancellation passes through."""
        if error is None:
            self._logged = ""  # recovered: if the same error returns, it is news
        if not isinstance(error, Exception):
            return False
        message = message_of(error)
        if message != self._logged:
            self._logged = message
            # Our own errors explain themselves; unexpected ones need the traceback.
            _log.warning("%s: %s", self._source, message, exc_info=None if isinstance(error, UiMcpError) else error)
        self._failed(message)
        return True

    async def keep(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run `work` to its end; when it fails, run it again with exponential back-off."""
        pause = FIRST_PAUSE
        while True:
            with self:
                await work()
                return
            await anyio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE)


class Workers:
    """Background tasks of many sources, each inside its own boundary and cancelled on its own."""

    def __init__(self) -> None:
        self.tasks: TaskGroup | None = None
        self._scopes: dict[str, anyio.CancelScope] = {}

    def start(self, name: str, work: Callable[[], Awaitable[None]], boundary: Boundary) -> None:
        """Run `work` until it finishes or `end` is called.

        Raises:
            LifecycleError: `tasks` is not set yet.
        """
        if self.tasks is None:
            raise LifecycleError(f"{name} cannot start: the gateway does not run")
        scope = self._scopes[name] = anyio.CancelScope()

        async def scoped() -> None:
            with scope:
                await boundary.keep(work)

        self.tasks.start_soon(scoped)

    def end(self, name: str) -> None:
        """Cancel the work of a source, if it has any."""
        if scope := self._scopes.pop(name, None):
            scope.cancel()


def message_of(error: Exception) -> str:
    """Return an error as text for people; errors that are not a `UiMcpError` are called unexpected."""
    if isinstance(error, UiMcpError):
        return error.message
    cause: BaseException = error
    while isinstance(cause, BaseExceptionGroup):
        cause = cause.exceptions[0]
    if isinstance(cause, UiMcpError):
        return cause.message
    first = next(iter(str(cause).splitlines()), "")[:200]
    return f"failed unexpectedly ({type(cause).__name__}{': ' if first else ''}{first})\nThe log has the details."
