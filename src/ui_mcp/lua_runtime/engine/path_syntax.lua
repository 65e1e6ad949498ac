-- The syntax of paths: elements with arguments, negation and comparisons. Turns text into tables, reads nothing.
local E = ...
local tonumber, find, match, sub, gsub = tonumber, string.find, string.match, string.sub, string.gsub

local NAME = "^[%a_\128-\255][%w_\128-\255]*$"
local WORDS = { ["true"] = { value = true }, ["false"] = { value = false }, ["nil"] = {} }
local COMPARISONS = { ["=="] = "==", ["!="] = "~=", ["~="] = "~=", ["<="] = "<=", [">="] = ">=", ["<"] = "<", [">"] = ">" }

-- The offset of the first character of `set` that is outside quotes and parentheses.
local function outside(text, set, from)
  local quote, depth = nil, 0
  for at = from or 1, #text do
    local c = sub(text, at, at)
    if quote then
      if c == quote then quote = nil end
    elseif c == '"' or c == "'" then quote = c
    elseif c == "(" then depth = depth + 1
    elseif c == ")" then depth = depth - 1
    elseif depth == 0 and find(set, c, 1, true) then return at end
  end
end

-- A literal as { value }; nil if the text is none.
local function literal(text)
  local quote = match(text, "^([\"'])")
  if quote then
    local inner = match(text, "^.([^" .. quote .. "]*)" .. quote .. "$")
    return inner and { value = inner }
  end
  if find(text, "^%-?%d+$") or find(text, "^%-?%d*%.%d+$") then return { value = tonumber(text) } end
  return WORDS[text]
end

local elements_of

-- One argument: a literal, a path from the object, or `_` for the value that the page sends.
local function argument(text)
  if text == "_" then return { takes = true } end
  local found = literal(text)
  if found then return found end
  local elements = not find(text, "[(][^)]") and elements_of(text)
  return elements and #elements > 0 and { elements = elements } or nil
end

local function arguments(text)
  local list, rest = {}, match(text, "^%s*(.-)%s*$")
  if rest == "" then return list end
  while rest do
    local comma = outside(rest, ",")
    local found = argument(match(sub(rest, 1, comma and comma - 1), "^%s*(.-)%s*$"))
    if not found then return nil end
    list[#list + 1] = found
    list.takes = list.takes or found.takes
    rest = comma and sub(rest, comma + 1)
  end
  return list
end

local function element(text)
  if find(text, "^0$") or find(text, "^[1-9]%d*$") then return { index = tonumber(text) + 1 } end
  local name, inside = match(text, "^([^(]-)%((.*)%)$")
  if name then
    local list = find(name, NAME) and arguments(inside)
    if not list then return nil end
    return { call = name, takes = list.takes or false, args = #list > 0 and list or nil }
  end
  if find(text, NAME) then return { name = text } end
end

-- The elements of a path without steps up; nil if it is malformed.
function elements_of(text)
  local list, from = {}, 1
  if text == "" then return list end
  text = gsub(text, "%[(%d+)%]", ".%1")
  while from <= #text + 1 do
    local stop = outside(text, ".", from) or #text + 1
    local found = element(sub(text, from, stop - 1))
    if not found or (list[#list] and list[#list].takes) then return nil end
    list[#list + 1] = found
    from = stop + 1
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

local function path(text)
  local ups, rest = climb(text)
  local elements = elements_of(rest)
  return elements and { ups = ups, elements = elements }
end

-- One side of a comparison: a literal or a path.
local function operand(text)
  text = match(text, "^%s*(.-)%s*$")
  if text == "" then return nil end
  return literal(text) or path(text)
end

local function comparison(text)
  local at = outside(text, "=!~<>")
  if not at then return nil end
  local operator = match(text, "^[=!~<>]=", at) or sub(text, at, at)
  local left, right = operand(sub(text, 1, at - 1)), operand(sub(text, at + #operator))
  if not COMPARISONS[operator] or not left or not right or (right.ups or 0) > 0 then return nil end
  return { ups = left.ups or 0, elements = left.elements or {}, left = left, operator = COMPARISONS[operator], right = right }
end

-- The parsed text: { ups, elements }, for `!path` also `negated`, for a comparison `left`, `operator` and `right`; nil if it
-- is none of these.
local function parse(text)
  local found = path(text)
  if found then return found end
  if sub(text, 1, 1) == "!" and sub(text, 2, 2) ~= "=" then
    found = path(match(text, "^!%s*(.-)$"))
    if not found or #found.elements == 0 then return nil end
    found.negated = true
    return found
  end
  return comparison(text)
end

-- Split PATH?QUERY; a question mark inside quotes belongs to the path.
local function split(text)
  local at = outside(text, "?")
  if not at then return text, "" end
  return match(sub(text, 1, at - 1), "^(.-)%s*$"), sub(text, at + 1)
end

E.path_syntax = { parse = parse, split = split }
