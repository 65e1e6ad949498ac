"""The process of a script of the gateway: reads answers from a pipe, writes the next requests or the outcome."""

from ui_mcp.lua_runtime.vm import LuaScript
from ui_mcp.lua_runtime.worker import Pipe, new_watchdog, take_streams


def main() -> None:
    """Run a script within the limits that come first, in MB and seconds, until the gateway closes the pipe."""
    pipe = Pipe(*take_streams())
    limits = pipe.read()
    if limits is None:
        return
    megabytes, seconds = (float(str(limit)) for limit in limits)
    script = LuaScript(megabytes, seconds, new_watchdog())
    while (request := pipe.read()) is not None:
        pipe.write(script.step(*request))


if __name__ == "__main__":
    main()
