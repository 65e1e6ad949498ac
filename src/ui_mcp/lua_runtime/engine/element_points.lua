-- The points of a `ui-chart`: a list of numbers or of rows. What is added at the end, or dropped from the beginning, is
-- sent alone, so that a chart that grows ten times a second does not send all its points as often. They are kept and
-- sent by column: a list of 10,000 numbers costs the engine and the page much less than 10,000 lists of two.
local E = ...
local FAULT = E.wire.fault
local json, limits = E.json, E.limits
local cell = E.row_orders.cell
local type, next, pairs, rawequal = type, next, pairs, rawequal
local byte, concat, sort, min = string.byte, table.concat, table.sort, math.min

local SAMPLE, MOST_POINTS = 20, 50000
local EXACT = 1e14

local points = {}
E.data_kinds.points = points

local function list_of(v)
  if v == nil then return {} end
  if type(v) == "number" then return { v } end
  if type(v) ~= "table" then limits.raise(FAULT.INVALID, "a chart shows a list of numbers or rows, and this is a " .. type(v)) end
  if E.is_array(v) or (next(v) == nil and not E.type_of(v)) then return v end
  limits.raise(FAULT.INVALID, "a chart shows a list of numbers or rows; a single row goes into a list of its own")
end

-- The names found in the first rows, by alphabet; "value" for plain numbers.
local function names_of(rows)
  local seen, names = {}, {}
  for i = 1, min(SAMPLE, #rows) do
    if type(rows[i]) ~= "table" then return { "value" } end
    for name, v in pairs(rows[i]) do
      local plain = type(v) == "number" or type(v) == "string" or type(v) == "boolean"
      if plain and type(name) == "string" and byte(name) ~= 95 and not seen[name] then
        seen[name] = true
        names[#names + 1] = name
      end
    end
  end
  sort(names)
  return names
end

-- What `concat` may write: it formats numbers itself, with 14 digits, in a fraction of the time of `json.number`. That is
-- more than a chart shows; greater whole numbers keep all their digits.
local function value_json(v)
  local kind = type(v)
  if kind == "number" then
    if v < EXACT and v > -EXACT then return v end
    return json.number(v)
  end
  if kind == "string" then return json.quote(v) end
  if kind == "boolean" then return v and "true" or "false" end
  return "null"
end

local function column_json(column, count)
  local out = {}
  for i = 1, count do out[i] = value_json(column[i]) end
  return "[" .. concat(out, ",") .. "]"
end

local function columns_json(columns, count)
  local out = {}
  for c = 1, #columns do out[c] = column_json(columns[c], count) end
  return "[" .. concat(out, ",") .. "]"
end

-- The values of `rows` from one index to another, a list for each name.
local function columns_of(rows, names, from, to)
  local columns = {}
  for c = 1, #names do
    local column, name = {}, names[c]
    for i = from, to do column[i - from + 1] = cell(rows[i], name) end
    columns[c] = column
  end
  return columns
end

-- Whether the points that are left of the last ones are the first ones now.
local function same(last, rows, gone)
  for c = 1, #last.names do
    local column, name = last.columns[c], last.names[c]
    for i = 1, last.count - gone do
      if not rawequal(column[i + gone], (cell(rows[i], name))) then return false end
    end
  end
  return true
end

-- How many of the last points are gone from the beginning; nil if the rest differs.
local function dropped(last, rows, names, count)
  if last.key ~= concat(names, "\0") or count == 0 then return nil end
  local gone = 0
  if type(rows[1]) == "table" then
    while gone < last.count and not rawequal(last.rows[gone + 1], rows[1]) do gone = gone + 1 end
  end
  if gone == last.count or count < last.count - gone then return nil end
  return same(last, rows, gone) and gone or nil
end

-- Remove values from the beginning of a list of `count` and add others to its end.
local function shift(list, count, gone, added, more)
  if gone > 0 then
    for i = 1, count do list[i] = list[i + gone] end
  end
  for i = 1, more do list[count - gone + i] = added[i] end
end

local function advance(last, rows, gone, added, more)
  for c = 1, #last.columns do shift(last.columns[c], last.count, gone, added[c], more) end
  local kept = last.count - gone
  for i = 1, kept + more do last.rows[i] = rows[i] end
  for i = kept + more + 1, last.count do last.rows[i] = nil end
  last.count = kept + more
end

local function remember(rows, names, count)
  local known = { key = concat(names, "\0"), names = names, count = count, rows = {} }
  known.columns = columns_of(rows, names, 1, count)
  for i = 1, count do known.rows[i] = rows[i] end
  return known
end

function points.start() return {} end

-- The JSON for the page, nil if nothing has changed; the second result says that it only adds to what the page has.
function points.read(state, v, whole)
  local rows = list_of(v)
  local names, count = names_of(rows), min(#rows, MOST_POINTS)
  local last = state.last
  local gone = last and not whole and dropped(last, rows, names, count)
  if gone then
    local more = count - (last.count - gone)
    if gone == 0 and more == 0 then return nil end
    local added = columns_of(rows, names, count - more + 1, count)
    advance(last, rows, gone, added, more)
    return '{"drop":' .. gone .. ',"append":' .. columns_json(added, more) .. "}", true
  end
  state.last = remember(rows, names, count)
  local sent = columns_json(state.last.columns, count)
  return '{"names":' .. (#names > 0 and json.encode(names) or "[]") .. ',"columns":' .. sent .. "}"
end

function points.ask() end
