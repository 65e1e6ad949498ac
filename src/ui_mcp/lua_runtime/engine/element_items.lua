-- Lua values that elements show whole: `json` as it is, `items` with the number of every table, by which the page names
-- the very table in events and asks to change it.
local E = ...
local FAULT = E.wire.fault
local json, limits = E.json, E.limits
local type, next, rawget, rawlen, rawequal, tonumber, tostring = type, next, rawget, rawlen, rawequal, tonumber, tostring
local byte, concat, sort, floor = string.byte, table.concat, table.sort, math.floor
local insert, remove, min, max = table.insert, table.remove, math.min, math.max
local getmetatable = debug.getmetatable

local MAX_DEPTH, MAX_TABLES = 40, 20000
local PLAIN = { string = true, number = true, boolean = true }
local ID = "$"

local write

local function field_names(t)
  local seen, names = {}, {}
  local from = t
  for _ = 1, 20 do
    for k, v in next, from do
      local shown = type(k) == "string" and byte(k) ~= 95 and (PLAIN[type(v)] or type(v) == "table" and rawget(v, "__index") == nil)
      if shown and not seen[k] then names[#names + 1] = k end
      if type(k) == "string" then seen[k] = true end
    end
    local meta = getmetatable(from)
    from = type(meta) == "table" and rawget(meta, "__index")
    if type(from) ~= "table" then break end
  end
  sort(names)
  return names
end

local function write_list(state, t, depth)
  local out = {}
  for i = 1, rawlen(t) do
    local v = rawget(t, i)
    if type(v) == "table" and state.found then state.found[E.id_of(v)] = { item = v, list = t } end
    out[i] = write(state, v, depth)
  end
  return "[" .. concat(out, ",") .. "]"
end

local function write_fields(state, t, depth)
  local names, out = field_names(t), {}
  if state.found then
    local id = E.id_of(t)
    state.found[id] = state.found[id] or { item = t }
    out[1] = '"' .. ID .. '":' .. id
  end
  for i = 1, #names do out[#out + 1] = json.quote(names[i]) .. ":" .. write(state, E.inherited(t, names[i]), depth) end
  -- Numbers as keys, such as ids of things, become names.
  for k, v in next, t do
    if type(k) == "number" then out[#out + 1] = json.quote(tostring(k)) .. ":" .. write(state, v, depth) end
  end
  return "{" .. concat(out, ",") .. "}"
end

function write(state, v, depth)
  local kind = type(v)
  if kind == "string" then return json.quote(v) end
  if kind == "number" then return json.number(v) end
  if kind == "boolean" then return v and "true" or "false" end
  if kind ~= "table" then return "null" end
  local list = E.is_array(v) or (next(v) == nil and not E.type_of(v))
  -- Lists cost less than tables with names: the lines of a map are lists of many pairs of numbers.
  state.tables = state.tables + (list and 0.1 or 1)
  if state.open[v] then return '"(contains itself)"' end
  if depth > MAX_DEPTH or state.tables > MAX_TABLES then
    limits.raise(FAULT.INVALID, "an element shows at most " .. MAX_TABLES .. " tables, " .. MAX_DEPTH .. " deep")
  end
  state.open[v] = true
  local text = (list and write_list or write_fields)(state, v, depth + 1)
  state.open[v] = nil
  return text
end

local function text_of(v, found) return write({ tables = 0, open = {}, found = found }, v, 0) end

E.data_kinds.json = { start = function() return {} end, read = function(_, v) return text_of(v) end, ask = function() end }

local items = {}
E.data_kinds.items = items

function items.start() return {} end

function items.read(state, v)
  state.found, state.value = {}, v
  return text_of(v, state.found)
end

local function place_of(list, item)
  for i = 1, rawlen(list) do
    if rawequal(rawget(list, i), item) then return i end
  end
end

-- Put the item before another one of the same or of another list, at the end without one.
local function move(state, entry, before, into)
  local next_one = before and state.found[before]
  local target = next_one and next_one.list or into or entry.list
  local at = entry.list and place_of(entry.list, entry.item)
  if not at or not target then return end
  remove(entry.list, at)
  insert(target, next_one and place_of(target, next_one.item) or rawlen(target) + 1, entry.item)
end

-- Only plain fields that are no code and not private are written.
local function set(item, fields)
  for name, value in next, fields do
    local kind = type(item[name])
    if type(name) == "string" and byte(name) ~= 95 and name ~= "type" and kind ~= "function" and kind ~= "table" then
      item[name] = value
    end
  end
end

-- The list that new items are added to: the value itself, or the one under a name of it.
local function list_of(state, name)
  local v = state.value
  if type(name) == "string" and type(v) == "table" then v = v[name] end
  return type(v) == "table" and v or nil
end

-- Move an element of a list of any values, by its place.
local function reorder(list, from, to)
  if type(list) ~= "table" or from % 1 ~= 0 or from < 1 or from > rawlen(list) then return end
  local moved = remove(list, from)
  insert(list, max(1, min(rawlen(list) + 1, floor(to))), moved)
end

-- The page changes what it shows: `set` fields, `move`, `remove` or `add` an item. The new item is named in the answer.
function items.ask(state, q)
  if type(q) ~= "table" or not state.found then return nil end
  if type(q.add) == "table" then
    local list, item = list_of(state, q.list), {}
    if not list then return nil end
    set(item, q.add)
    insert(list, item)
    state.added = item
    return '{"$added":' .. E.id_of(item) .. "}"
  end
  if q.from then return reorder(state.value, tonumber(q.from) or 0, tonumber(q.to) or 0) end
  local entry = state.found[tonumber(q.item) or 0]
  if not entry then return nil end
  -- A command of a palette may bring its own function.
  if q.run and type(entry.item.run) == "function" then entry.item:run() end
  if type(q.set) == "table" then set(entry.item, q.set) end
  if q.move then
    local into = state.found[tonumber(q.into) or 0]
    move(state, entry, tonumber(q.before), into and into.item[q.list or "children"])
  end
  if q.remove and entry.list then
    local at = place_of(entry.list, entry.item)
    if at then remove(entry.list, at) end
  end
end
