-- Brings back the state that the records of state.lua describe, after the files have run again.
--
-- A table or function that the files have made under the same name is filled instead of replaced, so that whatever
-- else refers to it sees the restored state too. Code comes from the files; only functions that no file declares come
-- from the records.
local E, host = ...
local OP = E.wire.op
local env, prototypes, loader, state, json, limits = E.env, E.prototypes, E.loader, E.state, E.json, E.limits
local type, next, rawequal, rawget, rawset, tonumber, load = type, next, rawequal, rawget, rawset, tonumber, load
local getmetatable, setmetatable = debug.getmetatable, debug.setmetatable
local getinfo, getupvalue, setupvalue, upvaluejoin = debug.getinfo, debug.getupvalue, debug.setupvalue, debug.upvaluejoin
local gsub, char, huge = string.gsub, string.char, math.huge
local null, LENGTH = json.null, json.LENGTH
local DOES_NOT_EXIST = {}

local function unhex(s)
  return (gsub(s, "%x%x", function(pair) return char(tonumber(pair, 16)) end))
end

-- One restoration: `nodes` by number, `objects` that they have become, `cells` as { function, index }.
local function new_run()
  return { nodes = {}, objects = {}, used = {}, files = {}, names = {}, timers = {}, cells = {}, kept = {}, lost = {}, last = 0, queue = {} }
end

local function node(run, n, kind)
  local found = run.nodes[n]
  if not found then
    found = { kind = kind, keys = {}, values = {} }
    run.nodes[n] = found
    if n > run.last then run.last = n end
  end
  found.kind = kind or found.kind
  return found
end

local readers = {
  t = function(run, r)
    local found = node(run, r[2], "t")
    found.meta = r[3] ~= null and r[3] or nil
    local keys, values = found.keys, found.values
    for i = 4, r[LENGTH], 2 do
      local at = #keys + 1
      keys[at], values[at] = r[i], r[i + 1]
    end
  end,
  c = function(run, r)
    local found = node(run, r[2], "c")
    found.kept, found.value = r[LENGTH] > 2, r[3]
  end,
  f = function(run, r)
    local found = node(run, r[2], "f")
    found.file, found.code, found.cells = r[3], r[5], {}
    for i = 6, r[LENGTH], 2 do found.cells[#found.cells + 1] = { r[i], r[i + 1] } end
  end,
  p = function(run, r) run.names[r[2]] = { n = r[3], digest = r[4], type = r[5] } end,
  g = function(run, r) run.globals = r[2] end,
  k = function(run, r) run.kept[r[2]] = r[3] end,
  r = function(run, r) run.files[#run.files + 1] = { name = r[2], key = r[3], value = r[4], root = r[5] } end,
  v = function(run, r) run.displayed = r[2] end,
  w = function(run, r) run.timers[r[2]] = { run = r[3], again = r[4] ~= null and r[4] or nil, due = r[5] ~= null and r[5] or nil } end,
}

local function number_in(v)
  return type(v) == "table" and v.n or nil
end

-- The Lua value of a recorded one; DOES_NOT_EXIST if it refers to something that is gone.
local infinite = { inf = huge, ["-inf"] = -huge, nan = 0 / 0 }
local function value(run, v)
  if v == null then return nil end
  if type(v) ~= "table" then return v end
  if v.b then return unhex(v.b) end
  if v.i then return infinite[v.i] end
  local found
  if v.n then found = run.objects[v.n] else found = E.state_values.provided(v.e) end
  if found == nil then return DOES_NOT_EXIST end
  return found
end

local function bind(run, n, object)
  run.objects[n], run.used[object] = object, true
  run.queue[#run.queue + 1] = n
end

-- Whether something that the files have made may stand for a node: of the same kind, type and file.
local function fits(run, n, fresh)
  local wanted, kind = run.nodes[n], type(fresh)
  if not wanted or run.objects[n] ~= nil or (kind ~= "table" and kind ~= "function") or run.used[fresh] then return false end
  if kind == "function" then return wanted.kind == "f" and getinfo(fresh, "S").source == wanted.file end
  if wanted.kind ~= "t" or prototypes.known_as(fresh) or rawequal(fresh, env) then return false end
  local meta = getmetatable(fresh)
  local expected = wanted.meta ~= nil and value(run, wanted.meta) or nil
  return rawequal(meta, expected) or (expected == DOES_NOT_EXIST and type(meta) == "table")
end

local function match_slot(run, v, fresh)
  local n = number_in(v)
  if n and fresh ~= nil and fits(run, n, fresh) then bind(run, n, fresh) end
end

-- Indices of a function's upvalues, in the order of the recorded names.
local function upvalues(f, wanted)
  local found, taken = {}, {}
  for at = 1, #wanted do
    for i = 1, 255 do
      local name = getupvalue(f, i)
      if name == nil then break end
      if name == wanted[at][1] and not taken[i] then
        found[at], taken[i] = i, true
        break
      end
    end
  end
  return found
end

local function match_function(run, wanted, f)
  local indices = upvalues(f, wanted.cells)
  for at = 1, #wanted.cells do
    local i, n = indices[at], wanted.cells[at][2]
    if i then
      run.cells[n] = run.cells[n] or { f, i }
      local cell = run.nodes[n]
      if cell and cell.kept then
        local _, fresh = getupvalue(f, i)
        match_slot(run, cell.value, fresh)
      end
    end
  end
end

local function match_table(run, wanted, t)
  local meta = getmetatable(t)
  if type(meta) == "table" then match_slot(run, wanted.meta, meta) end
  for i = 1, #wanted.keys do
    local key = value(run, wanted.keys[i])
    if key ~= DOES_NOT_EXIST then match_slot(run, wanted.values[i], rawget(t, key)) end
  end
end

-- Find what the files have made for the nodes, from the names down.
local function match_all(run)
  for name, found in next, run.names do
    local proto = prototypes.get(name)
    if proto then bind(run, found.n, proto) else run.lost[#run.lost + 1] = "no file declares the type " .. name end
  end
  if run.globals then bind(run, run.globals, env) end
  for name, n in next, run.kept do
    if E.kept[name] then
      bind(run, n, E.kept[name])
      node(run, n, "t").made = true -- what files have added is not cleared
    end
  end
  for i = 1, #run.files do
    local entry = loader.by_key(run.files[i].key)
    if entry then
      match_slot(run, run.files[i].value, entry.value)
      match_slot(run, run.files[i].root, entry.root)
    end
  end
  local at = 0
  while at < #run.queue do
    at = at + 1
    local n = run.queue[at]
    local wanted, object = run.nodes[n], run.objects[n]
    if wanted and type(object) == "function" then match_function(run, wanted, object)
    elseif wanted then match_table(run, wanted, object) end
  end
end

local function make_function(run, n, wanted)
  if wanted.code == null then return end -- its file no longer declares it
  local globals = E.ownership.globals_of(wanted.file)
  local f = load(unhex(wanted.code), wanted.file, "b", globals)
  if not f then return end
  run.objects[n] = f
  local indices = upvalues(f, wanted.cells)
  for at = 1, #wanted.cells do
    local cell = run.cells[wanted.cells[at][2]]
    if not indices[at] then run.lost[#run.lost + 1] = "a local variable of " .. wanted.file
    elseif cell then upvaluejoin(f, indices[at], cell[1], cell[2])
    else run.cells[wanted.cells[at][2]] = { f, indices[at] } end
  end
  for i = 1, 255 do
    local name = getupvalue(f, i)
    if name == nil then break end
    if name == "_ENV" then setupvalue(f, i, globals) end
  end
end

local function make_missing(run)
  for n, wanted in next, run.nodes do
    if run.objects[n] == nil then
      if wanted.kind == "t" then
        run.objects[n] = {}
        wanted.made = true
      elseif wanted.kind == "f" then
        make_function(run, n, wanted)
      end
    end
  end
end

-- Remove what the files have put into a table and the records do not have; functions stay.
local function clear(wanted, t, run)
  local kept, gone = {}, {}
  for i = 1, #wanted.keys do
    local key = value(run, wanted.keys[i])
    if key ~= nil then kept[key] = true end
  end
  for k, v in next, t do
    if not kept[k] and type(v) ~= "function" then gone[#gone + 1] = k end
  end
  for i = 1, #gone do rawset(t, gone[i], nil) end
end

-- Fields that a changed declaration has set anew are not taken from the records.
local function declared_anew(run, t)
  local name, entry = prototypes.known_as(t)
  local was = name and run.names[name]
  if not was or was.digest == prototypes.digest(entry) then return nil end
  return entry.declared
end

local function fill(run, wanted, t)
  local of_code = rawequal(t, env) or prototypes.known_as(t) ~= nil
  if not of_code and not wanted.made then clear(wanted, t, run) end
  local anew = of_code and not rawequal(t, env) and declared_anew(run, t) or nil
  for i = 1, #wanted.keys do
    local key, v = value(run, wanted.keys[i]), value(run, wanted.values[i])
    local usable = key ~= nil and key ~= DOES_NOT_EXIST and v ~= DOES_NOT_EXIST and key == key
    if usable and not (anew and anew[key] ~= nil) then rawset(t, key, v) end
  end
  if of_code or wanted.meta == nil then return end
  local meta = value(run, wanted.meta)
  if meta ~= DOES_NOT_EXIST then
    setmetatable(t, meta)
    if meta and prototypes.known_as(meta) then prototypes.adopt(t) end
  end
end

local function fill_all(run)
  for n, wanted in next, run.nodes do
    if wanted.kind == "t" then fill(run, wanted, run.objects[n]) end
  end
  for n, cell in next, run.cells do
    local wanted = run.nodes[n]
    if wanted and wanted.kept then
      local v = value(run, wanted.value)
      if v ~= DOES_NOT_EXIST then setupvalue(cell[1], cell[2], v) end
    end
  end
end

-- A type that no file declares any more keeps its name and its fields, so that its objects are still shown; its methods
-- have gone with the code.
local function keep_undeclared(run)
  for _, found in next, run.names do
    local t = run.objects[found.n]
    if t and found.type and not prototypes.known_as(t) then
      rawset(t, "type", found.type)
      rawset(t, "__index", t)
      setmetatable(t, prototypes.object)
    end
  end
end

local function load_files(run)
  for i = 1, #run.files do
    local file = run.files[i]
    if not loader.by_key(file.key) then
      limits.begin()
      local ok, fault = limits.call(env.require, file.name)
      limits.finish()
      if not ok then
        E.report(file.key, fault)
        run.lost[#run.lost + 1] = fault.message
      end
    end
  end
end

-- A root that the files have not made in the same way is the restored one from now on.
local function restore_roots(run)
  for i = 1, #run.files do
    local entry, root = loader.by_key(run.files[i].key), run.files[i].root
    local object = number_in(root) and value(run, root)
    if entry and object and object ~= DOES_NOT_EXIST then entry.root = object end
  end
end

local function restore_timers(run)
  local timers = {}
  for handle, timer in next, run.timers do
    local f = value(run, timer.run)
    if type(f) == "function" then timers[handle] = { run = f, again = timer.again, due = timer.due } end
  end
  E.restore_timers(timers)
end

-- The nodes keep their numbers, so that later records continue these.
local function keep_numbers(run)
  state.start_over(run.last)
  for n, object in next, run.objects do
    if n == run.globals then state.number_globals(n) else state.number(object, n) end
  end
  for n, cell in next, run.cells do state.number_cell(cell[1], cell[2], n) end
end

-- Instances of a type whose declaration has changed meanwhile are migrated by their `mutate`.
local function migrate(run)
  for name, was in next, run.names do
    local proto = prototypes.get(name)
    local _, entry = nil, nil
    if proto then _, entry = prototypes.known_as(proto) end
    if entry and prototypes.digest(entry) ~= was.digest then prototypes.changed(name) end
  end
  limits.begin()
  prototypes.run_mutations()
  limits.finish()
end

-- `frozen`: a past moment to look at; its timers do not run, and pages change nothing.
E.ops[OP.RESTORE] = function(text, frozen)
  limits.finish()
  local records, wrong = json.parse(text)
  if not records then return "null", limits.new_fault(E.wire.fault.INVALID, wrong) end
  local run = new_run()
  for i = 1, records[LENGTH] do
    local read = readers[records[i][1]]
    if read then read(run, records[i]) end
  end
  load_files(run)
  match_all(run)
  make_missing(run)
  fill_all(run)
  keep_undeclared(run)
  E.frozen = frozen == true
  restore_timers(run)
  restore_roots(run)
  E.restored_variables()
  E.restored_subscriptions()
  if run.displayed then
    E.displayed = run.displayed
    host.emit(E.wire.output.DISPLAYED, run.displayed, 0)
  end
  migrate(run)
  keep_numbers(run)
  host.arm()
  return json.encode(#run.lost > 0 and run.lost or {})
end

E.restoring = { new_run = new_run, node = node, readers = readers, value = value, make_missing = make_missing, fill = fill }
E.restoring.DOES_NOT_EXIST = DOES_NOT_EXIST
