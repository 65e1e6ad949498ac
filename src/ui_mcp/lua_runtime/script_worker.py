"""The process of a script of the gateway: reads answers from a pipe, writes the next requests or the outcome."""

import json

import lupa.lua52 as lupa

from ui_mcp.lua_runtime.vm import SCRIPT_MODULES, LuaRuntime
from ui_mcp.lua_runtime.worker import Pipe, new_watchdog, take_streams


def main() -> None:
    """Run a script within the limits that come first, in MB and seconds, until the gateway closes the pipe."""
    pipe = Pipe(*take_streams())
    runtime = LuaRuntime(SCRIPT_MODULES)
    limits = pipe.read()
    if limits is None:
        return
    megabytes, seconds = (float(str(limit)) for limit in limits)
    cap = int(megabytes * 1024 * 1024)
    runtime.set_global("max_bytes", cap)
    runtime.set_limits(cap, seconds, new_watchdog())
    while (request := pipe.read()) is not None:
        words = [word.encode("utf-8", "surrogatepass") if isinstance(word, str) else word for word in request]
        try:
            reply = bytes(runtime.entry_point(*words)).decode("utf-8", "replace")
        except lupa.LuaError as error:  # out of memory where the engine could not catch it
            reply = json.dumps({"requests": [], "outcome": {"error": {"message": str(error)}}, "printed": []})
        pipe.write(reply)


if __name__ == "__main__":
    main()
