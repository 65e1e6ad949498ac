"""Entry point of the self-contained executable, which is `ui-mcp` and also the Python of its child processes."""

import runpy
import sys
from multiprocessing import freeze_support


def python(arguments: list[str]) -> bool:
    """Run `-m MODULE …` or `-c CODE …` as the interpreter would; return whether the arguments are of that form.

    The program starts its child processes with `sys.executable`, which is this file here.
    """
    flags = [word for word in arguments if word in {"-I", "-S", "-u", "-E", "-B"}]
    rest = arguments[len(flags) :]
    if flags != arguments[: len(flags)] or len(rest) < 2 or rest[0] not in {"-m", "-c"}:
        return False
    kind, what, *further = rest
    sys.argv = [what if kind == "-m" else "-c", *further]
    if kind == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})  # noqa: S102
    return True


if __name__ == "__main__":
    freeze_support()
    if sys.argv[1:] == ["lua-child"]:
        from ui_mcp.lua_runtime.worker import main as lua_child

        lua_child()
    elif sys.argv[1:] == ["lua-script"]:
        from ui_mcp.lua_runtime.script_worker import main as lua_script

        lua_script()
    elif sys.argv[1:] == ["lua-fork-server"]:
        from ui_mcp.lua_runtime.fork_server import main as lua_fork_server

        lua_fork_server()
    elif not python(sys.argv[1:]):
        from ui_mcp.cli.entry import main

        sys.exit(main())
