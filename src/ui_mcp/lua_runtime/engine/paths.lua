-- Paths, PATH[?QUERY]: parses them, compiles readers, writes through them.
local E = ...
local FAULT = E.wire.fault
local type, tonumber, tostring, error, rawget, rawset = type, tonumber, tostring, error, rawget, rawset
local load = load
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

local function element(text)
  if find(text, "^0$") or find(text, "^[1-9]%d*$") then return { index = tonumber(text) + 1 } end
  local name, arguments = match(text, "^(.-)(%(.*%))$")
  if name then
    if not find(name, NAME) or (arguments ~= "()" and arguments ~= "(_)") then return nil end
    return { call = name, takes = arguments == "(_)" }
  end
  if find(text, NAME) then return { name = text } end
end

local function parse_elements(text)
  local list = {}
  if text == "" then return list end
  if sub(text, -1) == "." then return nil end
  for part in gmatch(text .. ".", "([^.]*)%.") do
    local found = element(part)
    if not found or (list[#list] and list[#list].takes) then return nil end
    list[#list + 1] = found
  end
  return list
end

-- Count the steps up at the front, each written ".."; also returns the rest of the path.
local function climb(text)
  local ups = 0
  while sub(text, 1, 2) == ".." do
    ups = ups + 1
    text = sub(text, 3)
    if sub(text, 1, 1) == "." and sub(text, 2, 2) ~= "." or sub(text, 1, 3) == "..." then text = sub(text, 2) end
  end
  return ups, text
end

local function step_source(e, from)
  if e.index then return format("v = rawget(%s, %d) ", from, e.index) end
  if e.name then return format("v = %s[%q] ", from, e.name) end
  if keywords[e.call] or not find(e.call, "^[%w_]+$") then return format("v = %s[%q](%s) ", from, e.call, from) end
  return format("v = %s:%s() ", from, e.call)
end

-- Lua source, one line, that reads the path from local `o` into local `v`; nil on the way gives nil.
local function reader_source(elements)
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

local cache = setmetatable({}, { __mode = "v" })

-- The parsed path, or nil and a message.
local function parse(text)
  text = match(tostring(text), "^%s*(.-)%s*$")
  local known = cache[text]
  if known then return known end
  local path, query_text = match(text, "^([^?]*)%?(.*)$")
  local query = parse_query(query_text or "")
  if not query then return nil, "'" .. text .. "' is not a path" end
  path = match(path or text, "^(.-)%s*$")
  local ups, rest = climb((gsub(path, "%[(%d+)%]", ".%1")))
  local elements = parse_elements(rest)
  if not elements then return nil, "'" .. text .. "' is not a path" end
  local last = elements[#elements]
  local parsed = { text = path, query = query, ups = ups, elements = elements, last = last, code = reader_source(elements) }
  cache[text] = parsed
  return parsed
end

-- A function from the object to the value at the path; paths with the same source share it.
local readers = setmetatable({}, { __mode = "v" })
local function reader(path)
  local f = readers[path.code]
  if not f then
    local source = "local rawget = ... return function(o) local v if o == nil then return nil end " .. path.code .. "return v end"
    f = load(source, "=path")(rawget)
    readers[path.code] = f
  end
  return f
end

-- Why a path cannot have this access, or nil.
local function refusal(path, access)
  if access ~= "r" and access ~= "w" and access ~= "rw" and access ~= "action" then
    return "access '" .. tostring(access) .. "' is not one of r, w, rw, action"
  end
  local last = path.last
  if not last or not last.call then return nil end
  if last.takes and access ~= "w" and access ~= "action" then return "'" .. path.text .. "' needs access w or action" end
  if not last.takes and access == "w" then return "'" .. path.text .. "' needs access r, rw or action" end
end

local function step(o, e)
  if e.index then return rawget(o, e.index) end
  if e.call then return o[e.call](o) end
  return o[e.name]
end

-- Write to a path from `o`, or call the method at its end; raises on failure.
local function write(path, o, value, access)
  local elements, n = path.elements, #path.elements
  for i = 1, n - 1 do
    if o ~= nil then o = step(o, elements[i]) end
  end
  if o == nil or n == 0 then E.limits.raise(FAULT.PATH_FAILURE, "nothing at '" .. path.text .. "' to write to") end
  local e = elements[n]
  if e.call then
    local f = o[e.call]
    if type(f) ~= "function" then error("no method '" .. e.call .. "' at '" .. path.text .. "'", 0) end
    if access == "action" and not e.takes then f(o) else f(o, value) end
  elseif e.index then rawset(o, e.index, value)
  else o[e.name] = value end
end

E.paths = { parse = parse, reader = reader, refusal = refusal, write = write }
