"""One change scan at 100 … 100,000 variables, against a naive walk of the same objects through lupa.

The bar is a ratio of at least 8 from 1,000 variables on. Published figures of the Go original (about 500 µs at 1,000
variables, 5.6 ms at 10,000) are shown for orientation; they come from another machine.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial

import lupa.lua52 as lupa
from claims import claim

from ui_mcp.lua_runtime.interface import EMPTY_CONTEXT
from ui_mcp.lua_runtime.vm import LuaVm
from ui_mcp.ui.viewdef_store import ViewdefStore

FIELDS = ("name", "mail", "age", "city", "active")
GO = {1_000: 500e-6, 10_000: 5.6e-3}
CELLS = "".join(f'<i ui-value="{name}"></i>' for name in FIELDS[:4])
ROW = f'<template><p>{CELLS}<b ui-class-on="active"></b></p></template>'
APP = '<template><ul ui-viewlist="rows"></ul></template>'
MAKE = """
Row = Row or session:prototype("Row", {name = "", mail = "", age = 0, city = "", active = false})
App = App or session:prototype("App", {rows = EMPTY})
app = App:new({rows = {}})
for i = 1, %d do
  app.rows[i] = Row:new({name = "n" .. i, mail = i .. "@example.org", age = i, city = "c" .. i, active = i %% 2 == 0})
end
mcp.value = app
"""


def open_vm(rows: int) -> tuple[LuaVm, int]:
    """Return a Lua VM with one open page of `rows` rows, and the bytes by which opening the page grew it."""
    folder = tempfile.mkdtemp()
    launch: dict[str, object] = {"base_dir": folder, "project": folder, "log": folder, "permissions": {}}
    launch |= {"session_id": "", "bundle_lua": "", "status": "{}"}
    launch |= {"max_seconds": 60, "max_memory_mb": 1024, "verbosity": 0}
    core = LuaVm(launch, lambda *_: None, lambda _: None)
    store = ViewdefStore({})
    store.put("MCP", "DEFAULT", '<template><div ui-view="value"></div></template>')
    store.put("App", "DEFAULT", APP)
    store.put("Row", "DEFAULT", ROW)
    enter(core, "start")
    enter(core, "viewdefs", store.bundle())
    enter(core, "run", MAKE % rows)
    before = collected(core)
    enter(core, "open", 1)
    enter(core, "frame", 1, '{"type":"watch","data":{"varId":1,"expand":true}}')
    return core, collected(core) - before


def enter(core: LuaVm, op: str, *args: str | int) -> list[object]:
    reply = core.call(op, args, EMPTY_CONTEXT)
    assert not reply[0], reply
    return list(reply)


def collected(core: LuaVm) -> int:
    enter(core, "run", "collectgarbage() collectgarbage()")
    return core.memory


def median(action: Callable[[], object], times: int) -> float:
    """Return the median seconds of one call."""
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        action()
        taken.append(time.perf_counter() - start)
    return statistics.median(taken)


def naive(rows: int) -> Callable[[], object]:
    """Return a change tracker in Python that walks the tables through lupa and compares."""
    table = lupa.LuaRuntime().execute(
        f"""
        local rows = {{}}
        for i = 1, {rows} do
          rows[i] = {{name = "n" .. i, mail = i .. "@example.org", age = i, city = "c" .. i, active = i % 2 == 0}}
        end
        return rows
        """
    )
    cache: dict[tuple[int, str], object] = {}

    def walk() -> None:
        for index in range(1, rows + 1):
            row = table[index]
            for name in FIELDS:
                value = row[name]
                if cache.get((index, name)) != value:
                    cache[index, name] = value

    return walk


def main() -> int:
    held = []
    print(f"{'variables':>9} {'scan':>10} {'per var':>9} {'naive':>10} {'ratio':>6} {'Go/ours':>8} {'bytes/var':>9}")
    for variables in (100, 1_000, 10_000, 100_000):
        rows = variables // len(FIELDS)
        core, grown = open_vm(rows)
        times = max(5, 200_000 // variables)
        scan = median(partial(core.call, "refresh", (), EMPTY_CONTEXT), times)
        walk = median(naive(rows), max(3, times // 10))
        go = f"{GO[variables] / scan:.1f}x" if variables in GO else "-"
        print(
            f"{variables:>9} {scan * 1e6:>8.0f}µs {scan / variables * 1e9:>7.0f}ns {walk * 1e6:>8.0f}µs "
            f"{walk / scan:>5.1f}x {go:>8} {grown / variables:>9.0f}"
        )
        if variables >= 1_000:
            held.append(claim(f"{variables:,} variables: naive walk / scan", walk / scan, at_least=8))
            held.append(claim(f"{variables:,} variables: bytes each", grown / variables, at_most=250))
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
