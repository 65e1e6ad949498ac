-- Values in the records of the state journal: text, numbers, booleans, {"n": node}, {"b": hex} for bytes that are not
-- text, {"i": "inf"|"-inf"|"nan"}, {"e": name} for what the engine provides.
local E = ...
local env, quote, number_text = E.env, E.json.quote, E.json.number
local type, next, rawequal, rawget, setmetatable = type, next, rawequal, rawget, setmetatable
local getmetatable, getinfo = debug.getmetatable, debug.getinfo
local sub, find, gsub, byte, format, match, huge = string.sub, string.find, string.gsub, string.byte, string.format, string.match, math.huge

local WEAK = { __mode = "k" }
-- Table or function → { n, copy, count, meta, odd, cells, pass, named }; those without `copy` and `cells` are not written yet.
local nodes = setmetatable({}, WEAK)
local builtin, external, of_engine = {}, setmetatable({}, WEAK), setmetatable({}, WEAK)
local last = 0

-- `equates`: some type defines __eq, so `==` does not tell whether two values are the same.
local values = { nodes = nodes, builtin = builtin, external = external, equates = false }
E.state_values = values

local function new_number()
  last = last + 1
  return last
end

local function node_of(object)
  local node = nodes[object]
  if not node then
    node = { n = new_number(), pass = 0 }
    nodes[object] = node
  end
  return node
end

-- Whether a string is UTF-8, which JSON can hold; surrogates and overlong forms are not.
local function is_text(s)
  if not find(s, "[\128-\255]") then return true end
  if find(s, "\224[\128-\159]") or find(s, "\237[\160-\191]") or find(s, "\240[\128-\143]") or find(s, "\244[\144-\191]") then return false end
  s = gsub(s, "[\240-\244][\128-\191][\128-\191][\128-\191]", ".")
  s = gsub(s, "[\224-\239][\128-\191][\128-\191]", ".")
  return not find(gsub(s, "[\194-\223][\128-\191]", "."), "[\128-\255]")
end

local function hex(s)
  return (gsub(s, ".", function(c) return format("%02x", byte(c)) end))
end

-- Functions of the engine and of C exist in every session; code of apps never passes as one.
local function engine_function(f)
  local known = of_engine[f]
  if known == nil then
    local info = getinfo(f, "S")
    known = info.what == "C" or find(info.source, "^@engine/") ~= nil
    of_engine[f] = known
  end
  return known
end

-- What a metatable's prototype declares as `transient`: true for all instances, a set of names, or false.
local skipped = {}
local function skips(meta)
  local found = skipped[meta]
  if found == nil then
    local declared = E.inherited(meta, "transient")
    found = declared == true
    if type(declared) == "table" then
      found = { transient = true }
      for _, name in next, declared do found[name] = true end
    end
    skipped[meta] = found
    if rawget(meta, "__eq") ~= nil then values.equates = true end
  end
  return found
end

local function is_transient(t)
  local meta = getmetatable(t)
  return type(meta) == "table" and skips(meta) == true
end

-- The JSON of a value, or nil if it cannot be kept: coroutines, and what the engine made for one page.
local function value(v)
  local kind = type(v)
  if kind == "string" then return is_text(v) and quote(v) or '{"b":"' .. hex(v) .. '"}' end
  if kind == "boolean" then return v and "true" or "false" end
  if kind == "number" then
    if v ~= v then return '{"i":"nan"}' end
    if v == huge or v == -huge then return v > 0 and '{"i":"inf"}' or '{"i":"-inf"}' end
    return number_text(v)
  end
  if kind ~= "table" and kind ~= "function" then return nil end
  if external[v] then return '{"e":' .. quote(external[v]) .. "}" end
  if kind == "function" and engine_function(v) then return nil end
  if kind == "table" and is_transient(v) then return nil end
  return '{"n":' .. node_of(v).n .. "}"
end

-- A declaration may have changed since the last pass.
function values.begin_pass() skipped = {} end

-- Number later nodes from here on.
function values.continue_after(n)
  if n > last then last = n end
end

-- Note what the engine provides, under the names that app code knows; called before the first file runs.
function values.note_builtins()
  for name, v in next, env do
    builtin[name] = v
    if type(v) == "table" or type(v) == "function" then external[v] = name end
    if type(v) == "table" and not rawequal(v, env) then
      for key, inner in next, v do
        if (type(inner) == "table" or type(inner) == "function") and not external[inner] and type(key) == "string" then
          external[inner] = name .. "." .. key
        end
      end
    end
  end
end

-- What the engine provides under a name.
function values.provided(name)
  if sub(name, 1, 6) == "store " then return E.stores.find(name) end
  local first, second = match(name, "^([^.]+)%.?(.*)$")
  local found = builtin[first]
  if second ~= "" then found = type(found) == "table" and rawget(found, second) or nil end
  return found
end

values.json, values.hex, values.skips, values.engine_function = value, hex, skips, engine_function
values.node_of, values.new_number = node_of, new_number
