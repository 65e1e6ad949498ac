"""One Lua VM with the engine loaded, its limits and log files."""

import json
import os
import time
from collections.abc import Callable, Mapping

import lupa.lua52 as lupa

from ui_mcp.files import open_inside
from ui_mcp.lua_runtime.files import MAX_KNOWN, MAX_TOLD, Files
from ui_mcp.lua_runtime.permissions import Permissions, Refusal
from ui_mcp.lua_runtime.sandbox import Modules, run_process

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


class LuaRuntime:
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
            self.set_global(name, service)
        *_, (self.door, self._limit) = [load(_source(name), name.encode()) for name in MODULES]
        self.lua.execute(b"collectgarbage()")

    def set_limits(self, cap: int, seconds: float, watch: Callable[[float], None]) -> None:
        """Set the bytes and seconds that app code may take; `watch` hears the seconds, 0 when it has finished."""
        self._cap, self._seconds, self._watch = cap, seconds, watch
        self._limit(seconds)

    def set_global(self, name: str, value: object) -> None:
        """Put a service or a setting where the engine finds it."""
        self._give(name.encode(), value.encode() if isinstance(value, str) else value)

    def restore_memory_limit(self) -> None:
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


LIMIT = 10_000_000
"""Size at which a file is moved aside, once, to `.1`."""

_FILES = {"out": "lua.log", "err": "lua-err.log"}


class Logs:
    """`lua.log` and `lua-err.log` of one directory."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def write(self, which: str, data: bytes) -> None:
        """Append; a log that cannot be written is no reason to stop an app."""
        path = f"{self._folder}/{_FILES.get(which, 'lua.log')}"
        text = data.decode("utf-8", "replace").replace("\r\n", "\n").encode()
        try:
            self._append(path, text)
        except OSError:
            return

    def error(self, origin: str, text: str) -> None:
        """Note an uncaught error with time and origin."""
        self.write("err", f"{time.strftime('%Y-%m-%d %H:%M:%S')} {origin}: {text}\n".encode())

    def _append(self, path: str, text: bytes) -> None:
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        descriptor = open_inside(os.path.dirname(self._folder), path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        with open(descriptor, "ab", buffering=0) as file:
            file.write(text)
            size = file.tell()
        if size > LIMIT:
            os.replace(path, path + ".1")


Emit = Callable[[str, str, float], None]
"""Takes what must leave the world at once: kind, text, number."""

Flat = str | bytes | int | float | bool | None


class LuaVm:
    """A world in this process."""

    def __init__(
        self,
        launch: Mapping[str, object],
        emit: Emit,
        watch: Callable[[float], None],
        runtime: LuaRuntime | None = None,
    ) -> None:
        """Make a world of a runtime; `watch` hears the seconds app code may take from now on, 0 for none."""
        runtime = runtime or LuaRuntime()
        self._cap = int(str(launch["max_memory_mb"])) * 1024 * 1024
        self._runtime = runtime.lua
        self._door = runtime.door
        runtime.set_limits(self._cap, float(str(launch["max_seconds"])), watch)
        for name, value in self._services(launch, emit, runtime).items():
            runtime.set_global(name, value)

    def call(self, op: str, args: tuple[Flat, ...], facts: tuple[Flat, ...]) -> list[Flat]:
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

    def _services(self, launch: Mapping[str, object], emit: Emit, runtime: LuaRuntime) -> dict[str, object]:
        """What the engine may ask of Python. None of these raises, and none returns data while the cap is set."""
        permissions = Permissions(launch)
        logs = Logs(str(launch["log"]))
        modules = Modules(launch, permissions)
        refusals = Refusals(logs, emit)
        files = Files(permissions, refusals.tell)
        limit = self._runtime.set_max_memory

        def answer(ask: Callable[..., object]) -> Callable[..., object]:
            def asked(*args: Flat) -> object:
                limit(0)
                found = ask(*(_text(arg) for arg in args))
                return tuple(map(_given, found)) if isinstance(found, tuple) else _given(found)

            return asked

        return {
            "arm": runtime.restore_memory_limit,
            "emit": lambda kind, text, number: emit(str(_text(kind)), str(_text(text)), number),
            "log": lambda which, data: logs.write(str(_text(which)), data),
            "log_error": lambda origin, text: logs.error(str(_text(origin)), str(_text(text))),
            "may_execute": permissions.exec,
            "open": answer(files.open),
            "release": files.release,
            "load": answer(files.source),
            "remove": answer(files.remove),
            "rename": answer(files.rename),
            "getenv": answer(permissions.environment),
            "tmpname": answer(permissions.temporary),
            "find": answer(modules.find),
            "source": answer(modules.source),
            "apps": answer(modules.apps),
            "app_list": answer(modules.app_list),
            "real": answer(modules.real),
            "shell": answer(lambda command: run_process(permissions, refusals.tell, str(command))),
            "max_bytes": self._cap,
            "verbosity": int(str(launch["verbosity"])),
            "base_dir": str(launch["base_dir"]),
            "session_id": str(launch["session_id"]),
            "status": str(launch["status"]),
        }


def _given(value: object) -> object:
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value


def _text(value: Flat) -> Flat:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


class Refusals:
    """The refusals of one world."""

    def __init__(self, logs: Logs, emit: Callable[[str, str, float], None]) -> None:
        self._logs = logs
        self._emit = emit
        self._known: set[tuple[str, str]] = set()
        self._told: set[str] = set()

    def tell(self, refusal: Refusal) -> None:
        """Note a refusal; what an app tries again and again is noted once."""
        known = (refusal.setting, refusal.path)
        if known not in self._known and len(self._known) < MAX_KNOWN:
            self._known.add(known)
            self._logs.error("permissions", refusal.message)
        key = refusal.line or refusal.setting
        if key not in self._told and len(self._told) < MAX_TOLD:
            self._told.add(key)
            self._emit("refused", json.dumps(refusal._asdict()), 0)
