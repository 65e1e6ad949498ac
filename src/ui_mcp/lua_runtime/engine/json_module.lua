-- `require "mcp.json"`: strict encode and decode, which raise on anything that JSON cannot represent.
local E = ...
local json = E.json
local type, next, error, rawget, tostring, concat, sort = type, next, error, rawget, tostring, table.concat, table.sort
local floor, huge = math.floor, math.huge

local write

-- The number of elements of a list, or nil for a table of names.
local function length(t)
  local n, names = 0, false
  for k in next, t do
    local kind = type(k)
    if kind == "string" then names = true
    elseif kind == "number" and k >= 1 and k == floor(k) then n = n + 1
    else error("cannot encode a key of type " .. kind, 0) end
  end
  if n > 0 and names then error("cannot encode a table with both names and numbers as keys", 0) end
  if n > 0 and rawget(t, n) == nil then error("cannot encode a list with gaps", 0) end
  return not names and n or nil
end

local function write_list(t, n, open)
  local parts = {}
  for i = 1, n do parts[i] = write(rawget(t, i), open) end
  return "[" .. concat(parts, ",") .. "]"
end

local function write_names(t, open)
  local names, parts = {}, {}
  for k in next, t do names[#names + 1] = k end
  sort(names)
  for i = 1, #names do parts[i] = json.quote(names[i]) .. ":" .. write(rawget(t, names[i]), open) end
  return "{" .. concat(parts, ",") .. "}"
end

local function write_table(t, open)
  if open[t] then error("cannot encode a table that contains itself", 0) end
  open[t] = true
  local n = length(t)
  local text = n and write_list(t, n, open) or write_names(t, open)
  open[t] = nil
  return text
end

function write(v, open)
  local kind = type(v)
  if kind == "nil" then return "null" end
  if kind == "boolean" then return tostring(v) end
  if kind == "string" then return json.quote(v) end
  if kind == "table" then return write_table(v, open) end
  if kind ~= "number" then error("cannot encode a " .. kind, 0) end
  if v ~= v or v == huge or v == -huge then error("cannot encode the number " .. tostring(v), 0) end
  return json.number(v)
end

local module = {}

function module.encode(v) return write(v, {}) end

function module.decode(text)
  if type(text) ~= "string" then error("expected a string, got " .. type(text), 2) end
  local value, problem = json.decode(text)
  if problem then error(problem, 2) end
  return value
end

-- Modules of the engine, for names that no file of the project has.
E.modules = { ["mcp.json"] = module }
