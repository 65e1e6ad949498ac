"""Where the `ui-mcp` command begins: stdout is set aside for MCP before anything that could print is imported."""

import gc
import sys


def main() -> int:
    """Run `ui-mcp` with the arguments of this process."""
    from ui_mcp.cli import reserve

    arguments = sys.argv[1:]
    if arguments[:1] == ["nlui"]:
        from ui_mcp.cli.nlui_entry import run as run_nlui

        return run_nlui(arguments[1:])
    if arguments[:1] == ["serve"]:
        _prepare(arguments)
        gc.disable()  # as for stdio: while everything is imported there is no garbage; the server resumes it
    stdio = reserve.stdio() if speaks_on_stdio(arguments) else None
    from ui_mcp.cli.main import run

    return run(arguments, stdio)


def _prepare(arguments: list[str]) -> None:
    """Let the nursery of the Lua worlds get ready while the server is being imported."""
    if not {"-h", "--help"} & set(arguments):
        from ui_mcp.lua_runtime.fork_server import prepare

        prepare()


def speaks_on_stdio(arguments: list[str]) -> bool:
    """Say whether this command line makes stdin and stdout an MCP connection."""
    if {"-h", "--help"} & set(arguments):
        return False
    return arguments[:1] == ["mcp"] or (arguments[:1] == ["chat"] and not any(map(_sends_chat_elsewhere, arguments)))


def _sends_chat_elsewhere(argument: str) -> bool:
    return argument in {"post", "follow", "history", "export", "backup", "restore"} or argument.startswith("--port")
