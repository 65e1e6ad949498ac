"""One Lua runtime behind one door: flat values in, flat values out, tables never touched from here."""

import os
import time
from collections.abc import Callable, Mapping

import lupa.lua52 as lupa

from ui_mcp.lua.logs import Logs
from ui_mcp.lua.modules import Modules
from ui_mcp.lua.permissions import Permissions
from ui_mcp.lua.processes import run_process

MODULES = (
    "json",
    "objects",
    "guard",
    "sandbox",
    "files",
    "loader",
    "prototypes",
    "session",
    "mcp",
    "run",
    "paths",
    "viewdefs",
    "shapes",
    "views",
    "lists",
    "wrappers",
    "encode",
    "scan",
    "plain",
    "plain_scan",
    "connections",
    "listing",
    "server_variables",
    "markdown",
    "main",
)
"""The engine's files in the order they are loaded; the last one returns the door."""

Emit = Callable[[str, str, float], None]
"""Takes what must leave the world at once: kind, text, number."""

Flat = str | bytes | int | float | bool | None

_ENGINE = os.path.join(os.path.dirname(__file__), "engine")

_HOOKED = b"""
local stopped = false
debug.sethook(function() stopped = true end, '', 10)
for _ = 1, 100 do end
debug.sethook()
return stopped
"""
_CAPPED = b"return not pcall(string.rep, 'x', 1000000)"
_BOOT = b"""
python = nil
local engine, host = {}, {}
setmetatable(_G, {
  __index = function(_, name) error('the engine has no global ' .. tostring(name), 2) end,
  __newindex = function(_, name) error('the engine sets no global ' .. tostring(name), 2) end,
})
return function(name, value) host[name] = value end,
  function(source, name) return assert(load(source, '@engine/' .. name .. '.lua', 't'))(engine, host) end
"""


class Core:
    """A world in this process."""

    def __init__(self, launch: Mapping[str, object], emit: Emit, watch: Callable[[float], None]) -> None:
        """Load the engine; `watch` hears the seconds app code may take from now on, 0 for none."""
        self._cap = int(str(launch["max_memory_mb"])) * 1024 * 1024
        self._runtime = lupa.LuaRuntime(
            encoding=None,
            unpack_returned_tuples=True,
            register_eval=False,
            register_builtins=False,
            attribute_filter=_no_attributes,
            max_memory=0,
        )
        verify(self._runtime)
        give, load = self._runtime.execute(_BOOT)
        for name, value in self._services(launch, emit, watch).items():
            give(name.encode(), value.encode() if isinstance(value, str) else value)
        for name in MODULES:
            self._door = load(_source(name), name.encode())

    def enter(self, op: str, args: tuple[Flat, ...], facts: tuple[Flat, ...]) -> list[Flat]:
        """Do one thing: code, message, traceback, result, then connection and frame in turns."""
        try:
            reply = self._door(*[_given(value) if type(value) is str else value for value in (op, *facts, *args)])
        except lupa.LuaError as error:
            self._runtime.set_max_memory(0)
            reply = (b"memory" if isinstance(error, lupa.LuaMemoryError) else b"lua-error", str(error), b"", b"null")
        self._recover()
        return [_text(value) if type(value) is bytes else value for value in reply]

    @property
    def memory(self) -> int:
        """Bytes in use by Lua."""
        return int(self._runtime.get_memory_used())

    @property
    def overfull(self) -> bool:
        """Whether the world still fills its memory after a collection, so that every entry would fail."""
        return self.memory > self._cap * 0.95

    def _recover(self) -> None:
        if self.memory > self._cap // 10 * 9:
            self._runtime.execute(b"collectgarbage()")

    def _services(self, launch: Mapping[str, object], emit: Emit, watch: Callable[[float], None]) -> dict[str, object]:
        """What the engine may ask of Python. None of these raises, and none returns data while the cap is set."""
        permissions = Permissions(launch)
        logs = Logs(str(launch["log"]))
        modules = Modules(launch)
        limit = self._runtime.set_max_memory
        seconds = float(str(launch["max_seconds"]))

        def begin() -> float:
            limit(self._cap)
            watch(seconds)
            return time.monotonic()

        def finish() -> None:
            limit(0)
            watch(0)

        def answer(ask: Callable[..., object]) -> Callable[..., object]:
            def asked(*args: Flat) -> object:
                limit(0)
                found = ask(*(_text(arg) for arg in args))
                return tuple(map(_given, found)) if isinstance(found, tuple) else _given(found)

            return asked

        return {
            "clock": time.monotonic,
            "begin": begin,
            "finish": finish,
            "arm": lambda: limit(self._cap),
            "emit": lambda kind, text, number: emit(str(_text(kind)), str(_text(text)), number),
            "log": lambda which, data: logs.write(str(_text(which)), data),
            "log_error": lambda origin, text: logs.error(str(_text(origin)), str(_text(text))),
            "may_execute": permissions.exec,
            "permitted": answer(permissions.check),
            "getenv": answer(permissions.environment),
            "tmpname": answer(permissions.temporary),
            "find": answer(modules.find),
            "source": answer(modules.source),
            "apps": answer(modules.apps),
            "app_list": answer(modules.app_list),
            "real": answer(modules.real),
            "shell": answer(lambda command: run_process(permissions, str(command))),
            "max_bytes": self._cap,
            "max_seconds": seconds,
            "verbosity": int(str(launch["verbosity"])),
            "base_dir": str(launch["base_dir"]),
            "session_id": str(launch["session_id"]),
            "status": str(launch["status"]),
        }


def verify(runtime: lupa.LuaRuntime) -> None:
    """Refuse a Lua that does not stop for a hook or a memory limit."""
    hooked = runtime.execute(_HOOKED)
    runtime.set_max_memory(runtime.get_memory_used() + 100_000)
    capped = runtime.execute(_CAPPED)
    runtime.set_max_memory(0)
    if not (hooked and capped):
        raise RuntimeError("this Lua enforces no budgets (time hook or memory limit is missing)")


def _no_attributes(_object: object, _name: object, _setting: bool) -> object:
    raise AttributeError("Python objects have no attributes here")


def _source(name: str) -> bytes:
    with open(os.path.join(_ENGINE, name + ".lua"), "rb") as file:
        return file.read()


def _given(value: object) -> object:
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value


def _text(value: Flat) -> Flat:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
