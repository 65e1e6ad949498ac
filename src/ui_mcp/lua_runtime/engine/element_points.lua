-- The points of a `ui-chart`: a list of numbers or of rows. What is added at the end, or dropped from the beginning, is
-- sent alone, so that a chart that grows ten times a second does not send all its points as often.
local E = ...
local FAULT = E.wire.fault
local json, limits = E.json, E.limits
local cell = E.row_orders.cell
local type, next, pairs, rawequal, tonumber = type, next, pairs, rawequal, tonumber
local byte, concat, sort, min = string.byte, table.concat, table.sort, math.min

local SAMPLE, MOST_POINTS = 20, 50000

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

local function value_json(v)
  local kind = type(v)
  if kind == "number" then return json.number(v) end
  if kind == "string" then return json.quote(v) end
  if kind == "boolean" then return v and "true" or "false" end
  return "null"
end

local function row_json(cells)
  local out = {}
  for c = 1, cells.n do out[c] = value_json(cells[c]) end
  return "[" .. concat(out, ",") .. "]"
end

local function copy(rows, names)
  local known = { names = concat(names, "\0") }
  for i = 1, min(#rows, MOST_POINTS) do
    local row = { n = #names, row = rows[i] }
    for c = 1, #names do row[c] = cell(rows[i], names[c]) end
    known[i] = row
  end
  return known
end

local function rows_json(known, from)
  local out = {}
  for i = from, #known do out[#out + 1] = row_json(known[i]) end
  return "[" .. concat(out, ",") .. "]"
end

-- How many of the old points are gone from the beginning; nil if the rest differs.
local function dropped(last, now)
  if last.names ~= now.names or #now == 0 then return nil end
  local gone = 0
  if type(now[1].row) == "table" then
    while last[gone + 1] and not rawequal(last[gone + 1].row, now[1].row) do gone = gone + 1 end
  end
  if gone == #last or #now < #last - gone then return nil end
  for i = 1, #last - gone do
    local a, b = last[i + gone], now[i]
    for c = 1, a.n do
      if not rawequal(a[c], b[c]) then return nil end
    end
  end
  return gone
end

function points.start() return {} end

-- The JSON for the page, nil if nothing has changed; the second result says that it only adds to what the page has.
function points.read(state, v, whole)
  local rows = list_of(v)
  local names = names_of(rows)
  local now, last = copy(rows, names), state.last
  state.last = now
  local gone = last and not whole and dropped(last, now)
  if gone then
    if gone == 0 and #now == #last then return nil end
    return '{"drop":' .. gone .. ',"append":' .. rows_json(now, #last - gone + 1) .. "}", true
  end
  return '{"names":' .. (#names > 0 and json.encode(names) or "[]") .. ',"rows":' .. rows_json(now, 1) .. "}"
end

function points.ask() end
