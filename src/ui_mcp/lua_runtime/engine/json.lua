-- Encodes and decodes JSON. Strings are bytes; Python replaces what is not UTF-8.
local E = ...
local next, type, rawget, tostring, tonumber = next, type, rawget, tostring, tonumber
local find, gsub, sub, byte, char = string.find, string.gsub, string.sub, string.byte, string.char
local format, match = string.format, string.match
local concat, sort, floor, huge = table.concat, table.sort, math.floor, math.huge

local MAX_DEPTH, MAX_NODES = 100, 200000

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\", ["\b"] = "\\b", ["\f"] = "\\f", ["\n"] = "\\n", ["\r"] = "\\r", ["\t"] = "\\t" }
for code = 0, 31 do
  local c = char(code)
  escapes[c] = escapes[c] or format("\\u%04x", code)
end

local function quote(s)
  if find(s, '[%c"\\]') then s = gsub(s, '[%z\1-\31"\\]', escapes) end
  return '"' .. s .. '"'
end

local function number(n)
  if n ~= n or n == huge or n == -huge then return "null" end
  if n == floor(n) and n < 2 ^ 53 and n > -2 ^ 53 then return format("%d", n) end
  local text = format("%.14g", n)
  if tonumber(text) ~= n then text = format("%.17g", n) end
  return text
end

local getmetatable = debug.getmetatable

-- Whether a value is listed under a name: not if it is a method or a prototype, which belong to the class.
local function is_data(v)
  return type(v) ~= "function" and not (type(v) == "table" and rawget(v, "__index") ~= nil)
end

-- Add the names that a typed object inherits, found without calling metamethods, which are code of the app.
local function add_inherited(t, keys)
  local seen = {}
  for i = 1, #keys do seen[keys[i]] = true end
  for _ = 1, 20 do
    local meta = getmetatable(t)
    t = type(meta) == "table" and rawget(meta, "__index")
    if type(t) ~= "table" then return end
    for k, v in next, t do
      if type(k) == "string" and byte(k) ~= 95 and not seen[k] then
        seen[k] = true
        if is_data(v) then keys[#keys + 1] = k end
      end
    end
  end
end

-- Numbers before names, each in their order.
local function before(a, b)
  if type(a) == type(b) then return a < b end
  return type(a) == "number"
end

-- The names in a table that are written.
local function names(t, state, typed)
  local keys = {}
  for k, v in next, t do
    if type(k) == "string" and (state.keep or byte(k) ~= 95) and (not typed or is_data(v)) then keys[#keys + 1] = k end
  end
  return keys
end

-- The greatest index if the numeric keys make a list, which may have gaps; nil for such as ids or fractions.
local function last_index(t)
  local count, max, whole = 0, 0, true
  for k in next, t do
    if type(k) == "number" then
      count = count + 1
      if k > max then max = k end
      if k < 1 or k ~= floor(k) then whole = false end
    end
  end
  if whole and max <= 2 * count + 10 then return max end
end

-- Return true and the greatest index of a list (only numeric keys), else false and the sorted keys.
local function layout(t, state)
  local typed = state.inherit and E.type_of(t) ~= nil
  local keys, max = names(t, state, typed), last_index(t)
  if #keys == 0 and not typed and max and max > 0 then return true, max end
  if max ~= 0 then
    for k in next, t do
      if type(k) == "number" then keys[#keys + 1] = k end
    end
  end
  if typed then add_inherited(t, keys) end
  sort(keys, before)
  return false, keys
end

-- The value of a field as `layout` has found it, own or inherited.
local function field(state, t, key)
  local v = rawget(t, key)
  if v == nil and state.inherit then return E.inherited(t, key) end
  return v
end

local write

local function marker(state, text)
  if state.strict then state.broken = true end
  local out = state.out
  out[#out + 1] = '{"non-json":' .. quote(text) .. "}"
end

local function write_list(state, t, max, depth)
  local out = state.out
  out[#out + 1] = "["
  for i = 1, max do
    if state.nodes > MAX_NODES then
      if i > 1 then out[#out + 1] = "," end
      marker(state, "<too much data>")
      break
    end
    if i > 1 then out[#out + 1] = "," end
    write(state, rawget(t, i), depth)
  end
  out[#out + 1] = "]"
end

local function write_object(state, t, keys, depth)
  local out = state.out
  out[#out + 1] = "{"
  for i = 1, #keys do
    if state.nodes > MAX_NODES then
      out[#out + 1] = (i > 1 and "," or "") .. '"…":'
      marker(state, "<too much data>")
      break
    end
    out[#out + 1] = (i > 1 and "," or "") .. quote(type(keys[i]) == "number" and number(keys[i]) or keys[i]) .. ":"
    write(state, field(state, t, keys[i]), depth)
  end
  out[#out + 1] = "}"
end

local function write_table(state, t, depth)
  if state.open[t] then return marker(state, "<cycle: " .. (E.type_of(t) or "table") .. ">") end
  if depth > MAX_DEPTH or state.nodes > MAX_NODES then return marker(state, "<too much data>") end
  state.open[t] = true
  local list, what = layout(t, state)
  if list then write_list(state, t, what, depth + 1) else write_object(state, t, what, depth + 1) end
  state.open[t] = nil
end

function write(state, v, depth)
  local out, kind = state.out, type(v)
  state.nodes = state.nodes + 1
  if kind == "string" then out[#out + 1] = quote(v)
  elseif kind == "number" then out[#out + 1] = number(v)
  elseif kind == "boolean" then out[#out + 1] = v and "true" or "false"
  elseif kind == "table" then write_table(state, v, depth)
  else out[#out + 1] = "null" end
end

-- Encode any value; `keep` includes names that begin with "_".
local function encode(v, keep)
  local state = { out = {}, nodes = 0, open = {}, keep = keep }
  write(state, v, 0)
  return concat(state.out)
end

-- Encode a value as a person would write it down: objects with their type and the fields they inherit.
local function encode_shown(v)
  local state = { out = {}, nodes = 0, open = {}, inherit = true }
  write(state, v, 0)
  return concat(state.out)
end

-- The same, or nil if it holds a cycle, is too big, or is itself no JSON value.
local function encode_strict(v)
  local kind = type(v)
  if kind == "function" or kind == "userdata" or kind == "thread" then return nil end
  if kind == "number" and (v ~= v or v == huge or v == -huge) then return nil end
  local state = { out = {}, nodes = 0, open = {}, strict = true, inherit = true }
  write(state, v, 0)
  if state.broken then return nil end
  return concat(state.out)
end

-- Decoding. null becomes the value `null`, so that it differs from a missing entry; lists have their length at [LENGTH].
local null, LENGTH = {}, {}
local fail, read

local unescape = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t", ['"'] = '"', ["\\"] = "\\", ["/"] = "/" }

local function utf8(code)
  if code < 0x80 then return char(code) end
  if code < 0x800 then return char(0xC0 + floor(code / 64), 0x80 + code % 64) end
  if code < 0x10000 then return char(0xE0 + floor(code / 4096), 0x80 + floor(code / 64) % 64, 0x80 + code % 64) end
  return char(0xF0 + floor(code / 262144), 0x80 + floor(code / 4096) % 64, 0x80 + floor(code / 64) % 64, 0x80 + code % 64)
end

function fail(at, what)
  error({ json = what .. " at byte " .. at }, 0)
end

local function surrogate(s, at, high)
  local low = match(s, "^\\u([dD][c-fC-F]%x%x)", at + 6)
  if not low then return utf8(0xFFFD), at + 6 end
  return utf8(0x10000 + (high - 0xD800) * 1024 + tonumber(low, 16) - 0xDC00), at + 12
end

local function read_escape(s, at)
  local c = sub(s, at + 1, at + 1)
  if unescape[c] then return unescape[c], at + 2 end
  local hex = c == "u" and match(s, "^%x%x%x%x", at + 2)
  if not hex then fail(at, "bad escape") end
  local code = tonumber(hex, 16)
  if code >= 0xD800 and code < 0xDC00 then return surrogate(s, at, code) end
  if code >= 0xDC00 and code < 0xE000 then code = 0xFFFD end
  return utf8(code), at + 6
end

local function read_string(s, at)
  local stop = find(s, '["\\%c]', at)
  if stop and byte(s, stop) == 34 then return sub(s, at, stop - 1), stop + 1 end
  local parts = {}
  while true do
    if not stop then fail(at, "unfinished string") end
    parts[#parts + 1] = sub(s, at, stop - 1)
    local c = byte(s, stop)
    if c == 34 then return concat(parts), stop + 1 end
    if c == 92 then parts[#parts + 1], at = read_escape(s, stop)
    elseif c == 127 then parts[#parts + 1], at = "\127", stop + 1
    else fail(stop, "control character in string") end
    stop = find(s, '["\\%c]', at)
  end
end

local function skip(s, at)
  return find(s, "[^ \t\r\n]", at) or #s + 1
end

local function read_array(s, at, depth)
  local list, n = {}, 0
  at = skip(s, at)
  if byte(s, at) == 93 then list[LENGTH] = 0 return list, at + 1 end
  while true do
    n = n + 1
    list[n], at = read(s, at, depth)
    at = skip(s, at)
    local c = byte(s, at)
    at = at + 1
    if c == 93 then list[LENGTH] = n return list, at end
    if c ~= 44 then fail(at - 1, "expected , or ]") end
  end
end

local function read_object(s, at, depth)
  local map = {}
  at = skip(s, at)
  if byte(s, at) == 125 then return map, at + 1 end
  while true do
    at = skip(s, at)
    if byte(s, at) ~= 34 then fail(at, "expected a name") end
    local key
    key, at = read_string(s, at + 1)
    at = skip(s, at)
    if byte(s, at) ~= 58 then fail(at, "expected :") end
    map[key], at = read(s, at + 1, depth)
    at = skip(s, at)
    local c = byte(s, at)
    at = at + 1
    if c == 125 then return map, at end
    if c ~= 44 then fail(at - 1, "expected , or }") end
  end
end

local words = { t = { "true", true }, f = { "false", false }, n = { "null", null } }

function read(s, at, depth)
  at = skip(s, at)
  local c = byte(s, at)
  if c == 34 then return read_string(s, at + 1) end
  if depth > MAX_DEPTH then fail(at, "nested too deeply") end
  if c == 123 then return read_object(s, at + 1, depth + 1) end
  if c == 91 then return read_array(s, at + 1, depth + 1) end
  local text = match(s, "^-?%d+%.?%d*[eE]?[+-]?%d*", at)
  local n = text and not find(text, "^-?0%d") and not find(text, "%.$") and not find(text, "%.[eE]") and tonumber(text)
  if n then return n, at + #text end
  local word = c and words[char(c)]
  if word and sub(s, at, at + #word[1] - 1) == word[1] then return word[2], at + #word[1] end
  fail(at, "unexpected text")
end

-- Parse JSON text, keeping `null` and the lengths of lists; nil and a message if it is not JSON.
local function parse(s)
  if type(s) ~= "string" then return nil, "expected text" end
  local ok, value, at = pcall(read, s, 1, 0)
  if not ok then return nil, type(value) == "table" and value.json or tostring(value) end
  at = skip(s, at)
  if at <= #s then return nil, "text after the end at byte " .. at end
  return value
end

-- Convert the result of `parse` to ordinary Lua: null is nil, `{"obj":N}` is the object N if `resolve` finds it.
local function to_lua(v, resolve)
  if v == null then return nil end
  if type(v) ~= "table" then return v end
  if resolve and type(v.obj) == "number" and next(v, next(v)) == nil then
    local object = resolve(v.obj)
    if object ~= nil then return object end
  end
  local t, n = {}, v[LENGTH]
  if n then
    for i = 1, n do t[i] = to_lua(v[i], resolve) end
    return t
  end
  for k, x in next, v do t[k] = to_lua(x, resolve) end
  return t
end

E.json = { quote = quote, number = number, encode = encode, encode_strict = encode_strict, encode_shown = encode_shown }
E.json.parse, E.json.to_lua, E.json.null, E.json.LENGTH = parse, to_lua, null, LENGTH
E.json.decode = function(s)
  local value, problem = parse(s)
  if problem then return nil, problem end
  return to_lua(value)
end
