-- Objects: their types, their permanent numbers, and the JSON of values.
local E = ...
local type, rawget, rawlen, next, getmetatable = type, rawget, rawlen, next, debug.getmetatable
local byte = string.byte
local quote, number = E.json.quote, E.json.number

local ids = setmetatable({}, { __mode = "k" })
local objects = setmetatable({}, { __mode = "v" })
local last = 1

local function id_of(t)
  local id = ids[t]
  if not id then
    last = last + 1
    id = last
    ids[t], objects[id] = id, t
  end
  return id
end

-- Look up a field along `__index` tables without calling metamethods, which are code of the app.
local function inherited(t, key)
  for _ = 1, 20 do
    local v = rawget(t, key)
    if v ~= nil then return v, t end
    local meta = getmetatable(t)
    t = type(meta) == "table" and rawget(meta, "__index")
    if type(t) ~= "table" then return nil end
  end
end

-- Types that pages know by another name than the declared one; set by ownership.lua.
local kinds = setmetatable({}, { __mode = "k" })
E.kinds = kinds

-- The type name of a table: its metatable's `type`, else its own, else nil.
local function type_of(t)
  local meta = getmetatable(t)
  local name, holder
  if type(meta) == "table" then name, holder = inherited(meta, "type") end
  if not name then name, holder = inherited(t, "type") end
  if type(name) == "string" and name ~= "" then return kinds[holder] or name end
end

local function only_numbers(t, from)
  local found = false
  for k in next, t, from do
    if type(k) == "number" then found = true
    elseif type(k) ~= "string" or byte(k) ~= 95 then return false end
  end
  return found or from ~= nil
end

-- A list has no type, at least one numeric key, and no names except those beginning with "_".
local function is_array(t)
  return type_of(t) == nil and only_numbers(t)
end

local function element(v)
  local kind = type(v)
  if kind == "string" then return quote(v) end
  if kind == "number" then return number(v) end
  if kind == "boolean" then return v and "true" or "false" end
  if kind == "table" then return '{"obj":' .. id_of(v) .. "}" end
  return "null"
end

-- The JSON of a value: a primitive, a reference to an object, or a list of these.
local function value_json(v)
  if type(v) ~= "table" or not is_array(v) then return element(v) end
  local out = {}
  for i = 1, rawlen(v) do out[i] = element(rawget(v, i)) end
  return "[" .. table.concat(out, ",") .. "]"
end

-- A message up to its data; the fields and "}}" follow.
function E.message_head(kind) return '{"type":"' .. kind .. '","data":{' end

-- An error message; `about` names the variable or position it is about.
local ERROR_HEAD = E.message_head(E.wire.message.ERROR)
function E.error_text(about, fault)
  local code, text = quote(fault.code), quote(fault.message)
  return ERROR_HEAD .. about .. '"code":' .. code .. ',"description":' .. text .. "}}"
end

E.id_of, E.type_of, E.is_array, E.value_json, E.inherited = id_of, type_of, is_array, value_json, inherited
E.only_numbers = only_numbers
E.object = function(id) return objects[id] end
