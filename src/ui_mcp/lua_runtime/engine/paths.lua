-- Paths, PATH[?QUERY]: parses them, compiles readers, writes through them.
local E = ...
local FAULT = E.wire.fault
local type, tonumber, tostring, error, rawget, rawset = type, tonumber, tostring, error, rawget, rawset
local load, unpack, syntax = load, table.unpack, E.path_syntax
local find, match, gmatch, sub, gsub = string.find, string.match, string.gmatch, string.sub, string.gsub
local format, char, concat = string.format, string.char, table.concat

local NAME = "^[%a_\128-\255][%w_\128-\255]*$"
local keywords = {}
local KEYWORDS = "and break do else elseif end false for function goto if in local nil not or repeat return then true until while"
for word in gmatch(KEYWORDS, "%a+") do keywords[word] = true end

local function decoded(s)
  s = gsub(s, "%+", " ")
  return (gsub(s, "%%(%x%x)", function(hex) return char(tonumber(hex, 16)) end))
end

-- The query as { name = text }; nil if it is malformed.
local function parse_query(text)
  local query = {}
  for part in gmatch(text, "[^&]+") do
    local name, value = match(part, "^([^=]*)=(.*)$")
    name = decoded(name or part)
    if not find(name, "^[%w_][%w_%-:.]*$") then return nil end
    query[name] = value and decoded(value) or "true"
  end
  return query
end

-- What counts as false in a negation, as in `ui-class-…` on the page.
local function negate(v)
  return v == nil or v == false or v == "" or v == 0
end

-- Compare two values; texts that are numbers count as numbers, and only numbers or only texts have an order.
local function compare(operator, a, b)
  if type(a) == "number" and type(b) == "string" then b = tonumber(b) or b end
  if type(b) == "number" and type(a) == "string" then a = tonumber(a) or a end
  if operator == "==" then return rawequal(a, b) end
  if operator == "~=" then return not rawequal(a, b) end
  if type(a) ~= type(b) or (type(a) ~= "number" and type(a) ~= "string") then return false end
  if operator == "<" then return a < b elseif operator == "<=" then return a <= b end
  if operator == ">" then return a > b end
  return a >= b
end

-- Rows of `ui-for` → their number from 1, which is the path `index` of a row without such a field.
local numbers = setmetatable({}, { __mode = "k" })

local reader_source

-- Lua source of an argument or side of a comparison: statements that prepare it, and the expression for its value. Paths
-- start at local `here`, the object that the viewdef shows.
local function operand_source(operand, name)
  if not operand.elements then
    local value = operand.value
    return "", type(value) == "string" and (gsub(format("%q", value), "\n", "n")) or tostring(value)
  end
  local code = reader_source(operand.elements)
  return format("local %s do local v, o = nil, here if o ~= nil then %send %s = v end ", name, code, name), name
end

-- The call of a method with arguments.
local function call_source(e, from)
  local before, values = {}, {}
  for i = 1, #e.args do
    local code, value = operand_source(e.args[i], "a" .. i)
    before[i], values[i] = code, ", " .. value
  end
  return format("do %sv = %s[%q](%s%s) end ", concat(before), from, e.call, from, concat(values))
end

local function step_source(e, from)
  if e.index then return format("v = rawget(%s, %d) ", from, e.index) end
  if e.name == "index" then return format("do local row = %s v = row.index if v == nil then v = numbers[row] end end ", from) end
  if e.name then return format("v = %s[%q] ", from, e.name) end
  if e.args then return call_source(e, from) end
  if keywords[e.call] or not find(e.call, "^[%w_]+$") then return format("v = %s[%q](%s) ", from, e.call, from) end
  return format("v = %s:%s() ", from, e.call)
end

-- Lua source, one line, that reads the path from local `o` into local `v`; nil on the way gives nil.
function reader_source(elements)
  local code, ends, from = {}, 0, "o"
  for i = 1, #elements do
    local e = elements[i]
    if i > 1 then
      code[#code + 1] = "if v ~= nil then "
      ends = ends + 1
    end
    code[#code + 1] = step_source(e, from)
    from = "v"
  end
  if #elements == 0 then return "v = o " end
  for _ = 1, ends do code[#code + 1] = "end " end
  return concat(code)
end

-- The source of a whole path, which may be negated or compared.
local function source(found)
  if found.operator then
    local before, left = "", nil
    if found.left.elements then before, left = reader_source(found.left.elements), "v"
    else before, left = operand_source(found.left) end
    local code, right = operand_source(found.right, "r")
    return format("%sdo %sv = compare(%q, %s, %s) end ", before, code, found.operator, left, right)
  end
  local code = reader_source(found.elements)
  return found.negated and code .. "v = negate(v) " or code
end

local cache = setmetatable({}, { __mode = "v" })

-- The parsed path, or nil and a message.
local function parse(text)
  text = match(tostring(text), "^%s*(.-)%s*$")
  local known = cache[text]
  if known then return known end
  local path, query_text = syntax.split(text)
  local query = parse_query(query_text)
  local found = query and syntax.parse(path)
  if not found then return nil, "'" .. text .. "' is not a path" end
  local elements = found.elements
  local parsed = { text = path, query = query, ups = found.ups, elements = elements, last = elements[#elements] }
  parsed.computed = found.negated or found.operator ~= nil
  parsed.code = source(found)
  cache[text] = parsed
  return parsed
end

-- A function from the object to the value at the path; paths with the same source share it.
local HEAD = "local rawget, negate, compare, numbers = ... "
local readers = setmetatable({}, { __mode = "v" })
local function reader(path)
  local f = readers[path.code]
  if not f then
    local code = HEAD .. "return function(o, here) local v if o == nil then return nil end " .. path.code .. "return v end"
    f = load(code, "=path")(rawget, negate, compare, numbers)
    readers[path.code] = f
  end
  return f
end

-- Why a path cannot have this access, or nil.
local function refusal(path, access)
  if access ~= "r" and access ~= "w" and access ~= "rw" and access ~= "action" then
    return "access '" .. tostring(access) .. "' is not one of r, w, rw, action"
  end
  if path.computed then return access ~= "r" and "'" .. path.text .. "' can only be read" or nil end
  local last = path.last
  if not last or not last.call then return nil end
  if last.takes and access ~= "w" and access ~= "action" then return "'" .. path.text .. "' needs access w or action" end
  if not last.takes and access == "w" then return "'" .. path.text .. "' needs access r, rw or action" end
end

local step

-- The values of a call's arguments; `_` stands for the value that the page sent.
local function values_of(args, here, value)
  local values = {}
  for i = 1, #args do
    local v = args[i].value
    if args[i].takes then v = value
    elseif args[i].elements then
      v = here
      for at = 1, #args[i].elements do
        if v ~= nil then v = step(v, args[i].elements[at], here) end
      end
    end
    values[i] = v
  end
  return values
end

function step(o, e, here)
  if e.index then return rawget(o, e.index) end
  if e.args then return o[e.call](o, unpack(values_of(e.args, here), 1, #e.args)) end
  if e.call then return o[e.call](o) end
  local v = o[e.name]
  if v == nil and e.name == "index" then return numbers[o] end
  return v
end

-- Write to a path from `o`, or call the method at its end; raises on failure. Arguments are read from `here`.
local function write(path, o, value, access, here)
  local elements, n = path.elements, #path.elements
  if here == nil then here = o end
  for i = 1, n - 1 do
    if o ~= nil then o = step(o, elements[i], here) end
  end
  if o == nil or n == 0 then E.limits.raise(FAULT.PATH_FAILURE, "nothing at '" .. path.text .. "' to write to") end
  local e = elements[n]
  if e.call then
    local f = o[e.call]
    if type(f) ~= "function" then error("no method '" .. e.call .. "' at '" .. path.text .. "'", 0) end
    if e.args then f(o, unpack(values_of(e.args, here, value), 1, #e.args))
    elseif access == "action" and not e.takes then f(o) else f(o, value) end
  elseif e.index then rawset(o, e.index, value)
  else o[e.name] = value end
end

E.paths = { parse = parse, reader = reader, refusal = refusal, write = write, negate = negate, compare = compare, numbers = numbers }
