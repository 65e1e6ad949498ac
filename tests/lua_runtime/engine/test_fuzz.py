"""A hundred thousand random calls at the border: whatever comes, the process lives and the worker answers."""

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from lua_runtime.cores import Bench
from ui_mcp.lua_runtime.vm import Scalar

CALLS = 100_000

SNIPPETS = (
    "return {}", "error('x')", "error({})", "error()", "return print", "mcp.value = nil", "mcp.value = app",
    "app.n = app.n + 1", "app.rows = {Row:new({t = 1}), 2, {}}", "table.insert(app.rows, Row:new())",
    "table.remove(app.rows, 1)", "app.rows = 5",
    "app.rows = setmetatable({}, {__index = function() error('idx') end})",
    "app.n = setmetatable({}, {__tostring = error})",
    "app = setmetatable({}, {__index = error, __newindex = error}) mcp.value = app",
    "app = App:new({n = 1, rows = {}}) mcp.value = app",
    "setmetatable(app, {__index = function() error({}) end, type = 'App'})", "setmetatable(app, nil)", "app.type = 7",
    "app.type = {}", "mcp.pushState({a = app})", "mcp.pushState(5)", "session:setTimeout(error, 1)",
    "session:setInterval(print, -5)", "session:clearTimeout('x')", "session:prototype('App', {n = math.random(3)})",
    "session:prototype()", "session:create()", "session:createVariable(nil, nil)", "session:createAppVariable({})",
    "mcp.display = nil", "mcp:display('x')", "mcp.state = mcp", "session = session", "for k in pairs(mcp) do end",
    "string.rep = nil", "string.find = error", "table.concat = error", "tostring = error", "type = error",
    "next = nil", "pairs = error", "string.gsub = function() return 1 end", "getmetatable(app).__eq = error",
    "app.n = 0/0", "app.n = 1/0", "app.n = ('x'):rep(1000)", "app.n = string.char(255, 0, 1)",
    "coroutine.wrap(function() coroutine.yield() end)()", "return coroutine.create(print)",
    "local t = {} t[t] = t return t", "local t = {} for i = 1, 50 do t = {t} end return t", "return #('x'):rep(5000)",
    "loadstring('x x')()", "require('nothing')", "ui.registerWrapper('W', {new = error})",
    "ui.registerWrapper('W', 5)", "ui.json_decode('[')", "collectgarbage()", "debug.getinfo(2)", "getfenv(2)",
    "setfenv(1, {})", "io.open('x'):read()", "os.exit()", "io.write({})", "unpack({}, 1, 1e8)",
)  # fmt: skip

FRAMES = (
    {"type": "watch", "data": {"varId": 1, "expand": True}},
    {"type": "watch", "data": {"varId": 1}},
    {"type": "unwatch", "data": {"varId": 1}},
    {"type": "destroy", "data": {"varId": 2}},
    {"type": "create", "data": {"id": 2, "parentId": 1, "properties": {"path": "value.n?wrapper=W&priority=high"}}},
    {"type": "create", "data": {"id": 3, "parentId": 2, "properties": {"path": "....x.y()"}}},
    {
        "type": "create",
        "data": {"id": -4, "parentId": -2, "properties": {"path": "rows?wrapper=lua.ViewList&item=Row"}},
    },
    {"type": "update", "data": {"varId": 2, "value": {"obj": 3}}},
    {"type": "update", "data": {"varId": 2, "properties": {"path": "(", "inactive": "x"}}},
    {"type": "update", "data": {"varId": 1, "properties": {"editable": "App.DEFAULT 0,1,99"}}},
)


def any_json(rng: random.Random, depth: int = 0) -> object:
    leaf: list[Callable[[], object]] = [
        lambda: None,
        lambda: rng.choice([True, False]),
        lambda: rng.choice([0, 1, -1, 2, 3, 10**20, 0.5, -(2**53)]),
        lambda: rng.choice(["", "x", "watch", "update", "\u0000", "é", "x" * 300]),
    ]
    if depth > 3 or rng.random() < 0.6:
        return rng.choice(leaf)()
    if rng.random() < 0.5:
        return [any_json(rng, depth + 1) for _ in range(rng.randint(0, 4))]
    names = ["type", "data", "varId", "id", "parentId", "value", "properties", "path", "messages", "obj"]
    return {rng.choice(names): any_json(rng, depth + 1) for _ in range(rng.randint(0, 4))}


def a_frame(rng: random.Random) -> str:
    roll = rng.random()
    if roll < 0.4:
        return json.dumps({"messages": [rng.choice(FRAMES) for _ in range(rng.randint(1, 3))]})
    if roll < 0.7:
        shorts = [[rng.randint(-3, 60), rng.randint(-1, 6), any_json(rng)][: rng.randint(0, 3)] for _ in range(3)]
        return json.dumps({"userEvent": True, "messages": shorts})
    text = json.dumps(any_json(rng))
    if roll > 0.9:
        cut = rng.randint(0, len(text))
        return text[:cut] + rng.choice(["", '"', "{", "\\u12", "]", "\x00"]) + text[cut:]
    return text


def an_entry(rng: random.Random) -> tuple[str, tuple[Scalar, ...]]:
    roll = rng.random()
    if roll < 0.45:
        return "run", (" ".join(rng.choice(SNIPPETS) for _ in range(rng.randint(1, 2))),)
    if roll < 0.85:
        return "frame", (rng.choice([1, 2, 3]), a_frame(rng))
    plain: list[tuple[str, tuple[Scalar, ...]]] = [
        ("open", (rng.choice([1, 2]),)),
        ("close", (rng.choice([1, 2]),)),
        ("timer", (rng.randint(0, 5),)),
        ("display", (rng.choice(["x", "", "app", "../a", "\x00"]),)),
        ("reload", (rng.choice(["/nowhere", "", "x\x00y"]),)),
        ("viewdefs", (rng.choice(["{}", "[]", "5", "{", '{"App.DEFAULT":["",[]]}', '{"x":5}']),)),
        ("state", ()),
        ("variables", ()),
        ("refresh", ()),
        ("nonsense", ()),
        (rng.choice(["run", "frame", "open", "viewdefs"]), (rng.choice([None, True, 1.5, b"\xff", ""]),)),
    ]
    return rng.choice(plain)


@pytest.mark.slow
@pytest.mark.covers("UI-ROB-1", "UI-EXEC-3")
def test_a_hundred_thousand_random_entries_never_end_the_process(tmp_path: Path) -> None:
    rng = random.Random(2)
    for worker in range(20):
        bench = Bench(tmp_path / str(worker), max_seconds=1, max_memory_mb=32)
        bench.viewdefs(
            App__DEFAULT='<b ui-value="n"></b><input ui-value="n"><i ui-action="go()"></i><ul ui-viewlist="rows"></ul>'
            '<div ui-view="rows?wrapper=lua.ViewList"></div>',
            Row__DEFAULT='<p ui-value="t"></p>',
        )
        bench.run("App = session:prototype('App', {n = 1, rows = EMPTY}) Row = session:prototype('Row', {})")
        bench.run("app = App:new({rows = {}}) mcp.value = app")
        for _ in range(CALLS // 20):
            op, args = an_entry(rng)
            code, message, _trace, result, *frames = bench.core.call(op, args, bench.facts)
            assert isinstance(code, str), (op, args)
            assert op == "run" or "engine/" not in str(message), (op, args, message)
            json.loads(str(result))
            for frame in frames[1::2]:
                json.loads(str(frame))
        assert bench.core.call("run", ("return 1",), bench.facts)[0] == ""
        log = (bench.folder / "log" / "lua-err.log").read_text()
        assert [line for line in log.splitlines() if "change detection: " in line] == []
