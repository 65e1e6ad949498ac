"""A Lua runtime with the engine loaded, before it is known which world it will be."""

import os
import time
from collections.abc import Callable

import lupa.lua52 as lupa

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


class Runtime:
    """Has nothing of its world but its budgets, which stand at zero until `grant`."""

    def __init__(self) -> None:
        """Load the engine."""
        self._cap = 0
        self._seconds = 0.0
        self._watch: Callable[[float], None] = _unwatched
        self.lua = lupa.LuaRuntime(
            encoding=None,
            unpack_returned_tuples=True,
            register_eval=False,
            register_builtins=False,
            attribute_filter=_no_attributes,
            max_memory=0,
        )
        verify(self.lua)
        self._give, load = self.lua.execute(_BOOT)
        for name, service in {"clock": time.monotonic, "begin": self._begin, "finish": self._finish}.items():
            self.give(name, service)
        *_, (self.door, self._limit) = [load(_source(name), name.encode()) for name in MODULES]
        self.lua.execute(b"collectgarbage()")

    def grant(self, cap: int, seconds: float, watch: Callable[[float], None]) -> None:
        """Set the bytes and seconds that app code may take; `watch` hears the seconds, 0 when it has finished."""
        self._cap, self._seconds, self._watch = cap, seconds, watch
        self._limit(seconds)

    def give(self, name: str, value: object) -> None:
        """Put a service or a setting where the engine finds it."""
        self._give(name.encode(), value.encode() if isinstance(value, str) else value)

    def arm(self) -> None:
        """Set the cap again, after it was lifted to hand something over."""
        self.lua.set_max_memory(self._cap)

    def _begin(self) -> float:
        self.lua.set_max_memory(self._cap)
        self._watch(self._seconds)
        return time.monotonic()

    def _finish(self) -> None:
        self.lua.set_max_memory(0)
        self._watch(0)


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


def _unwatched(_seconds: float) -> None:
    return
