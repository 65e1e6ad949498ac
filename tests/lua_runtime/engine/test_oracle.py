"""Change detection agrees with a naive evaluation of everything, after every one of thousands of random batches."""

import random
from pathlib import Path
from typing import Any

import pytest

from lua_runtime.cores import Bench

ROW = '<b ui-value="name"></b><i ui-value="risky()"></i><u ui-class-on="flag"></u><s ui-value="deep.er.value"></s>'
TEMPLATES = {
    "App__DEFAULT": (
        '<h1 ui-value="title"></h1><p ui-value="risky()"></p><div ui-view="current"></div>'
        '<p ui-value="items.0.name"></p>'
        '<ul ui-viewlist="items"></ul><div ui-view="items?wrapper=lua.ViewList"></div><p ui-value="list"></p>'
        '<p ui-value="calm()?priority=high"></p><p ui-value="title?priority=low"></p>'
    ),
    "A__DEFAULT": ROW,
    "B__DEFAULT": ROW + '<div ui-view="kid"></div><ul ui-viewlist="kids"></ul><p ui-value="...title"></p>',
    "A__list-item": '<b ui-value="name"></b>',
}

SETUP = """
local Base = {}
function Base:risky()
  if self.raise then error("raised " .. tostring(self.name), 0) end
  return self.count
end
function Base:calm() return self.count end
for _, kind in ipairs({"App", "A", "B"}) do
  _G[kind] = session:prototype(kind, {})
  for name, f in pairs(Base) do _G[kind][name] = f end
end
B.__eq = function() return true end
app = App:new({title = "t", items = {}})
mcp.value = app
pool = {}

local function read(o, path)
  for part in path:gmatch("[^.]+") do
    if o == nil then return nil end
    local call = part:match("^(.*)%(%)$")
    if call then o = o[call](o)
    elseif part:match("^%d+$") then o = rawget(o, tonumber(part) + 1)
    else o = o[part] end
  end
  return o
end

local function is_list(t)
  if type(t) ~= "table" or t.type then return false end
  local any = false
  for k in pairs(t) do
    if type(k) == "number" then any = true
    elseif not (type(k) == "string" and k:sub(1, 1) == "_") then return false end
  end
  return any
end

local function flat(v)
  if type(v) == "table" then
    if not is_list(v) then return "<object>" end
    local out = {}
    for i = 1, #v do out[i] = type(v[i]) == "table" and "<object>" or v[i] end
    return out
  end
  if type(v) == "number" and (v ~= v or v == 1 / 0) then return nil end
  if type(v) == "function" then return nil end
  return v
end

local show
local function value(o, path, up)
  if path:sub(1, 3) == "..." then o, path = up, path:sub(4) end
  local ok, v = pcall(read, o, path)
  if not ok then return {raised = v} end
  return {value = flat(v)}
end

local function rows(o, path, up, namespace)
  local ok, list = pcall(read, o, path)
  local out = {}
  if ok and is_list(list) then
    for i = 1, #list do out[i] = show(list[i], up or list, namespace) or {none = true} end
  end
  return {rows = out, n = #out}
end

local row = {"name", "risky()", "flag", "deep.er.value"}
function show(o, up, namespace)
  if type(o) ~= "table" then return nil end
  local values = {}
  if o.type == "App" then
    local list = o.items == nil and {none = true} or {wrapped = rows(o, "items", {}, "list-item")}
    values = {value(o, "title"), value(o, "risky()"), show(o.current, o, "") or {none = true}, value(o, "items.0.name"),
      rows(o, "items", nil, ""), list, value(o, "list"), value(o, "calm()"), value(o, "title")}
    return {key = "App.DEFAULT", values = values}
  end
  if o.type == "A" and namespace == "list-item" then
    return {key = "A.list-item", values = {value(o, "name")}}
  end
  if o.type ~= "A" and o.type ~= "B" then return nil end
  for i = 1, #row do values[i] = value(o, row[i]) end
  if o.type == "B" then
    values[5] = show(o.kid, o, namespace) or {none = true}
    values[6] = rows(o, "kids", nil, namespace)
    values[7] = value(o, "...title", up)
  end
  return {key = o.type .. ".DEFAULT", values = values}
end

function nth(i) return app.items[i] end
function put(o, fields)
  for name, value in pairs(fields) do o[name] = value end
  for _, name in ipairs({"name", "flag", "raise"}) do
    if fields[name] == nil and math.random(4) == 1 then o[name] = nil end
  end
end
function oracle() return show(app, nil, "") end
"""


def expected(node: Any, before: Any) -> Any:
    """Turn the oracle's answer into the page's form."""
    if not node or "key" not in node:
        return None
    old = before if before and before[0] == node["key"] else [None, [], {}]
    olds = old[1] + [None] * (len(node["values"]) - len(old[1]))
    values: list[Any] = []
    errors: dict[int, str] = {}
    for position, (entry, was) in enumerate(zip(node["values"], olds, strict=True)):
        if "raised" in entry:
            errors[position] = entry["raised"]
            values.append(KEPT)
        elif "wrapped" in entry:
            values.append(wrapped(entry["wrapped"], was))
        elif "rows" in entry:
            values.append(rows(entry, was))
        elif "key" in entry or "none" in entry:
            values.append(expected(entry, was))
        else:
            values.append(entry.get("value"))
    return [node["key"], values, errors]


def rows(entry: Any, was: Any) -> list[Any]:
    old = list(was or ["rows"]) + [None] * entry["n"]
    return ["rows", *(expected(row, old[i + 1]) for i, row in enumerate(entry["rows"] or []))]


def wrapped(entry: Any, was: Any) -> list[Any]:
    """The two levels a ViewList puts between a list and its rows."""
    old = was[1][0][1:] if was else []
    olds = old + [None] * entry["n"]
    inner = [
        ["lua.ViewListItem.list-item", [expected(row, olds[i][1][0] if olds[i] else None)], {}]
        for i, row in enumerate(entry["rows"] or [])
    ]
    return ["lua.ViewList.DEFAULT", [["rows", *inner]], {}]


KEPT = "<what it showed before>"


def normal(tree: Any) -> Any:
    """References have numbers, errors have words, and a raising binding keeps a value that the oracle cannot know.

    A row keeps it when other rows are put in or taken out before it.
    """
    if isinstance(tree, list) and len(tree) == 3 and isinstance(tree[2], dict) and isinstance(tree[1], list):
        key, values, errors = tree
        return [
            key,
            [KEPT if at in errors else normal(value) for at, value in enumerate(values)],
            dict.fromkeys(errors),
        ]
    if isinstance(tree, dict) and set(tree) == {"obj"}:
        return "<object>"
    if isinstance(tree, list):
        return [normal(item) for item in tree]
    return dict.fromkeys(tree) if isinstance(tree, dict) else tree


VALUES = [
    "nil",
    "true",
    "false",
    "0",
    "1.5",
    "-3",
    "0/0",
    "1/0",
    "'x'",
    "'é\"'",
    "''",
    "{}",
    "{1, 2}",
    "{1, {}}",
    "print",
]


def an_object(rng: random.Random) -> str:
    if rng.random() < 0.5:
        return f"pool[{rng.randint(1, 8)}]"
    return f"{rng.choice('AB')}:new({{name = 'n{rng.randint(0, 5)}', raise = {rng.choice(['true', 'nil', 'nil'])}}})"


def a_change(rng: random.Random) -> str:
    where = rng.choice(["app", f"pool[{rng.randint(1, 8)}]", f"nth({rng.randint(1, 5)})"])
    fields = rng.sample(["name", "flag", "count", "title", "list", "deep", "raise"], rng.randint(1, 5))
    match rng.randint(0, 11):
        case 0 | 1 | 2:
            return f"put({where}, {{{', '.join(f'{name} = {rng.choice(VALUES)}' for name in fields)}}})"
        case 3:
            return f"put({where}, {{deep = {{er = {rng.choice(['nil', '5', '{value = 7}', '{value = print}'])}}}}})"
        case 4:
            return f"pool[{rng.randint(1, 8)}] = {an_object(rng)}"
        case 5 | 6:
            return f"table.insert(app.items, math.random(1, #app.items + 1), {an_object(rng)})"
        case 7:
            return "table.remove(app.items, math.random(1, #app.items))"
        case 8:
            return "table.sort(app.items, function(a, b) return tostring(a) < tostring(b) end)"
        case 9:
            return f"app.current = {rng.choice(['nil', an_object(rng), '3'])}"
        case 10:
            return f"app.items = {rng.choice(['{}', '{' + an_object(rng) + '}', 'nil', '7', '{1, 2}', '{x = 1}'])}"
        case _:
            kid = rng.choice(["nil", "A:new({name = 1})"])
            return (
                f"put({where}, {{kid = {kid}, kids = {{A:new({{name = {rng.randint(0, 9)}}}), {rng.choice(VALUES)}}}}})"
            )


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.covers("UI-VAR-10", "UI-VAR-11", "UI-VAR-12", "UI-VAR-18", "UI-VAR-20", "UI-ROB-2", "UI-LIST-2")
def test_the_page_always_shows_what_a_naive_evaluation_gives(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    bench = Bench(tmp_path)
    bench.viewdefs(**TEMPLATES)
    bench.run(SETUP + f"math.randomseed({seed})")
    page = bench.open()
    shown = None

    for batch in range(1000):
        code = "\n".join(f"pcall(function() {a_change(rng)} end)" for _ in range(rng.randint(1, 6)))
        bench.run(code)

        shown = normal(expected(bench.run("return oracle()"), shown))
        # MCP.DEFAULT holds the app.
        tree = normal(page.tree())
        assert tree[1][0] == shown, f"seed {seed}, batch {batch}:\n{code}"
