"""Both console scripts; stdout is reserved for MCP before anything that could print is imported."""

import gc
import os
import sys
from typing import TYPE_CHECKING

from ui_mcp import processes  # noqa: F401 - first of all, because it records the parent process
from ui_mcp.discovery import lazy

# Only after stdout is reserved, and no more than the command needs.
if TYPE_CHECKING:
    from ui_mcp.app.gateway_hub import run_gateway_hub
    from ui_mcp.app.ui_stdio import run_directory_server
    from ui_mcp.cli.completion import complete
    from ui_mcp.cli.main import run
    from ui_mcp.cli.nlui import run_words
    from ui_mcp.lua_runtime.fork_server import prestart
else:
    run_directory_server = lazy("ui_mcp.app.ui_stdio:run_directory_server")
    run_gateway_hub = lazy("ui_mcp.app.gateway_hub:run_gateway_hub")
    complete = lazy("ui_mcp.cli.completion:complete")
    run = lazy("ui_mcp.cli.main:run")
    run_words = lazy("ui_mcp.cli.nlui:run_words")
    prestart = lazy("ui_mcp.lua_runtime.fork_server:prestart")


def main() -> int:
    """Run `ui-mcp` with the arguments of this process."""
    _start("ui-mcp")
    arguments = sys.argv[1:]
    if arguments[:1] == ["nlui"]:
        return run_nlui(arguments[1:])
    if arguments[:1] in (["directory-server"], ["gateway-hub"]):
        return _run_shared_server(*arguments)
    if arguments[:1] == ["serve"]:
        _prepare(arguments)
        gc.disable()  # imports create no garbage; `processes.run` enables it again
    stdio = reserve_stdio() if speaks_on_stdio(arguments) else None
    return run(arguments, stdio)


def _start(program: str) -> None:
    """Exit with completions if a shell asks for them."""
    if "_ARGCOMPLETE" in os.environ:
        complete(program)


def _run_shared_server(kind: str, *words: str) -> int:
    """Run a process that several clients join; they start it, people do not."""
    gc.disable()  # imports create no garbage; `processes.run` enables it again
    return run_gateway_hub(words) if kind == "gateway-hub" else run_directory_server(words)


def _prepare(arguments: list[str]) -> None:
    """Start the fork server of the Lua workers while the server is being imported."""
    if not {"-h", "--help"} & set(arguments):
        prestart()


def speaks_on_stdio(arguments: list[str]) -> bool:
    """Return whether this command line makes stdin and stdout an MCP connection."""
    if {"-h", "--help"} & set(arguments):
        return False
    if arguments[:1] == ["mcp"] or arguments[:2] == ["approvals", "prompt-tool"]:
        return True
    return arguments[:1] == ["chat"] and _serves_chat_on_stdio(arguments[1:])


def _serves_chat_on_stdio(arguments: list[str]) -> bool:
    words = iter(arguments)
    for word in words:
        if word.startswith("--port") or not word.startswith("-"):
            return False  # another transport, or an action, misspelt ones included
        if word.startswith("--") and word != "--stdio" and "=" not in word:
            next(words, None)  # the value of this option
    return True


def nlui_main() -> int:
    """Run `nlui` with the arguments of this process."""
    _start("nlui")
    return run_nlui(sys.argv[1:])


def run_nlui(words: list[str]) -> int:
    """Run one command line of nlui."""
    stdio = reserve_stdio() if nlui_speaks_on_stdio(words) else None
    return run_words(words, stdio)


def nlui_speaks_on_stdio(words: list[str]) -> bool:
    """Return whether this command line makes stdin and stdout an MCP connection."""
    return "--mcp" in words and not {"-h", "--help", "--version"} & set(words)


def reserve_stdio() -> tuple[int, int]:
    """Move stdin and stdout to private descriptors and return them.

    Afterwards descriptor 0 is empty and descriptor 1 is stderr, so neither `print`, nor a C library,
    nor a child process can disturb the protocol.
    """
    # Garbage collection during imports takes 10 % of the start-up time; `processes.run` enables it again.
    gc.disable()
    if os.isatty(0):
        os.write(2, b"Waiting for a host's MCP messages on stdin. Press Ctrl+C to stop; --help shows other commands.\n")
    stdin, stdout = _private_copy(0), _private_copy(1)
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    os.dup2(2, 1)
    if sys.platform == "win32":
        _bind_windows_handles(stdin, stdout)
    return stdin, stdout


def _private_copy(fd: int) -> int:
    copy = os.dup(fd)  # close-on-exec, so that child processes do not inherit it
    os.set_inheritable(copy, False)
    return copy


if sys.platform == "win32":
    import ctypes
    import msvcrt

    def _bind_windows_handles(stdin: int, stdout: int) -> None:
        for fd in (stdin, stdout):
            msvcrt.setmode(fd, os.O_BINARY)
        kernel = ctypes.WinDLL("kernel32")
        for name, fd in ((-10, 0), (-11, 1)):
            kernel.SetStdHandle(name, msvcrt.get_osfhandle(fd))
