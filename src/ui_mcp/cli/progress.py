"""One line at a terminal that says what is being waited for, and goes away again."""

import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import anyio

_EVERY_SECONDS = 0.5
_MOST_NAMES = 4
_CLEAR = "\r\x1b[K"


@asynccontextmanager
async def telling(awaited: Callable[[], Sequence[str]]) -> AsyncIterator[None]:
    """During the block, say on stderr what is still awaited; only at a terminal, and only when it takes a while."""
    if not sys.stderr.isatty():
        yield
        return
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_tell, awaited)
        yield
        tasks.cancel_scope.cancel()


async def _tell(awaited: Callable[[], Sequence[str]]) -> None:
    started = anyio.current_time()
    try:
        while True:
            await anyio.sleep(_EVERY_SECONDS)
            sys.stderr.write(_CLEAR + line(awaited(), anyio.current_time() - started))
            sys.stderr.flush()
    finally:
        sys.stderr.write(_CLEAR)
        sys.stderr.flush()


def line(names: Sequence[str], seconds: float) -> str:
    """Return what to say of those that are awaited."""
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"Waiting for {', '.join(names[:_MOST_NAMES])}{more} ({seconds:.0f} s)" if names else ""
