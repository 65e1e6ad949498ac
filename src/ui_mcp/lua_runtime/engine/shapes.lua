-- A shape is a viewdef in a namespace: its bindings, and a generated function that reads and compares them all.
local E, host = ...
local paths = E.paths
local load, concat, format, rep, sub = load, table.concat, string.format, string.rep, string.sub
local rawequal, rawget, tonumber = rawequal, rawget, tonumber

local record = E.view_record
local read_only = { ["sl-badge"] = true, ["sl-copy-button"] = true, ["sl-option"] = true }
read_only["sl-progress-bar"], read_only["sl-progress-ring"], read_only["sl-qr-code"] = true, true, true
local levels = { high = 1, medium = 2, med = 2, low = 3 }

local function editable(tag)
  if tag == "input" or tag == "textarea" or tag == "select" then return true end
  local family = sub(tag, 1, 3)
  return (family == "sl-" or family == "ui-") and not read_only[tag]
end

-- The access of a binding whose query does not set it.
local function default_access(kind, tag, path, reported)
  local call = path.computed or path.last and path.last.call
  if kind == "action" or kind == "event" then return "action" end
  if kind == "keypress" then return call and "action" or "rw" end
  if kind == "value" and not call and (editable(tag) or reported) then return "rw" end
  return "r"
end

-- One binding; an invalid one has the message in `refused` and is neither read nor written.
local function binding(row, pos, shape)
  local kind, tag, text = row[1], row[3], row[4]
  local b = { pos = pos, kind = kind, attribute = row[2], tag = tag, text = text, line = row[9] }
  b.namespace, b.item_namespace, b.item_wrapper = row[5], row[6], row[7]
  b.inline = row[8] ~= "" and row[8] or nil
  b.data = E.data_kinds[kind] ~= nil
  b.options = b.data and row[10] ~= "" and E.json.decode(row[10]) or nil
  local path, problem = paths.parse(text)
  if not path then
    b.refused, b.path, b.query, b.level = problem, { text = text }, {}, 2
    return b
  end
  b.path, b.query = path, path.query
  b.access = path.query.access or default_access(kind, tag, path, shape.viewdef.editable and shape.viewdef.editable[pos])
  b.refused = paths.refusal(path, b.access)
  b.reads = not b.refused and (b.access == "r" or b.access == "rw")
  b.writes = not b.refused and b.access ~= "r"
  b.level = levels[path.query.priority] or 2
  b.wrapper, b.item = path.query.wrapper, path.query.itemWrapper or path.query.item
  b.window = kind == "viewlist" and path.query.window and (tonumber(path.query.window) or 50)
  return b
end

local function line(b)
  local tail
  if b.kind == "viewlist" then tail = format("listed(s, %d, v) ", b.pos)
  elseif b.kind == "view" and b.inline then tail = format("branched(s, %d, v) ", b.pos)
  elseif b.kind == "view" and b.wrapper then tail = format("wrapped(s, %d, v) ", b.pos)
  elseif b.data then tail = format("data(s, %d, v) ", b.pos)
  elseif b.kind == "view" then tail = format("if not rawequal(v, s[%d]) then viewed(s, %d, v) end ", b.slot, b.pos)
  else tail = format("if v ~= s[%d] then changed(s, %d, v) end ", b.slot, b.pos) end
  if b.path.ups == 0 then return b.path.code .. tail end
  return format("do local o = up(s, %d) v = nil if o ~= nil then %send %send", b.path.ups, b.path.code, tail)
end

local HEAD = "local rawequal, rawget, changed, viewed, wrapped, branched, listed, data, up, negate, compare, numbers = ..."
local ONE = { HEAD, "return function(s, o) local v, here = nil, o", "end" }
local ROWS = {
  HEAD,
  "return function(rows, from, to, shape, other) local v for i = from, to do local s = rows[i] "
    .. format("if not s or s[%d] ~= shape or s[%d] then other(s) else local o = s[%d] local here = o", record.SHAPE, record.RARE, record.OBJECT),
  "end end end",
}

-- Compile bindings into one function with a line for each; `lines` gives the position of a line, to locate errors.
local function compile(shape, bindings, frame)
  local code, lines = { frame[1], frame[2] }, {}
  for i = 1, #bindings do
    code[#code + 1] = line(bindings[i])
    lines[#code] = bindings[i].pos
  end
  code[#code + 1] = frame[3]
  local views = E.views
  local make = load(concat(code, "\n"), "=view " .. shape.key)
  local changed, viewed, wrapped, branched, listed = views.changed, views.viewed, views.wrapped, views.branched, views.listed
  local made = make(
    rawequal, rawget, changed, viewed, wrapped, branched, listed, views.data, views.up, paths.negate, paths.compare, paths.numbers
  )
  return made, lines
end

-- The generated functions of one level: for a view, and for all rows of a list if they have no nested views.
local function scanner(shape, level)
  local bindings = {}
  for pos = 0, shape.count - 1 do
    if shape[pos].reads and shape[pos].level == level then bindings[#bindings + 1] = shape[pos] end
  end
  if #bindings == 0 then return nil end
  local made = {}
  made.run, made.lines = compile(shape, bindings, ONE)
  if not shape.kids and level == 2 then made.rows = compile(shape, bindings, ROWS) end
  return made
end

-- Assign slots to bindings; a nested view or list takes two, for its value and for the view or rows; so
-- does the data of an element, for its JSON and for what the page has asked for.
local function lay_out(shape)
  local slot = record.FIRST_VALUE
  for pos = 0, shape.count - 1 do
    local b = shape[pos]
    b.slot = slot
    local nested = b.kind == "view" or b.kind == "viewlist"
    slot = slot + ((nested or b.data) and 2 or 1)
    if b.reads and nested then shape.kids[#shape.kids + 1] = b end
    if b.query.create and b.reads then shape.makers = shape.makers or {} shape.makers[#shape.makers + 1] = b end
  end
  if #shape.kids == 0 then shape.kids = nil end
  shape.width = slot - 1
end

local function own_namespace(shape, b)
  if b.query.namespace then return b.query.namespace end
  if shape.kind == "lua.ViewList" and shape.namespace ~= "" then return shape.namespace end
  return b.namespace ~= "" and b.namespace or shape.namespace
end

local function build(viewdef, kind, namespace, fallback)
  if not viewdef.viewed and viewdef.version > 0 then
    viewdef.viewed = true
    host.emit(E.wire.output.VIEWED, viewdef.key, 0)
  end
  local shape = { viewdef = viewdef, key = viewdef.key, kind = kind, namespace = namespace, fallback = fallback }
  shape.kids, shape.refused = {}, {}
  shape.count = viewdef.bindings[E.json.LENGTH]
  for i = 1, shape.count do
    local b = binding(viewdef.bindings[i], i - 1, shape)
    shape[i - 1] = b
    if b.refused then shape.refused[#shape.refused + 1] = b end
    b.namespace = own_namespace(shape, b)
    b.fallback = b.query.fallbackNamespace or (b.wrapper == "lua.ViewList" and "list-item") or fallback
    b.item_namespace = b.item_namespace ~= "" and b.item_namespace or b.namespace
  end
  lay_out(shape)
  for level = 1, 3 do shape["level" .. level] = scanner(shape, level) end
  shape.leaf = not shape.kids and not shape.level1 and not shape.level3 and shape.level2 ~= nil
  shape.empty = load("return {" .. rep("nil,", shape.width) .. "}", "=record")
  return shape
end

-- The shape of a viewdef in these namespaces, built once.
function E.shape(viewdef, kind, namespace, fallback)
  local name = kind .. "\0" .. namespace .. "\0" .. fallback
  viewdef.shapes = viewdef.shapes or {}
  local shape = viewdef.shapes[name]
  if not shape then
    shape = build(viewdef, kind, namespace, fallback)
    viewdef.shapes[name] = shape
  end
  return shape
end
