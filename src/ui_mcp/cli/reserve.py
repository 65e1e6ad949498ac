"""Keep the standard streams for the protocol; imports nothing that could print, so that it can run first."""

import gc
import os
import sys

from ui_mcp import processes  # noqa: F401 - noted now, before the slow imports


def stdio() -> tuple[int, int]:
    """Move stdin and stdout to private descriptors and return them.

    Afterwards descriptor 0 is empty and descriptor 1 is stderr, so neither `print`, nor a C library,
    nor a child process can disturb the protocol.
    """
    # Looking for garbage while a thousand classes are being imported costs a tenth of the start; the pump resumes it.
    gc.disable()
    if os.isatty(0):
        os.write(
            2, b"Waiting for a host's MCP messages on stdin. Press Ctrl+C to stop; --help tells what else there is.\n"
        )
    stdin, stdout = _private_copy(0), _private_copy(1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)
    if sys.platform == "win32":
        _bind_windows_handles(stdin, stdout)
    return stdin, stdout


def _private_copy(fd: int) -> int:
    copy = os.dup(fd)  # close-on-exec, and so out of reach of child processes
    os.set_inheritable(copy, False)
    return copy


if sys.platform == "win32":

    def _bind_windows_handles(stdin: int, stdout: int) -> None:
        import ctypes
        import msvcrt

        for fd in (stdin, stdout):
            msvcrt.setmode(fd, os.O_BINARY)
        kernel = ctypes.WinDLL("kernel32")
        for name, fd in ((-10, 0), (-11, 1)):
            kernel.SetStdHandle(name, msvcrt.get_osfhandle(fd))
