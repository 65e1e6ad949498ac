-- Encodes the changes for a page as one frame, from the records as they are after change detection.
local E = ...
local views, viewdefs, json = E.views, E.viewdefs, E.json
local concat, type = table.concat, type
local slot_json = views.slot_json
local record = E.view_record
local SHAPE, NUMBER, PARENT = record.SHAPE, record.NUMBER, record.PARENT
local POSITION, ROW, UNSENT = record.POSITION, record.ROW, record.UNSENT

local VIEW_HEAD = E.message_head(E.wire.message.VIEW)

local inline

local function rows_json(rows, known)
  local out, key = {}, nil
  for i = rows.from, rows.to do
    local row = rows[i]
    if not row or (known and not row[UNSENT]) then
      out[#out + 1] = row and row[NUMBER] or "null"
      key = nil
    else
      local row_key = row[SHAPE].key
      out[#out + 1] = inline(row, row_key == key)
      key = row_key
    end
  end
  return "[" .. concat(out, ",") .. "]"
end

local function window_json(rows, known)
  return '{"length":' .. rows.length .. ',"from":' .. rows.from - 1 .. ',"rows":' .. rows_json(rows, known) .. "}"
end

local function entry_json(s, b)
  if not b.reads then return "null" end
  if b.kind == "view" then
    local child = s[b.slot + 1]
    return child and inline(child) or "null"
  end
  if b.kind ~= "viewlist" then return slot_json(s[b.slot]) end
  local rows = s[b.slot + 1]
  if not rows then return "null" end
  return b.window and window_json(rows) or rows_json(rows)
end

local function values_json(s)
  local shape, out, last = s[SHAPE], {}, 0
  s[UNSENT] = false
  for pos = 0, shape.count - 1 do
    local text = entry_json(s, shape[pos])
    out[pos + 1] = text
    if text ~= "null" then last = pos + 1 end
  end
  return "[" .. concat(out, ",", 1, last) .. "]"
end

function inline(s, same_key)
  return "[" .. s[NUMBER] .. "," .. (same_key and "0" or json.quote(s[SHAPE].key)) .. "," .. values_json(s) .. "]"
end

local function message(number, parent, slot, row, key, values)
  local place = ',"parent":' .. parent .. ',"slot":' .. slot .. (row and ',"index":' .. row or "")
  return VIEW_HEAD .. '"view":' .. number .. place .. ',"key":' .. json.quote(key) .. ',"values":' .. values .. "}}"
end

-- The text of one queued change; nil if the view is gone or has been sent meanwhile.
local function entry_text(entry, page)
  if type(entry) == "string" then return entry end
  if entry.view then
    local s = entry.view
    if page.views[s[NUMBER]] ~= s or not s[UNSENT] then return nil end
    return message(s[NUMBER], s[PARENT] and s[PARENT][NUMBER] or 0, s[POSITION], entry.row or s[ROW], s[SHAPE].key, values_json(s))
  end
  if entry.window then
    local s = entry.window
    if page.views[s[NUMBER]] ~= s then return nil end
    local b = s[SHAPE][entry.pos]
    return "[" .. s[NUMBER] .. "," .. entry.pos .. "," .. window_json(s[b.slot + 1], true) .. "]"
  end
  if entry.empty == false then return message(0, 0, 0, nil, "", "[]") end
  if page.views[entry.empty[NUMBER]] ~= entry.empty then return nil end
  return message(0, entry.empty[NUMBER], entry.pos, entry.row, "", "[]")
end

local function collect(page)
  local texts = {}
  for level = 1, 3 do
    local list = page.out[level]
    for i = 1, #list do texts[#texts + 1] = entry_text(list[i], page) end
  end
  return texts
end

local function fresh_out()
  return { {}, {}, {}, errors = {}, destroyed = {} }
end
E.fresh_out = fresh_out

local function append_all(texts, list)
  for i = 1, #list do texts[#texts + 1] = list[i] end
end

-- The frame for a page, or nil: removals, viewdefs, changes by priority, then errors, which may be about new views.
function E.frame(page)
  local changes = collect(page)
  local first = E.root_update(page, viewdefs.undelivered_json(page))
  local texts = page.out.destroyed
  if first then texts[#texts + 1] = first end
  append_all(texts, changes)
  append_all(texts, page.out.errors)
  page.out = fresh_out()
  if #texts == 0 then return nil end
  if #texts == 1 then return texts[1] end
  return "[" .. concat(texts, ",") .. "]"
end
