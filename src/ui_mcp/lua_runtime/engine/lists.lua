-- The rows of a `ui-viewlist`, synchronized with a Lua list: all of them, or those in a window.
-- `rows` is { from, to, length, elements, [i] = view or false }, i from 1.
local E = ...
local views = E.views
local type, rawequal, rawget, rawlen, getmetatable = type, rawequal, rawget, rawlen, debug.getmetatable
local floor, min, max = math.floor, math.min, math.max
local type_of, only_numbers = E.type_of, E.only_numbers
local record = E.view_record
local SHAPE, NUMBER, UNSENT = record.SHAPE, record.NUMBER, record.UNSENT
local OBJECT, ROW, RARE = record.OBJECT, record.ROW, record.RARE

local lists = {}
E.lists = lists
local NOTHING = {}
local numbers = E.paths.numbers

-- The list to show, or an empty one if the value is no list. Of a long list with the same identity and length only the
-- names are checked.
local function as_list(v, rows, same)
  if type(v) ~= "table" or type_of(v) then return NOTHING, 0 end
  local n = rawlen(v)
  local brief = same and n > 16 and n == rows.length
  if brief and rawget(v, n) ~= nil and only_numbers(v, n) then return v, n end
  if not only_numbers(v) then return NOTHING, 0 end
  return v, n
end

local function item_object(s, b, row, element)
  -- Rows written in place may be texts and numbers, which have no fields.
  if b.inline and element ~= nil and type(element) ~= "table" then return { value = element, index = row } end
  if b.item_wrapper == "" or element == nil then return element end
  local x = views.rare(s)
  x.items = x.items or {}
  x.items[row] = E.wrap_item(x.items[row], b, element, s, row)
  return x.items[row].object == nil and element or x.items[row].object
end

-- Put an element into a row; returns whether the row has a new view.
local function set_row(s, b, rows, i, element)
  rows.elements[i] = element
  if b.inline and type(element) == "table" then numbers[element] = i end
  local meta = type(element) == "table" and getmetatable(element)
  if type(meta) == "table" and rawget(meta, "__eq") then rows.equates = true end
  local old = rows[i] or nil
  local new = views.fit(s, b.pos, i - 1, old, item_object(s, b, i, element), b.item_namespace, b.fallback)
  rows[i] = new or false
  return new ~= old
end

local function drop_row(rows, i)
  if rows[i] then views.drop(rows[i]) end
  rows[i], rows.elements[i] = nil, nil
end

-- Queue the length or the splice, then every row that has a new view.
local function announce(s, b, length, fresh)
  if s[UNSENT] then return end
  views.push(b.level, "[" .. s[NUMBER] .. "," .. b.pos .. "," .. length .. "]")
  for i = 1, #fresh do views.push(b.level, fresh[i]) end
end

-- The index is that of now: what is queued after it may be a splice that moves the row.
local function row_message(s, b, rows, i)
  return rows[i] and { view = rows[i], row = i - 1 } or { empty = s, pos = b.pos, row = i - 1 }
end

-- The rows whose element has changed. `~=` would call an app's __eq, so elements that define it are compared by
-- rawequal, which costs a call each.
local function differing(list, elements, n, rows)
  local found = {}
  if rows.equates or getmetatable(list) ~= nil then
    for i = 1, n do
      if not rawequal(rawget(list, i), elements[i]) then found[#found + 1] = i end
    end
  else
    for i = 1, n do
      if list[i] ~= elements[i] then found[#found + 1] = i end
    end
  end
  return found
end

-- How many rows at the beginning and at the end are as they were, if the list differs by one run of rows that was put in
-- or taken out; nil otherwise.
local function kept_ends(list, elements, old, n)
  local shorter, head, tail = min(old, n), 0, 0
  while head < shorter and rawequal(rawget(list, head + 1), elements[head + 1]) do head = head + 1 end
  while tail < shorter - head and rawequal(rawget(list, n - tail), elements[old - tail]) do tail = tail + 1 end
  if tail > 0 and head + tail == shorter then return head, tail end
end

-- Give the rows behind a splice their new places; they keep their views.
local function shift(b, rows, first, last, by)
  local from, to, step = first, last, 1
  if by > 0 then from, to, step = last, first, -1 end
  for i = from, to, step do
    local view, element = rows[i], rows.elements[i]
    local at = i + by
    rows[at], rows.elements[at] = view, element
    if view then view[ROW] = at - 1 end
    if b.inline and type(element) == "table" then numbers[element] = at
    elseif b.inline and view then view[OBJECT].index = at end
  end
end

-- Rows put in or taken out in the middle: the others stay what they are, on the page too, with focus and caret. Wrappers
-- belong to a place in the list, and so does the note of a missing viewdef.
local function splice(s, b, rows, list, n)
  local old = rows.to
  if old == n or b.item_wrapper ~= "" or (s[RARE] and s[RARE].missing) then return false end
  local head, tail = kept_ends(list, rows.elements, old, n)
  if not head then return false end
  local removed, added, fresh = max(0, old - n), max(0, n - old), {}
  for i = head + 1, head + removed do drop_row(rows, i) end
  shift(b, rows, old - tail + 1, old, n - old)
  for i = n + 1, old do rows[i], rows.elements[i] = nil, nil end
  for i = head + 1, head + added do
    rows[i] = nil
    set_row(s, b, rows, i, rawget(list, i))
    fresh[#fresh + 1] = row_message(s, b, rows, i)
  end
  rows.to, rows.length = n, n
  announce(s, b, '{"splice":[' .. head .. "," .. removed .. "," .. added .. "]}", fresh)
  return true
end

local function whole(s, b, rows, list, n)
  if splice(s, b, rows, list, n) then return end
  local elements, fresh, shrunk = rows.elements, nil, rows.to > n
  for i = rows.to, n + 1, -1 do drop_row(rows, i) end
  local known = rows.to < n and rows.to or n
  local todo = differing(list, elements, known, rows)
  for i = rows.to + 1, n do todo[#todo + 1] = i end
  for at = 1, #todo do
    local i = todo[at]
    local element = rawget(list, i)
    local new = set_row(s, b, rows, i, element)
    if new or i > rows.to then
      fresh = fresh or {}
      fresh[#fresh + 1] = row_message(s, b, rows, i)
    end
  end
  local moved = n ~= rows.length
  rows.to, rows.length = n, n
  if fresh or shrunk or moved then announce(s, b, n, fresh or NOTHING) end
end

-- Only rows inside the window have views; the page gets length, start and rows in one value.
local function windowed(s, b, rows, list, n)
  local from = max(1, min(rows.want + 1, n - rows.count + 1))
  local to = min(n, from + rows.count - 1)
  local moved = from ~= rows.from or to ~= rows.to or n ~= rows.length
  for i = rows.from, rows.to do
    if i < from or i > to then drop_row(rows, i) end
  end
  for i = from, to do
    local element = rawget(list, i)
    if rows[i] == nil or not rawequal(element, rows.elements[i]) then
      if set_row(s, b, rows, i, element) then moved = true end
    end
  end
  rows.from, rows.to, rows.length = from, to, n
  if moved and not s[UNSENT] then views.push(b.level, { window = s, pos = b.pos }) end
end

local function start(b)
  return { from = 1, to = 0, length = 0, elements = {}, want = 0, count = b.window or 0 }
end

-- The scan has read a list.
function views.listed(s, pos, v)
  local b = s[SHAPE][pos]
  local rows = s[b.slot + 1]
  if not rows then
    rows = start(b)
    s[b.slot + 1] = rows
  end
  local list, n = as_list(v, rows, rawequal(v, s[b.slot]))
  s[b.slot] = v
  if b.window then windowed(s, b, rows, list, n) else whole(s, b, rows, list, n) end
end

-- The page has scrolled and needs rows from `want` on; clamped, so that a page cannot ask for views of the whole list.
function lists.move(s, b, want, wanted)
  local rows = s[b.slot + 1]
  if not rows then return end
  rows.want = max(0, floor(want))
  if wanted then rows.count = max(1, min(floor(wanted), 4 * b.window, 1000)) end
end

-- Viewdefs were added or changed: select the viewdef of every row again.
function lists.refit(s, b)
  local rows = s[b.slot + 1]
  if not rows then return end
  local fresh = {}
  for i = rows.from, rows.to do
    if set_row(s, b, rows, i, rows.elements[i]) then
      fresh[#fresh + 1] = row_message(s, b, rows, i)
    end
  end
  if #fresh == 0 or s[UNSENT] then return end
  if b.window then views.push(b.level, { window = s, pos = b.pos }) else announce(s, b, rows.length, fresh) end
end
