"""Notice that the process which started us is gone, even if nobody closed the pipe."""

import os
import sys

import anyio

from ui_mcp.started import PARENT

POLL_SECONDS = 2.0


async def parent_gone() -> None:
    """Return when the parent process has ended."""
    if sys.platform == "win32":
        await _windows_parent_gone()
        return
    while os.getppid() == PARENT:  # noqa: ASYNC110 - no event tells of it
        await anyio.sleep(POLL_SECONDS)


if sys.platform == "win32":

    async def _windows_parent_gone() -> None:
        import ctypes

        from ui_mcp.processes import in_daemon_thread

        synchronize, infinite = 0x00100000, 0xFFFFFFFF
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        handle = kernel.OpenProcess(synchronize, 0, PARENT)
        if not handle:
            await anyio.sleep_forever()
        await in_daemon_thread(lambda: kernel.WaitForSingleObject(handle, infinite))
