-- The state journal: what has changed in the tables that app code can reach, since the last time it was asked.
--
-- A node is a table, a function or a cell (a local variable that functions share) and has a number for life. Each pass
-- walks from the roots and compares every node with a copy of its fields. Records, as JSON lists:
--   ["t", n, metatable|null, key, value, …]  a new table      ["m", n, value|null]  its metatable
--   ["s", n, key, value]  a field                             ["d", n, key]  no such field
--   ["l", n, at, gone, length, value…]  in a list of this length, `gone` elements from `at` on were replaced by these
--   ["f", n, file, line, code, name, cell, …]  a function; `code` only if no file declares it
--   ["c", n, value|null]  a cell   ["c", n]  one whose value cannot be kept   ["x", n]  no longer reachable
--   ["p", name, n, digest, type]  a prototype   ["g", n] the globals
--   ["r", name, key, n|null, n|null]  a loaded file, its value, the root it made   ["v", name]  the displayed app
--   ["w", handle, value, seconds|null, due|null]  a timer            ["w", handle]  it is over
--   ["k", name, n]  a table of the engine that holds values of apps (`E.kept`)
-- Values are those of state_values.lua.
local E = ...
local OP, FAULT = E.wire.op, E.wire.fault
local env, prototypes, loader, values = E.env, E.prototypes, E.loader, E.state_values
local quote, number_text = E.json.quote, E.json.number
local value, hex, skips, engine_function = values.json, values.hex, values.skips, values.engine_function
local nodes, node_of, new_number, external, builtin = values.nodes, values.node_of, values.new_number, values.external, values.builtin
local type, next, rawequal, rawget, rawlen = type, next, rawequal, rawget, rawlen
local getmetatable, getinfo, getupvalue, upvalueid = debug.getmetatable, debug.getinfo, debug.getupvalue, debug.upvalueid
local concat, sort, sub, dump = table.concat, table.sort, string.sub, string.dump

local MAX_NODES, MAX_FIELDS = 100000, 1000000
local SPLICE = 8 -- lists of at least this length are compared from both ends when their length has changed

local cell_numbers, cell_values, seen_cells = {}, {}, {}
local digests, required, timers_known, kept_known, shown = {}, {}, {}, {}, nil
local pass, live, reached, fields = 0, 0, 0, 0
local queue, tail = {}, 0
local out, size

local state = {}
E.state = state

local function put(text)
  size = size + 1
  out[size] = text
end

-- Queue an object once per pass. `named`: code that a file declares finds it again under the same name.
local function visit(v, named)
  local node = nodes[v]
  if node and node.pass == pass then return end
  if external[v] or (type(v) == "function" and engine_function(v)) then return end
  node = node or node_of(v)
  node.pass, node.named = pass, named
  tail = tail + 1
  queue[tail] = v
end

-- The parts of a new table's record while its fields are read, else nil.
local fresh

-- Write a field that has changed; returns whether it can be kept.
local function field(node, k, v, old)
  local key, text = value(k), value(v)
  if not key then return false end
  if old == nil then node.count = node.count + 1 end
  if type(k) == "table" then node.odd = true end
  node.copy[k] = v
  if fresh then
    if text then fresh[#fresh + 1] = "," .. key .. "," .. text end
  elseif text then put('["s",' .. node.n .. "," .. key .. "," .. text .. "]")
  elseif old ~= nil then put('["d",' .. node.n .. "," .. key .. "]") end
  return true
end

local function same(a, b)
  return rawequal(a, b) or (a ~= a and b ~= b)
end

-- How many elements two lists have in common at the beginning, and then at the end.
local function common(t, copy, before, after)
  local short = before < after and before or after
  local first, rest = 0, 0
  while first < short and same(rawget(t, first + 1), copy[first + 1]) do first = first + 1 end
  while rest < short - first and same(rawget(t, after - rest), copy[before - rest]) do rest = rest + 1 end
  return first, rest
end

-- A list whose length has changed: what it still has at both ends is not written again.
local function splice(node, t)
  local copy = node.copy
  local before, after = rawlen(copy), rawlen(t)
  if before == after then return end
  local first, rest = common(t, copy, before, after)
  local texts = {}
  for i = first + 1, after - rest do
    local text = value(rawget(t, i))
    if not text then return end
    texts[#texts + 1] = "," .. text
  end
  put('["l",' .. concat({ node.n, first + 1, before - rest - first, before }, ",") .. concat(texts) .. "]")
  local count = node.count
  for i = first + 1, after > before and after or before do
    local v = i <= after and rawget(t, i) or nil
    count = count + (v ~= nil and 1 or 0) - (copy[i] ~= nil and 1 or 0)
    copy[i] = v
  end
  node.count = count
end

local function forget_missing(node, t)
  local gone = {}
  for k in next, node.copy do
    if rawget(t, k) == nil then gone[#gone + 1] = k end
  end
  for i = 1, #gone do
    node.copy[gone[i]] = nil
    put('["d",' .. node.n .. "," .. value(gone[i]) .. "]")
  end
  node.count = node.count - #gone
end

-- Compare the fields of a table with their copy; this loop is what the journal costs.
local function compare(node, t, skip)
  local copy, count, named, equates = node.copy, 0, node.named, values.equates
  for k, v in next, t do
    if not (skip and skip[k]) then
      count = count + 1
      local old = copy[k]
      if (old ~= v or equates) and not same(old, v) and not field(node, k, v, old) then count = count - 1 end
      local kind = type(v)
      if kind == "table" then visit(v) elseif kind == "function" then visit(v, named) end
    end
  end
  fields = fields + count
  if node.odd then
    for k in next, t do
      if type(k) == "table" then visit(k) end
    end
  end
  if count < node.count then forget_missing(node, t) end
end

local function begin_table(node, meta)
  node.copy, node.count, node.meta = {}, 0, meta
  live = live + 1
  fresh = { '["t",' .. node.n .. "," .. (meta and value(meta) or "null") }
end

local function end_table()
  if not fresh then return end
  fresh[#fresh + 1] = "]"
  put(concat(fresh))
  fresh = nil
end

local function scan_table(node, t)
  local meta, skip = getmetatable(t), nil
  if type(meta) == "table" then skip = skips(meta) else meta = nil end
  if skip == true then return end
  reached = reached + 1
  if not node.copy then begin_table(node, meta) end
  if not rawequal(meta, node.meta) then
    node.meta = meta
    put('["m",' .. node.n .. "," .. (meta and value(meta) or "null") .. "]")
  end
  if meta then visit(meta) end
  if rawlen(node.copy) >= SPLICE then splice(node, t) end
  compare(node, t, skip)
  end_table()
end

-- The fields of a prototype that may differ from its declaration; the rest comes from its file.
local ignored = { type = true, __index = true, new = true, __tostring = true, transient = true }
local function own_fields(t, declared)
  local kept = {}
  for k, v in next, t do
    local kind = type(v)
    if kind == "function" then
      visit(v, true)
      if not engine_function(v) and not ignored[k] then kept[k] = v end
    elseif not ignored[k] and (kind == "table" or not rawequal(declared[k], v)) then
      kept[k] = v
    end
  end
  return kept
end

local function scan_prototype(node, t, name, entry)
  reached = reached + 1
  if not node.copy then begin_table(node) end
  local digest, kept, meta = prototypes.digest(entry), own_fields(t, entry.declared), getmetatable(t)
  if type(meta) == "table" then visit(meta) end
  if digests[name] ~= digest then
    digests[name] = digest
    put('["p",' .. concat({ quote(name), node.n, quote(digest), quote(rawget(t, "type")) }, ",") .. "]")
  end
  for k, v in next, kept do
    if not same(node.copy[k], v) then field(node, k, v, node.copy[k]) end
    if type(v) == "table" then visit(v) end
  end
  end_table()
  forget_missing(node, kept)
end

-- The cells of a function, as a list of index and number in turns.
local function cells(f)
  local list, text = {}, {}
  for i = 1, 255 do
    local name, v = getupvalue(f, i)
    if name == nil then break end
    if not (name == "_ENV" and E.ownership.is_scope(v)) then
      local id = upvalueid(f, i)
      local n = cell_numbers[id]
      if not n then
        n = new_number()
        cell_numbers[id] = n
      end
      list[#list + 1], list[#list + 2] = i, id
      text[#text + 1] = "," .. quote(name) .. "," .. n
    end
  end
  return list, concat(text)
end

local function begin_function(node, f)
  local info = getinfo(f, "S")
  local list, text = cells(f)
  node.cells = list
  live = live + 1
  local code = (not node.named or sub(info.source, 1, 1) ~= "@") and quote(hex(dump(f))) or "null"
  put('["f",' .. node.n .. "," .. quote(info.source) .. "," .. info.linedefined .. "," .. code .. text .. "]")
end

local function scan_cell(id, v, named)
  seen_cells[id] = pass
  local known, kind = cell_values[id], type(v)
  if not known or not same(known[1], v) then
    cell_values[id] = { v }
    local text = v == nil and "null" or value(v)
    put('["c",' .. cell_numbers[id] .. (text and "," .. text or "") .. "]")
  end
  if kind == "table" or kind == "function" then visit(v, named) end
end

local function scan_function(node, f)
  reached = reached + 1
  if not node.cells then begin_function(node, f) end
  local list = node.cells
  for i = 1, #list, 2 do
    local id = list[i + 1]
    if seen_cells[id] ~= pass then
      local _, v = getupvalue(f, list[i])
      scan_cell(id, v, node.named)
    end
  end
end

local function drain()
  local at = 0
  while at < tail do
    at = at + 1
    local object = queue[at]
    local node = nodes[object]
    if type(object) == "function" then scan_function(node, object)
    else
      local name, entry = prototypes.known_as(object)
      if name then scan_prototype(node, object, name, entry) else scan_table(node, object) end
    end
    if reached > MAX_NODES or fields > MAX_FIELDS then return false end
  end
  return true
end

-- The globals are a table of their own without what the engine put there.
local globals = {}
local function scan_globals()
  for k in next, globals do globals[k] = nil end
  for k, v in next, env do
    if not rawequal(builtin[k], v) then
      globals[k] = v
      if type(v) == "table" or type(v) == "function" then visit(v, true) end
    end
  end
  local node = node_of(globals)
  if not node.copy then
    begin_table(node)
    put('["g",' .. node.n .. "]")
  end
  node.pass, node.named = pass, true
  reached = reached + 1
  compare(node, globals)
  end_table()
end

-- Loaded files, in the order of their loading.
local function scan_files()
  local fresh = {}
  for path, entry in next, loader.by_path do
    local v, root, known = entry.value, entry.root, required[path]
    if type(v) == "table" or type(v) == "function" then visit(v, true) end
    if type(root) == "table" then visit(root) end -- an app without a global is known by nothing else
    if not (known and rawequal(known[1], v) and rawequal(known[2], root)) then
      required[path] = { v, root }
      fresh[#fresh + 1] = entry
    end
  end
  sort(fresh, function(a, b) return a.order < b.order end)
  for i = 1, #fresh do
    local entry = fresh[i]
    local root, kind = type(entry.root) == "table" and value(entry.root) or "null", type(entry.value)
    local node = (kind == "table" or kind == "function") and value(entry.value) or "null"
    put('["r",' .. concat({ quote(entry.name), quote(entry.key), node, root }, ",") .. "]")
  end
end

-- A one-shot timer is kept with the time when it is due, an interval with its period.
local function scan_timers()
  local timers = E.timers
  for handle, timer in next, timers do
    visit(timer.run)
    if not rawequal(timers_known[handle], timer) then
      timers_known[handle] = timer
      local run = value(timer.run)
      if run then
        local again, due = timer.again and number_text(timer.again) or "null", timer.due and number_text(timer.due) or "null"
        put('["w",' .. number_text(handle) .. "," .. run .. "," .. again .. "," .. due .. "]")
      end
    end
  end
  for handle in next, timers_known do
    if not timers[handle] then
      timers_known[handle] = nil
      put('["w",' .. number_text(handle) .. "]")
    end
  end
end

local function scan_kept()
  for name, t in next, E.kept do
    visit(t)
    if not kept_known[name] then put('["k",' .. quote(name) .. "," .. node_of(t).n .. "]") end
    kept_known[name] = true
  end
end

-- Nodes that this pass has not reached are forgotten; should they come back, they are written again.
local function sweep()
  if live == reached then return end
  for _, node in next, nodes do
    if node.pass ~= pass and (node.copy or node.cells) then
      node.copy, node.cells, node.meta = nil, nil, nil
      put('["x",' .. node.n .. "]")
    end
  end
  for id in next, cell_numbers do
    if seen_cells[id] ~= pass then
      put('["x",' .. cell_numbers[id] .. "]")
      cell_numbers[id], cell_values[id], seen_cells[id] = nil, nil, nil
    end
  end
  live = reached
end

-- The changes since the last call, as a JSON list; nil if there is too much to keep.
local function changes()
  out, size = {}, 0
  pass, tail, reached, fields = pass + 1, 0, 0, 0
  values.begin_pass()
  scan_globals()
  scan_files()
  scan_timers()
  scan_kept()
  if not drain() then return nil end
  sweep()
  if E.displayed ~= shown then
    shown = E.displayed
    put('["v",' .. quote(shown) .. "]")
  end
  for i = 1, tail do queue[i] = nil end
  local text = "[" .. concat(out, ",") .. "]"
  out = nil -- it may hold long texts
  return text
end

-- Forget what was written, so that the next call returns everything; `after` is the greatest number ever used.
function state.start_over(after)
  for _, node in next, nodes do node.copy, node.cells, node.meta = nil, nil, nil end
  cell_values, seen_cells = {}, {}
  digests, required, timers_known, kept_known, shown, live = {}, {}, {}, {}, nil, 0
  values.continue_after(after or 0)
end

E.ops[OP.CHANGES] = function(whole)
  if whole then state.start_over() end
  local text = changes()
  if text then return text end
  return "null", E.limits.new_fault(FAULT.MEMORY, "more than " .. MAX_NODES .. " tables or " .. MAX_FIELDS .. " fields")
end

-- Give an object, the globals or the cell of a function the number it had before.
function state.number(object, n) nodes[object] = { n = n, pass = 0 } end
function state.number_globals(n) nodes[globals] = { n = n, pass = 0 } end
function state.number_cell(f, i, n) cell_numbers[upvalueid(f, i)] = n end
function state.cell_number(f, i) return cell_numbers[upvalueid(f, i)] end
function state.is_globals(t) return rawequal(t, globals) end
