"""Known ways out of embedded Lua, tried by app code: none leads anywhere (for bombs see interaction/test_bombs.py)."""

from pathlib import Path

import pytest

from lua_runtime.cores import Bench

CANARY = "canary-outside-the-project"
TRICKS = {
    "bytecode by load": "return load('\\27Lua\\82\\0\\1\\4\\8\\4\\8\\0', 'x', 'b')",
    "bytecode by loadstring": "return loadstring('\\27LuaR\\0')",
    "bytecode by reader": "local s return load(function() if not s then s = true return '\\27Lua' end end)",
    "bytecode by mode": "return load('\\27Lua', 'x', 'bt')",
    "dump": "return string.dump(function() end)",
    "dump by method": "return ('x').dump",
    "dump by metatable": "return getmetatable('').__index.dump",
    "string metatable": "getmetatable('').__index = function() return 'owned' end return ('x').anything",
    "debug registry": "return debug.getregistry()",
    "debug upvalue": "return debug.getupvalue(io.open, 1)",
    "debug set upvalue": "return debug.setupvalue(io.open, 1, 1)",
    "debug join": "return debug.upvaluejoin(io.open, 1, io.open, 2)",
    "debug local": "return debug.getlocal(2, 1)",
    "debug metatable": "debug.setmetatable(0, {__index = 'x'})",
    "debug hook": "debug.sethook(function() end, '', 1)",
    "debug function": "return debug.getinfo(1, 'f').func",
    "debug user value": "return debug.getuservalue(io.stdout)",
    "python bridge": "return python.eval('1')",
    "python builtins": "return python.builtins.open('/etc/passwd')",
    "python by package": "return require('python').eval('1')",
    "python by loaded": "return package.loaded.python.eval('1')",
    "python attributes of bridged functions": "return mcp.display.__globals__ or session.create.__class__",
    "python attributes by index": "return io.open.__self__",
    "library": "return package.loadlib('libc.so.6', 'system')",
    "searchers": "return (package.searchers or package.loaders)[3]",
    "path": "package.cpath = '/tmp/?.so' return require('evil')",
    "preload": "return package.preload.ffi",
    "ffi": "return require('ffi').C.getpid()",
    "process": "return io.popen('id'):read('*a')",
    "execute": "assert(os.execute('id') == 0)",
    "environment": "return os.getenv('PATH')",
    "file by dofile": "return dofile('{outside}')",
    "file by loadfile": "return assert(loadfile('{outside}'))",
    "file by require": "package.path = '{folder}/?.txt' return require('outside')",
    "file by lines": "return io.lines('{outside}')()",
    "file by input": "io.input('{outside}') return io.read('*a')",
    "file by dots": "return assert(io.open('../outside.txt')):read('*a')",
    "file by nul": "return assert(io.open('inside.txt\\0/../../outside.txt')):read('*a')",
    "file by proc": "return assert(io.open('/proc/self/environ')):read('*a')",
    "file by rename": "assert(os.rename('{outside}', 'mine.txt'))",
    "file by link": "return assert(io.open('link/outside.txt')):read('*a')",
    "finalizer": "return setmetatable({}, {__gc = function() os.exit() end})",
    "proxy": "return newproxy(true)",
    "environment of a function of ours": "setfenv(print, {})",
    "environment of level 0": "local g = getfenv(0) assert(g ~= _G) return g.python",
    "coroutine out": "return coroutine.wrap(function() return getfenv(0).python.eval('1') end)()",
    "yield over the border": "return coroutine.yield(1).python",
    "error object with metatable": "error(setmetatable({}, {__tostring = function() return python.eval('1') end}))",
    "xpcall handler": "local _, r = xpcall(error, function() return debug.getregistry() end) return r.python",
    "global metatable": "setmetatable(_G, {__index = function(_, k) return rawget(_G, k) end}) return python",
    "hidden global": "for k, v in pairs(_G) do if type(v) == 'userdata' then return v.eval('1') end end error('none')",
    "reachable userdata": """
        local seen, found = {}, nil
        local function walk(v, depth)
            if depth > 6 or seen[v] then return end
            if type(v) == 'userdata' and io.type(v) == nil then found = v end
            if type(v) ~= 'table' then return end
            seen[v] = true
            for k, w in next, v do walk(k, depth + 1) walk(w, depth + 1) end
            local mt = getmetatable(v) if type(mt) == 'table' then walk(mt, depth + 1) end
        end
        walk(_G, 0) assert(found) return found
    """,
}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "outside.txt").write_text(CANARY)
    (project / "inside.txt").write_text("inside")
    (project / "link").symlink_to(tmp_path)
    return Bench(project, max_seconds=30)


@pytest.mark.covers("UI-PERM-1", "UI-PERM-3")
@pytest.mark.parametrize("trick", TRICKS)
def test_a_known_trick_leads_nowhere(trick: str, bench: Bench, tmp_path: Path) -> None:
    code = TRICKS[trick].replace("{outside}", str(tmp_path / "outside.txt")).replace("{folder}", str(tmp_path))

    outcome = bench.run(
        "local ok, a, b = pcall(assert(loadstring(" + _quoted(code) + ")))\n"
        "if not ok or a == nil or a == false then return 'nothing' end\n"
        "return type(a) .. ': ' .. tostring(a)"
    )

    assert outcome == "nothing", outcome
    assert (tmp_path / "outside.txt").read_text() == CANARY
    assert bench.run("return ('x'):upper() .. tostring(1 + 1)") == "X2"


@pytest.mark.covers("UI-PERM-3")
def test_one_apps_poison_does_not_reach_the_engine(bench: Bench) -> None:
    bench.run(
        "string.format = nil table.concat = error tostring = nil pairs = error type = nil pcall = nil select = nil "
        "string.rep = error setmetatable = nil getmetatable = nil next = nil rawget = nil math.floor = nil"
    )

    assert bench.run("return 1 + 1") == 2
    bench.viewdefs(App__DEFAULT='<b ui-value="n"></b>')
    bench.run("App = session:prototype('App', {n = 1}) app = App:new() mcp.value = app")
    page = bench.open()
    bench.run("app.n = 2")

    assert page.errors == []


def _quoted(code: str) -> str:
    return "[==[\n" + code + "]==]"
