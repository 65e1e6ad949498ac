"""What app code can and cannot do."""

from pathlib import Path

import pytest

from lua_runtime.cores import PATIENCE, Bench
from ui_mcp.lua_runtime.vm import verify


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("return unpack({1, 2})", 1),
        ("return loadstring('return 5')()", 5),
        ("return table.getn({1, 2, 3})", 3),
        ("return math.log10(100)", 2),
        ("return tostring(10 / 2)", "5"),
        ("return tostring(2^53)", "9.007199254741e+15"),
        ("return string.format('%s', nil)", "nil"),
        ("return string.format('%q', 'a\\nb\"')", '"a\\nb\\""'),
        ("return string.format('%d%% %5.1f', 3.7, 2)", "3%   2.0"),
        ("local t = {} table.insert(t, 5, 'x') return t[5]", "x"),
        ("local t = {1, 2} table.insert(t, 1, 0) return t", [0, 1, 2]),
        ("local t = {} return table.remove(t) == nil", True),
        ("local t = {1, 2, 3} table.remove(t, 1) return t", [2, 3]),
        ("for i = 1, 3 do if i == 2 then goto done end end ::done:: return 'went'", "went"),
        ("local function f() return x end setfenv(f, {x = 7}) return f()", 7),
        ("x = 3 return getfenv(1).x", 3),
        ("function string.shout(s) return s:upper() .. '!' end return ('a'):shout()", "A!"),
        ("return (select('#', pcall(error)))", 2),
        (
            "local co = coroutine.wrap(function(a) return coroutine.yield(a + 1) end) return {co(1), co(5)}",
            [2, 5],
        ),
        ("return _VERSION", "Lua 5.1"),
        ("return #'\\0\\255'", 2),
    ],
)
@pytest.mark.covers("UI-LUA-1", "UI-LUA-2", "UI-LUA-3")
def test_the_language_is_lua_5_1_with_goto(bench: Bench, code: str, expected: object) -> None:
    assert bench.run(code) == expected


@pytest.mark.parametrize(
    "code",
    [
        "python", "ffi", "jit", "module", "newproxy", "debug.sethook", "debug.getregistry", "debug.getupvalue",
        "debug.setmetatable", "debug.getinfo(1, 'f').func", "string.dump", "package.loadlib", "package.cpath",
        "getmetatable('').__index", "io.popen('id')", "os.getenv('PATH')", "getfenv(mcp.display) ~= _G and 1",
        "getfenv(0) ~= _G and 1", "getfenv(print) ~= _G and 1", "getmetatable(session.create)",
        "getmetatable(io.open('x', 'w'))",
    ],
)  # fmt: skip
@pytest.mark.covers("UI-PERM-3")
def test_there_is_no_way_out(bench: Bench, code: str) -> None:
    assert not bench.run(f"local ok, v = pcall(function() return {code} end) return ok and v or nil")


@pytest.mark.parametrize(
    "code",
    [
        "os.exit(1)", "setfenv(mcp.display, {})", "setfenv(print, {})", "setmetatable({}, {__gc = print})",
        "string.rep('x', 1e10)", "local function f() return f() + 1 end f()", "error()", "error(nil)",
        "local s = string.rep('x', 1e6) local t = {} for i = 1, 1e6 do t[i] = s .. i end",
        "local t = setmetatable({}, {}) getmetatable(t).__index = t return t.x",
        "error(setmetatable({}, {__tostring = error}))", "coroutine.wrap(error)('x')", "string.rep()",
        "local a = {} for i = 1, 1e5 do a = {a} end return a.b.c", "return table.concat({{}})",
        "load(function() error('r') end)()",
        "loadstring('\\27Lua')()", "('x'):bad()", "return #nil", "error({code = 1})",
        "error({fault = {code = {}, message = {}}})", "error(setmetatable({}, {__index = error, __metatable = 1}))",
    ],
)  # fmt: skip
@pytest.mark.covers("UI-EXEC-3", "UI-PERM-3", "UI-PERM-4", "UI-BUDG-4")
def test_a_failing_chunk_is_an_error_and_the_session_lives(bench: Bench, code: str) -> None:
    code_name, message, _ = bench.enter("run", code)

    assert code_name in {"lua-error", "memory"}
    assert message
    assert bench.run("return 1 + 1") == 2


@pytest.mark.parametrize(
    "code",
    [
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "while true do xpcall(function() while true do end end, function() end) end",
        "coroutine.wrap(function() while true do end end)()",
        "while true do local co = coroutine.create(function() while true do end end) coroutine.resume(co) end",
        "while true do load(function() while true do end end) end",
        "local t = setmetatable({}, {__index = function(t, k) while true do end end}) return t.x",
        "return tostring(setmetatable({}, {__tostring = function() while true do end end}))",
        "print(setmetatable({}, {__tostring = function() while true do end end}))",
        "table.sort({3, 2, 1}, function() while true do end end)",
        "('x'):rep(9):gsub('x', function() while true do end end)",
        "repeat until false",
        "::top:: goto top",
    ],
)
@pytest.mark.covers("UI-BUDG-1", "UI-BUDG-2")
def test_code_that_never_ends_is_stopped(bench: Bench, code: str) -> None:
    bench.allow(0.05)

    code_name, message, _ = bench.enter("run", code)

    assert (code_name, message) == ("timeout", "timeout: Lua code ran longer than 0.05 s, at mcp-run:1")
    bench.allow(PATIENCE)
    assert bench.run("return 'alive'") == "alive"


@pytest.mark.parametrize(
    "code",
    [
        "local t = {} for i = 1, 1e9 do t[i] = {} end",
        "local s = 'x' while true do s = s .. s end",
        "local s = {} while true do s[#s + 1] = ('x'):rep(1e6) .. #s end",
        "local t = {} while true do pcall(function() while true do t[#t + 1] = {} end end) end",
    ],
)
@pytest.mark.covers("UI-BUDG-4")
def test_memory_is_capped_and_given_back(tmp_path: Path, code: str) -> None:
    bench = Bench(tmp_path, max_memory_mb=16, max_seconds=3)

    code_name, message, _ = bench.enter("run", code)

    assert (code_name, message) in {
        ("memory", "memory: Lua memory limit reached"),
        ("timeout", "timeout: Lua code ran longer than 3 s, at mcp-run:1"),
    }
    assert bench.run("return #('x'):rep(1000)") == 1000
    assert not bench.core.overfull


@pytest.mark.covers("UI-BUDG-4")
def test_a_worker_that_keeps_too_much_says_so(tmp_path: Path) -> None:
    bench = Bench(tmp_path, max_memory_mb=16)

    code, message, _ = bench.enter("run", "keep = {} while true do keep = {keep} end")

    assert (code, message) == ("memory", "memory: Lua memory limit reached")
    assert bench.core.overfull


@pytest.mark.covers("UI-BUDG-3")
def test_a_binding_out_of_time_is_put_aside_and_the_rest_goes_on(bench: Bench) -> None:
    bench.viewdefs(App__DEFAULT='<b ui-value="stuck()"></b><b ui-value="n"></b>')
    bench.run("App = session:prototype('App', {n = 1, spins = 0}) app = App:new() mcp.value = app")
    bench.run("function App:stuck() self.spins = self.spins + 1 while true do end end")

    bench.allow(0.5)
    page = bench.open()
    bench.allow(PATIENCE)
    bench.run("app.n = 2")

    assert page.tree()[1][0][1] == [None, 2]
    assert [error["code"] for error in page.errors] == ["timeout"]
    assert bench.run("return app.spins") == 1


class TestPermissions:
    """`[lua.permissions]`."""

    @pytest.fixture
    def project(self, tmp_path: Path) -> Bench:
        (tmp_path / "project").mkdir()
        (tmp_path / "secret.txt").write_text("secret")
        (tmp_path / "project" / "link.txt").symlink_to(tmp_path / "secret.txt")
        (tmp_path / "project" / ".git").mkdir()
        return Bench(tmp_path / "project", permissions={"write": ["{project}"]})

    @pytest.mark.covers("UI-PERM-1", "UI-DIR-6")
    def test_files_of_the_permitted_area_are_open(self, project: Bench) -> None:
        project.run("local f = io.open('notes.txt', 'w') f:write('a\\nb') f:close()")

        assert (project.folder / "notes.txt").read_text() == "a\nb"
        assert project.run("local t = {} for line in io.lines('notes.txt') do t[#t + 1] = line end return t") == [
            "a",
            "b",
        ]
        assert project.run("os.rename('notes.txt', 'n2') return io.open('n2'):read('*a')") == "a\nb"
        assert project.run("return os.remove('n2')") is True
        assert project.run("local f = io.open(os.tmpname(), 'w+') f:write('x') return io.type(f)") == "file"

    @pytest.mark.covers("UI-PERM-1")
    def test_a_project_that_is_the_home_directory_means_the_base_directory(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        (tmp_path / "ui").mkdir()
        (tmp_path / "private.txt").write_text("private")
        bench = Bench(tmp_path / "ui", project=str(tmp_path))

        assert bench.run("return io.open('private.txt') == nil") is True
        assert bench.run("return io.open('ui/mine.txt') == nil and io.open('ui') ~= nil") is True

    @pytest.mark.parametrize(
        ("code", "setting"),
        [
            ("io.open('/etc/hostname')", "read"),
            ("io.open('../secret.txt')", "read"),
            ("io.open('link.txt')", "read"),
            ("io.open('../new.txt', 'w')", "write"),
            ("io.open('.git/config', 'w')", "write"),
            ("io.open('.claude/settings.local.json', 'w')", "write"),
            ("os.remove('/etc/hostname')", "write"),
            ("os.rename('x', '/tmp/x')", "write"),
            ("loadfile('../secret.txt')", "read"),
        ],
    )
    @pytest.mark.covers("UI-PERM-1", "UI-PERM-2")
    def test_everything_else_is_refused_by_name(self, project: Bench, code: str, setting: str) -> None:
        refused = project.run(f"local ok, why, number = {code} return {{ok == nil, why, number}}")

        assert refused[0] is True
        reason, _, way_out = refused[1].partition("\n")
        assert reason.startswith("permission denied: ")
        assert reason.endswith(f"(lua.permissions.{setting})")
        assert f"\n{setting} = [" in way_out

    @pytest.mark.covers("UI-PERM-2")
    def test_processes_are_off_unless_allowed(self, project: Bench) -> None:
        why = "permission denied: process execution is off (lua.permissions.exec): id"

        opened, said = project.run("return {io.popen('id') == nil, (select(2, io.popen('id')))}")
        assert (opened, said.splitlines()[0], said.splitlines()[-1]) == (True, why, "exec = true")
        assert project.run("return {os.execute(), (os.execute('id')), os.getenv('PATH') == nil}") == [0, -1, True]
        assert project.run("return (select(2, os.execute('id')))") == said

    @pytest.mark.covers("UI-PERM-5")
    def test_an_allowed_process_runs_in_the_project_and_ends_in_time(self, tmp_path: Path) -> None:
        bench = Bench(tmp_path, permissions={"exec": True, "exec_timeout": 60})

        assert bench.run("return io.popen('pwd; echo $UI_MCP'):read('*a')") == f"{tmp_path}\ntrue\n"
        assert bench.run(
            "local p = io.popen('printf \"1\\\\n2\"') return {p:read('*l'), p:read('*n'), p:read('*l') == nil}"
        ) == [
            "1",
            2,
            True,
        ]
        assert bench.run("return os.execute('exit 3')") == 3
        hasty = Bench(tmp_path, permissions={"exec": True, "exec_timeout": 0.3})
        assert hasty.run("return os.execute('sleep 900')") == -1


@pytest.mark.covers("UI-LOG-1", "UI-LOG-2", "UI-LOG-3")
class TestOutput:
    """Log files, whatever happens to them meanwhile."""

    def test_print_and_streams_go_to_the_logs(self, bench: Bench) -> None:
        bench.run("print('a', 1, nil) io.write('w', 2) io.stdout:write('o\\n') io.stderr:write('e\\n')")

        assert (bench.folder / "log" / "lua.log").read_text() == "a\t1\tnil\nw2o\n"
        assert (bench.folder / "log" / "lua-err.log").read_text() == "e\n"

    def test_a_truncated_or_moved_file_is_written_from_its_end(self, bench: Bench) -> None:
        log = bench.folder / "log" / "lua.log"
        bench.run("print('one')")
        log.write_text("")
        bench.run("print('two')")
        assert log.read_text() == "two\n"
        log.rename(log.with_suffix(".old"))

        bench.run("print('three')")

        assert log.read_text() == "three\n"

    def test_a_long_file_is_rotated(self, bench: Bench) -> None:
        bench.run("print(('x'):rep(6e6)) print(('y'):rep(6e6)) print('z')")

        assert (bench.folder / "log" / "lua.log").read_text() == "z\n"
        assert (bench.folder / "log" / "lua.log.1").stat().st_size == 12_000_002

    def test_uncaught_errors_are_logged_with_origin(self, bench: Bench) -> None:
        bench.enter("run", "error('boom')")

        assert "run: mcp-run:1: boom" in (bench.folder / "log" / "lua-err.log").read_text()


@pytest.mark.covers("UI-BUDG-5")
def test_a_lua_without_budgets_is_refused() -> None:
    class Careless:
        """A runtime whose limits do nothing."""

        def execute(self, _code: bytes) -> bool:
            return False

        def set_max_memory(self, _limit: int) -> None:
            return

        def get_memory_used(self) -> int:
            return 0

    with pytest.raises(RuntimeError, match="enforces no limits"):
        verify(Careless())
