"""The journal of an app's state: records, their sum, and a session brought back from them."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lua_runtime.cores import Bench
from ui_mcp.ui.state.records import State

pytestmark = pytest.mark.covers("STATE-2")

APP = """
local Item = session:prototype("Item", { name = "", n = 0 })
App = session:prototype("App", { items = EMPTY, title = "none" })
local count, cache = 0, {}
function App:add(name)
  count = count + 1
  cache[name] = count
  self.items = self.items or {}
  table.insert(self.items, Item:new({ name = name, owner = self }))
  return self.items[#self.items]
end
function App:counted() return count end
function App:cached(name) return cache[name] end
if not session.reloading then app = App:new() end
"""

EQUAL = """
local seen, out = {}, {}
local function text(v)
  local kind = type(v)
  if kind == "table" then
    if seen[v] then return "#" .. seen[v] end
    out.n = (out.n or 0) + 1
    seen[v] = out.n
    local keys, parts = {}, {}
    for k in next, v do keys[#keys + 1] = k end
    table.sort(keys, function(a, b) return tostring(a) .. type(a) < tostring(b) .. type(b) end)
    for i = 1, #keys do parts[i] = text(keys[i]) .. "=" .. text(rawget(v, keys[i])) end
    local meta = getmetatable(v)
    return seen[v] .. "{" .. table.concat(parts, ",") .. "}" .. (meta and tostring(meta.type) or "")
  end
  if kind == "number" and v ~= v then return "nan" end
  if kind == "function" then return "f" end
  return kind .. ":" .. tostring(v)
end
return text(%s)
"""


class Saved:
    """A folder with an app, the worker that runs it, and the sum of what it has reported."""

    def __init__(self, folder: Path, code: str = APP) -> None:
        self.folder = folder
        self.file = folder / "apps" / "app" / "app.lua"
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(code)
        self.bench = Bench(folder)
        self.state = State()
        self.bench.run('require "app"; mcp.display("app")')

    def save(self, *, whole: bool = False) -> list[Any]:
        """Read the changes and add them to the sum."""
        records: list[Any] = self.bench.must("changes", whole)
        if whole:
            self.state = State()
        self.state.apply(records)
        return records

    def restart(self) -> list[str]:
        """Continue in a new worker with what was saved; return what is lost."""
        self.bench = Bench(self.folder)
        lost: list[str] = list(self.bench.must("restore", json.dumps(list(self.state.records()))) or [])
        self.state = State()
        self.save(whole=True)
        return lost

    def rename(self) -> None:
        """Give the prototype of the items its other name."""
        code = self.file.read_text()
        old, new = ("Item", "Thing") if '("Item"' in code else ("Thing", "Item")
        self.file.write_text(code.replace(f'("{old}"', f'("{new}"'))

    def shown(self, what: str) -> str:
        """Everything that can be reached from a Lua expression, as text that shows identities."""
        return str(self.bench.run(EQUAL % what))


@pytest.fixture
def app(tmp_path: Path) -> Saved:
    return Saved(tmp_path)


def test_objects_lists_references_and_the_displayed_app_come_back(app: Saved) -> None:
    app.bench.run('app:add("milk").next = app:add("bread"); app.title = "shopping"; app.me = app')
    app.save()
    before = app.shown("app")

    assert app.restart() == []

    assert app.shown("app") == before
    assert app.bench.run("return mcp.value == app and getmetatable(app) == App and app.items[1].next == app.items[2]")


def test_a_change_is_a_short_record_and_no_change_is_none(app: Saved) -> None:
    app.bench.run('for i = 1, 50 do app:add("item " .. i) end')
    app.save()

    app.bench.run('app.items[7].name = "seven"')

    assert [record[0] for record in app.save()] == ["s"]
    assert app.save() == []


def test_removing_the_first_of_a_long_list_does_not_write_the_list_again(app: Saved) -> None:
    app.bench.run('for i = 1, 500 do app:add("item " .. i) end')
    app.save()
    app.bench.run("table.remove(app.items, 1)")

    records = app.save()
    before = app.shown("app.items")
    app.restart()

    assert [record[0] for record in records] == ["l", "x"]
    assert app.shown("app.items") == before


def test_local_variables_of_a_file_come_back(app: Saved) -> None:
    app.bench.run('app:add("milk"); app:add("bread")')
    app.save()

    app.restart()

    assert app.bench.run('return { app:counted(), app:cached("bread") }') == [2, 2]
    app.bench.run('app:add("eggs")')
    assert app.bench.run("return app:counted()") == 3


def test_an_app_without_a_global_comes_back_although_another_one_is_displayed(tmp_path: Path) -> None:
    code = "local Sum = { type = 'Sum' } Sum.__index = Sum\nsession:createAppVariable(setmetatable({ left = '' }, Sum))"
    app = Saved(tmp_path, code)
    app.bench.run('mcp.value.left = "7"; mcp.value = { type = "Other" }')
    app.save()

    app.restart()

    assert app.bench.run('mcp:display("app") return { mcp.value.left, mcp.value.type }') == ["7", "Sum"]


def test_a_timer_fires_after_the_rest_of_its_time_with_its_variables(app: Saved) -> None:
    app.bench.run('local name = "late"; app.handle = session:setTimeout(function() app:add(name) end, 60000)')
    app.save()

    app.restart()

    [(_, handle, seconds)] = [out for out in app.bench.out if out[0] == "timer"]
    assert 0 < seconds <= 60
    app.bench.must("timer", int(handle))
    assert app.bench.run("return { app.items[1].name, app.handle }") == ["late", int(handle)]


def test_functions_that_share_a_variable_still_share_it(app: Saved) -> None:
    app.bench.run("local n = 5; app.up = function() n = n + 1 end; app.get = function() return n end; app.up()")
    app.save()

    app.restart()

    app.bench.run("app.up()")
    assert app.bench.run("return app.get()") == 7


def test_what_a_type_declares_transient_is_not_saved(tmp_path: Path) -> None:
    app = Saved(tmp_path, APP.replace('title = "none"', 'title = "none", transient = { "busy", "cache" }'))
    app.bench.run('app.busy, app.cache, app.title = true, { big = 1 }, "kept"')
    app.save()

    app.restart()

    assert app.bench.run("return { app.title, tostring(app.busy), tostring(app.cache) }") == ["kept", "nil", "nil"]


def test_code_comes_from_the_file_and_mutate_migrates(app: Saved) -> None:
    app.bench.run('app:add("milk")')
    app.save()
    code = APP.replace("n = 0 })", 'n = 0, done = false })\nfunction Item:mutate() self.name = self.name .. "!" end')
    app.file.write_text(code)

    app.restart()

    assert app.bench.run("return { app.items[1].name, app.items[1].done }") == ["milk!", False]


def test_a_default_that_was_edited_meanwhile_wins_over_the_saved_prototype(app: Saved) -> None:
    app.bench.run('App.title = "changed at run time"')
    app.save()
    app.file.write_text(APP.replace('title = "none"', 'title = "from the file"'))

    app.restart()

    assert app.bench.run("return app.title") == "from the file"


def test_a_coroutine_is_left_out_and_harms_nothing(app: Saved) -> None:
    app.bench.run('app.co = coroutine.create(function() end); app.title = "kept"')
    app.save()

    app.restart()

    assert app.bench.run("return { app.title, tostring(app.co) }") == ["kept", "nil"]


def test_a_state_that_is_too_large_is_refused_with_a_number(app: Saved) -> None:
    app.bench.run("app.big = {}; for i = 1, 100001 do app.big[i] = {} end")

    code, message, _ = app.bench.enter("changes", False)

    assert (code, "more than 100000 tables" in message) == ("memory", True)


PLACES = st.sampled_from([f"app.p{number}" for number in range(4)] + ["shared", "app.items[1]", "app.items[2]"])
SCALARS = st.one_of(
    st.integers(-(2**53), 2**53).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(["true", "1/0", "-1/0", "0/0", '"\\255\\0"', '"\\237\\160\\128"', '"é\\n\\"x\\\\"']),
    st.text(max_size=8).map(lambda text: '"' + "".join(f"\\{byte:03d}" for byte in text.encode()) + '"'),
)
STEPS = st.one_of(
    st.builds(lambda place, value: f"set({place!r}, {value})", PLACES, SCALARS),
    st.builds(lambda place, other: f"link({place!r}, {other!r})", PLACES, PLACES),
    st.builds(lambda place: f"fresh({place!r})", PLACES),
    st.builds(lambda place: f"typed({place!r})", PLACES),
    st.builds(lambda place, at: f"insert({place!r}, {at})", PLACES, st.integers(1, 12)),
    st.builds(lambda place, at: f"remove({place!r}, {at})", PLACES, st.integers(1, 12)),
    st.builds(lambda place, key, value: f"field({place!r}, {key}, {value})", PLACES, SCALARS, SCALARS),
    st.just("SAVE"),
    st.just("WHOLE"),
    st.just("RESTART"),
    st.just("RELOAD"),
    st.just("RENAME"),
)
HELPERS = """
shared = shared or {}
app.items = app.items or { {}, {} }
app.p0, app.p1 = { 1, 2, 3, 4, 5, 6, 7, 8, 9 }, { { 1 }, { 2 }, { 3 }, { 4 }, { 5 }, { 6 }, { 7 }, { 8 } }
local function at(place)
  local parent, key = string.match(place, "^(.*)[.%[]([^.%[]*)$")
  if not parent then return _G, place end
  key = tonumber((string.gsub(key, "%]", ""))) or key
  local found = _G
  for name in string.gmatch(parent, "[^.]+") do found = found[name] end
  return found, key
end
local function get(place) local t, k = at(place) return t[k] end
function set(place, v) local t, k = at(place) if v == v then t[k] = v else t[k] = { v } end end
function link(place, other) set(place, get(other)) end
function fresh(place) set(place, {}) end
function typed(place) set(place, app:add("x")) end
function insert(place, i)
  local t = get(place)
  if type(t) == "table" and t ~= app then for n = 1, i do table.insert(t, math.min(n, #t + 1), { n }) end end
end
function remove(place, i)
  local t = get(place)
  if type(t) == "table" and t ~= app then table.remove(t, math.min(i, #t)) end
end
function field(place, k, v) local t = get(place) if type(t) == "table" and t ~= app and k == k then t[k] = v end end
"""


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEPS, min_size=10, max_size=40))
def test_any_state_after_any_changes_comes_back_equal(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str]
) -> None:
    app = Saved(tmp_path_factory.mktemp("state"))
    app.bench.run(HELPERS)
    app.save()
    for step in (*steps, "SAVE"):
        if step in {"SAVE", "WHOLE"}:
            app.save(whole=step == "WHOLE")
        elif step in {"RELOAD", "RENAME"}:
            if step == "RENAME":
                app.rename()
            app.bench.must("reload", str(app.file))
        elif step == "RESTART":
            app.save()
            app.restart()
        else:
            app.bench.enter("run", f"app.items = app.items or {{}}; {step}")
    before = [app.shown("app"), app.shown("shared"), app.shown("App")]

    app.restart()

    assert [app.shown("app"), app.shown("shared"), app.shown("App")] == before


def test_variables_and_subscriptions_made_at_run_time_come_back(app: Saved) -> None:
    app.bench.run("made = session:createVariable(1, app, { path = 'title' })")
    app.bench.run("mcp.subscribe('news', function(data) app.title = data.text end, { favicon = 'f.ico' })")
    app.save()

    app.restart()
    page = app.bench.open(expand=False)
    app.bench.must("published", "news", '{"text": "hello"}')

    assert app.bench.run("return app.title") == "hello"
    assert app.bench.run("return session:createVariable(1, app, {}) < made") is True
    assert ("subscribed", '{"topic":"news","favicon":"f.ico"}', 0) in app.bench.out or (
        "subscribed", '{"favicon":"f.ico","topic":"news"}', 0) in app.bench.out  # fmt: skip
    assert page is not None
