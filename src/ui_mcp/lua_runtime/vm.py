"""One Lua VM with the engine loaded, its limits and its log files."""

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

import lupa.lua52 as lupa

from ui_mcp.discovery import lazy
from ui_mcp.files import open_inside
from ui_mcp.lua_runtime.files import MAX_LOGGED, MAX_REPORTED, Files
from ui_mcp.lua_runtime.permissions import Permissions, Refusal
from ui_mcp.lua_runtime.sandbox import Modules, run_command
from ui_mcp.lua_runtime.shell import Emulator
from ui_mcp.wire import FaultCode, OutputKind

# It imports SQLite, which only sessions with a store need.
if TYPE_CHECKING:
    from ui_mcp.storage.app_stores import AppStores
else:
    AppStores = lazy("ui_mcp.storage.app_stores:AppStores")

MODULES = (
    "wire",
    "json",
    "json_module",
    "objects",
    "limits",
    "sandbox",
    "files",
    "ownership",
    "problems",
    "loader",
    "prototypes",
    "session",
    "stores",
    "shell",
    "addresses",
    "mcp",
    "run",
    "path_syntax",
    "paths",
    "viewdefs",
    "view_record",
    "row_order",
    "element_rows",
    "element_points",
    "element_items",
    "element_lines",
    "element_files",
    "shapes",
    "views",
    "lists",
    "wrappers",
    "encode",
    "scan",
    "variables",
    "variables_scan",
    "connections",
    "listing",
    "server_variables",
    "markdown",
    "state_values",
    "state",
    "restore",
    "patch",
    "steps",
    "main",
)
"""The engine's files in load order; the last one returns the entry point."""

SCRIPT_MODULES = ("wire", "json", "limits", "sandbox", "script")
"""Those of a script of the gateway, which has no session."""

_ENGINE = os.path.join(os.path.dirname(__file__), "engine")

_HOOK_TEST = b"""
local stopped = false
debug.sethook(function() stopped = true end, '', 10)
for _ = 1, 100 do end
debug.sethook()
return stopped
"""

_CAP_TEST = b"return not pcall(string.rep, 'x', 1000000)"

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


# A forked worker shares the engine's memory until it writes to it; a session takes 0.3 MB less by these. The first
# collection marks every object: it begins at four times the memory of the engine instead of at twice. Lua doubles its
# table of strings when that is full, and links them all anew: it is grown here, with strings that are garbage at once.
_SETTLE = b"""
collectgarbage('setpause', 400)
collectgarbage()
collectgarbage('setpause', 200)
for i = 1, 4096 do local _ = 's' .. i end
"""


class LuaRuntime:
    """Lua with the engine loaded. Holds no per-session state; limits are zero until `set_limits` is called."""

    def __init__(self, modules: Sequence[str] = MODULES) -> None:
        self._cap = 0
        self._seconds = 0.0
        self._watch: Callable[[float], None] = _no_watch
        self.lua = lupa.LuaRuntime(
            encoding=None,
            unpack_returned_tuples=True,
            register_eval=False,
            register_builtins=False,
            attribute_filter=_no_attributes,
            max_memory=0,
        )
        verify(self.lua)
        self._set_host, load = self.lua.execute(_BOOT)
        for name, service in {
            "clock": time.monotonic,
            "time": time.time,
            "begin": self._begin,
            "finish": self._finish,
        }.items():
            self.set_global(name, service)
        *_, (self.entry_point, self._limit) = [load(_source(name), name.encode()) for name in modules]
        self.lua.execute(_SETTLE)

    def set_limits(self, cap: int, seconds: float, watch: Callable[[float], None]) -> None:
        """Limit app code to `cap` bytes and `seconds`; `watch` gets the seconds when it starts, and 0 when it ends."""
        self._cap, self._seconds, self._watch = cap, seconds, watch
        self._limit(seconds)

    def set_global(self, name: str, value: object) -> None:
        """Make a function or a setting available to the engine."""
        self._set_host(name.encode(), value.encode() if isinstance(value, str) else value)

    def restore_memory_limit(self) -> None:
        """Set the memory limit again, after a service lifted it to return data."""
        self.lua.set_max_memory(self._cap)

    def _begin(self) -> float:
        self.lua.set_max_memory(self._cap)
        self._watch(self._seconds)
        return time.monotonic()

    def _finish(self) -> None:
        self.lua.set_max_memory(0)
        self._watch(0)


def verify(runtime: lupa.LuaRuntime) -> None:
    """Check that this Lua honours instruction hooks and memory limits.

    Raises:
        RuntimeError: it does not.
    """
    hooked = runtime.execute(_HOOK_TEST)
    runtime.set_max_memory(runtime.get_memory_used() + 100_000)
    capped = runtime.execute(_CAP_TEST)
    runtime.set_max_memory(0)
    if not (hooked and capped):
        raise RuntimeError("this build of Lua enforces no limits (time hook or memory limit is missing)")


def _no_attributes(_object: object, _name: object, _setting: bool) -> object:
    raise AttributeError("Python objects have no attributes here")


def _source(name: str) -> bytes:
    with open(os.path.join(_ENGINE, name + ".lua"), "rb") as file:
        return file.read()


def _no_watch(_seconds: float) -> None:
    return


LIMIT = 10_000_000
"""Bytes at which a log file is rotated to `.1`; only one old file is kept."""

_FILES = {"out": "lua.log", "err": "lua-err.log"}


class Logs:
    def __init__(self, folder: str) -> None:
        self._folder = folder

    def write(self, which: str, data: bytes) -> None:
        """Append to a log; errors are ignored, because a full disk must not stop an app."""
        path = f"{self._folder}/{_FILES.get(which, 'lua.log')}"
        text = data.decode("utf-8", "replace").replace("\r\n", "\n").encode()
        try:
            self._append(path, text)
        except OSError:
            return

    def error(self, origin: str, text: str) -> None:
        """Log an uncaught error with time and origin."""
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
"""Sends one output immediately: kind, text, number."""

Scalar = str | bytes | int | float | bool | None


class LuaVm:
    """The Lua VM of one session, in this process."""

    def __init__(
        self,
        settings: Mapping[str, object],
        emit: Emit,
        watch: Callable[[float], None],
        runtime: LuaRuntime | None = None,
    ) -> None:
        """Set up a session in `runtime`; `watch` gets the seconds that app code may run, and 0 when it ends."""
        runtime = runtime or LuaRuntime()
        self._cap = int(str(settings["max_memory_mb"])) * 1024 * 1024
        self._runtime = runtime.lua
        self._entry_point = runtime.entry_point
        runtime.set_limits(self._cap, float(str(settings["max_seconds"])), watch)
        for name, value in self._services(settings, emit, runtime).items():
            runtime.set_global(name, value)

    def call(self, op: str, args: tuple[Scalar, ...], facts: tuple[Scalar, ...]) -> list[Scalar]:
        """Run one operation; return code, message, traceback, result, then connection and frame alternately."""
        try:
            reply = self._entry_point(
                *[_to_lua(value) if type(value) is str else value for value in (op, *facts, *args)]
            )
        except lupa.LuaError as error:
            # The engine was interrupted before it could lift the limit.
            self._runtime.set_max_memory(0)
            code = FaultCode.MEMORY if isinstance(error, lupa.LuaMemoryError) else FaultCode.LUA_ERROR
            reply = (code.value, str(error), b"", b"null")
        self._recover()
        return [_from_lua(value) if type(value) is bytes else value for value in reply]

    @property
    def memory(self) -> int:
        """Bytes in use by Lua."""
        return int(self._runtime.get_memory_used())

    @property
    def overfull(self) -> bool:
        """Whether memory is still nearly full after a collection, so that every further call would fail."""
        return self.memory > self._cap * 0.95

    def _recover(self) -> None:
        if self.memory > self._cap // 10 * 9:
            self._runtime.execute(b"collectgarbage()")

    def _services(self, settings: Mapping[str, object], emit: Emit, runtime: LuaRuntime) -> dict[str, object]:
        """Return what the engine may use of Python. No function raises; the memory limit is off while one returns."""
        permissions = Permissions(settings)
        logs = Logs(str(settings["log"]))
        modules = Modules(settings, permissions)
        refusals = Refusals(logs, emit)
        files = Files(permissions, refusals.report)
        emulator = Emulator(
            files,
            lambda name, target: emit(OutputKind.ALIAS.value, json.dumps({"name": name, "target": target}), 0),
        )
        service = self._service
        stores = cache(lambda: AppStores(str(settings["base_dir"])))
        return {
            "store": service(lambda op, *args: stores().call(str(op), *map(str, args))),
            "arm": runtime.restore_memory_limit,
            "emit": lambda kind, text, number: emit(str(_from_lua(kind)), str(_from_lua(text)), number),
            "log": lambda which, data: logs.write(str(_from_lua(which)), data),
            "log_error": lambda origin, text: logs.error(str(_from_lua(origin)), str(_from_lua(text))),
            "may_execute": permissions.exec,
            "open": service(files.open),
            "release": files.release,
            "load": service(files.source),
            "remove": service(files.remove),
            "rename": service(files.rename),
            "append": service(files.append),
            "base64": service(files.base64),
            "getenv": service(permissions.environment),
            "tmpname": service(permissions.temporary),
            "find": service(modules.find),
            "find_bundled": service(modules.find_bundled),
            "source": service(modules.source),
            "apps": service(modules.apps),
            "app_list": service(modules.app_list),
            "real": service(modules.real),
            "shell": service(lambda command: run_command(emulator, permissions, refusals.report, str(command))),
            "max_bytes": self._cap,
            "verbosity": int(str(settings["verbosity"])),
            "base_dir": str(settings["base_dir"]),
            "session_id": str(settings["session_id"]),
            "status": str(settings["status"]),
        }

    def _service(self, function: Callable[..., object]) -> Callable[..., object]:
        """Return a function for the engine; it lifts the memory limit, which the engine sets again with `arm`."""
        limit = self._runtime.set_max_memory

        def call(*args: Scalar) -> object:
            limit(0)
            result = function(*(_from_lua(arg) for arg in args))
            return tuple(map(_to_lua, result)) if isinstance(result, tuple) else _to_lua(result)

        return call


class LuaScript:
    """The Lua VM of one script of the gateway, in this process."""

    def __init__(self, megabytes: float, seconds: float, watch: Callable[[float], None]) -> None:
        """Limit the script; `watch` gets the seconds that it may run up to its next request, and 0 when it waits."""
        cap = int(megabytes * 1024 * 1024)
        self._lua = LuaRuntime(SCRIPT_MODULES)
        self._lua.set_global("max_bytes", cap)
        self._lua.set_limits(cap, seconds, watch)

    def step(self, *words: Scalar) -> str:
        """Start the script or answer a request; return its next requests, or its outcome, as JSON."""
        try:
            return str(_from_lua(self._lua.entry_point(*map(_to_lua, words))))
        except lupa.LuaError as error:  # out of memory where the engine could not catch it
            return json.dumps({"requests": [], "outcome": {"error": {"message": str(error)}}, "printed": []})


def _to_lua(value: object) -> object:
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value


def _from_lua(value: Scalar) -> Scalar:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


class Refusals:
    """Logs and reports the refusals of one VM, each once."""

    def __init__(self, logs: Logs, emit: Callable[[str, str, float], None]) -> None:
        self._logs = logs
        self._emit = emit
        self._logged: set[tuple[str, str]] = set()
        self._reported: set[str] = set()

    def report(self, refusal: Refusal) -> None:
        """Log a refusal and send it to the session, unless the same one was reported before."""
        known = (refusal.setting, refusal.path)
        if known not in self._logged and len(self._logged) < MAX_LOGGED:
            self._logged.add(known)
            self._logs.error("permissions", refusal.message)
        key = refusal.line or refusal.setting
        if key not in self._reported and len(self._reported) < MAX_REPORTED:
            self._reported.add(key)
            self._emit(OutputKind.REFUSED.value, json.dumps(refusal._asdict()), 0)
