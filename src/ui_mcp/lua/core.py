"""One Lua runtime behind one door: flat values in, flat values out, tables never touched from here."""

from collections.abc import Callable, Mapping

import lupa.lua52 as lupa

from ui_mcp.lua.logs import Logs
from ui_mcp.lua.processes import run_process
from ui_mcp.lua.refusals import Refusals
from ui_mcp.lua_runtime.files import Files
from ui_mcp.lua_runtime.permissions import Permissions
from ui_mcp.lua_runtime.sandbox import Modules
from ui_mcp.lua_runtime.vm import Runtime

Emit = Callable[[str, str, float], None]
"""Takes what must leave the world at once: kind, text, number."""

Flat = str | bytes | int | float | bool | None


class Core:
    """A world in this process."""

    def __init__(
        self,
        launch: Mapping[str, object],
        emit: Emit,
        watch: Callable[[float], None],
        runtime: Runtime | None = None,
    ) -> None:
        """Make a world of a runtime; `watch` hears the seconds app code may take from now on, 0 for none."""
        runtime = runtime or Runtime()
        self._cap = int(str(launch["max_memory_mb"])) * 1024 * 1024
        self._runtime = runtime.lua
        self._door = runtime.door
        runtime.grant(self._cap, float(str(launch["max_seconds"])), watch)
        for name, value in self._services(launch, emit, runtime).items():
            runtime.give(name, value)

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

    def _services(self, launch: Mapping[str, object], emit: Emit, runtime: Runtime) -> dict[str, object]:
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
            "arm": runtime.arm,
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
