-- Views: records of one viewdef over one object, called `s` throughout; view_record.lua lists their fields.
local E = ...
local FAULT = E.wire.fault
local json, viewdefs, paths, limits, problems = E.json, E.viewdefs, E.paths, E.limits, E.problems
local type, rawequal, next, tostring = type, rawequal, next, tostring
local type_of, value_json, shape_of = E.type_of, E.value_json, E.shape
local record = E.view_record
local SHAPE, OBJECT, NUMBER, PARENT, POSITION = record.SHAPE, record.OBJECT, record.NUMBER, record.PARENT, record.POSITION
local ROW, UNSENT, RARE, CHANGES = record.ROW, record.UNSENT, record.RARE, record.CHANGES

local MAX_DEPTH = 60
local ROW_NAMESPACE = "list-item" -- the last resort of rows: what authors call the viewdef of a row
local views = {}
E.views = views

-- Numbers are unique in the session, so that ids follow the order of creation.
local serial = 0
function E.allocate_numbers(n)
  local first = serial + 1
  serial = serial + n
  return first
end

function E.numbers_after(n)
  if n > serial then serial = n end
end

local function rare(s)
  local x = s[RARE]
  if not x then
    x = {}
    s[RARE] = x
  end
  return x
end

local function push(level, entry)
  local out = E.page.out[level]
  out[#out + 1] = entry
end
views.push, views.rare = push, rare

local function count(s, pos)
  local counts = s[CHANGES]
  if not counts then
    counts = {}
    s[CHANGES] = counts
  end
  counts[pos] = (counts[pos] or 0) + 1
end

-- The JSON of a slot. Tables are stored as { json = … }, so that comparing them calls no __eq of an app.
local function slot_json(v)
  local kind = type(v)
  if kind == "string" then return json.quote(v) end
  if kind == "number" then return json.number(v) end
  if kind == "boolean" then return v and "true" or "false" end
  if kind == "table" then return v.json end
  return "null"
end
views.slot_json = slot_json

local function send(s, b)
  push(b.level, "[" .. s[NUMBER] .. "," .. b.pos .. "," .. slot_json(s[b.slot]) .. "]")
end

-- The scan has read another value than the one in the slot.
function views.changed(s, pos, v)
  local b, unsent, is_table = s[SHAPE][pos], s[UNSENT], type(v) == "table"
  local slot = b.slot
  local old = s[slot]
  if unsent and not is_table then
    s[slot] = v
    return
  end
  if is_table then
    local text = value_json(v)
    if type(old) == "table" and old.json == text then return end
    s[slot] = { json = text }
  else
    s[slot] = v
    if slot_json(old) == slot_json(v) then return end
  end
  if not unsent then
    count(s, pos)
    send(s, b)
  end
end

-- The scan has read the data of an element; `read` turns it into the JSON of what its page shows.
function views.data(s, pos, v)
  local b = s[SHAPE][pos]
  local kind = E.data_kinds[b.kind]
  local state = s[b.slot + 1]
  if not state then
    state = kind.start(s[SHAPE].viewdef.app, b.options)
    s[b.slot + 1] = state
  end
  -- Nothing if it is as before; what only adds to it is sent and not kept.
  local text, adds = kind.read(state, v, s[UNSENT])
  local known = s[b.slot]
  if not text or known and known.json == text then return end
  if not adds then s[b.slot] = { json = text } end
  if s[UNSENT] then return end
  count(s, pos)
  push(b.level, "[" .. s[NUMBER] .. "," .. pos .. "," .. text .. "]")
end

-- The page asks an element's data for other rows, or changes a cell; an answer is sent once and not kept.
function views.ask(s, b, question)
  local state = s[b.slot + 1]
  local ok, answer = limits.call(E.data_kinds[b.kind].ask, state or {}, question)
  if not ok then return views.fail(s, b.pos, answer, true) end
  if answer then push(b.level, "[" .. s[NUMBER] .. "," .. b.pos .. "," .. answer .. "]") end
end

-- The binding that shows a view.
local function place(s)
  return s[PARENT] and s[PARENT][SHAPE][s[POSITION]]
end

-- The view that a `ui-if` belongs to, since that is no step of its own.
local function without_branches(s)
  while s and s[PARENT] and place(s).inline and place(s).kind == "view" do s = s[PARENT] end
  return s
end

-- The object that the path of a binding starts from: `ups` variables above its parent. From a row of `ui-for`, one step
-- leads to the object that has the list.
function views.up(s, ups)
  s = without_branches(s)
  local nav, in_row = s[OBJECT], s[ROW] ~= nil
  for _ = 1, ups do
    if s == nil then return nil end
    if in_row and not place(s).inline then
      nav, in_row = s[PARENT][s[PARENT][SHAPE][s[POSITION]].slot], false
    else
      s = without_branches(s[PARENT])
      nav, in_row = s and s[OBJECT], s and s[ROW] ~= nil
    end
  end
  return nav
end

local function shown_above(parent, object, viewdef)
  local depth = 0
  while parent do
    depth = depth + 1
    if rawequal(parent[OBJECT], object) and parent[SHAPE].viewdef == viewdef then return "this view would show itself" end
    parent = parent[PARENT]
  end
  if depth > MAX_DEPTH then return "views are nested more than " .. MAX_DEPTH .. " deep" end
end

-- `create=T`: put an instance of T where the path has no value.
local function make_default(s, b)
  local ok, fault = limits.call(function()
    local from = b.path.ups == 0 and s[OBJECT] or views.up(s, b.path.ups)
    local class, problem = E.class_named(b.query.create, s[SHAPE].viewdef.app)
    if problem then limits.raise(FAULT.LUA_ERROR, problem) end
    if class and paths.reader(b.path)(from, s[OBJECT]) == nil then paths.write(b.path, from, class:new(), "w") end
  end)
  if not ok then views.fail(s, b.pos, fault) end
end

-- Create a view; the running scan reads its values.
local function create(parent, pos, row, object, shape)
  local s = shape.empty()
  s[SHAPE], s[OBJECT], s[PARENT], s[POSITION], s[ROW], s[UNSENT] = shape, object, parent, pos, row, true
  local number = E.allocate_numbers(shape.count + (row and 2 or 1)) + (row and 1 or 0)
  s[NUMBER] = number
  local page = E.page
  page.views[number] = s
  if shape.level1 then page.has_high = true end
  if shape.level3 then page.has_low = true end
  viewdefs.need(page, viewdefs.index_of(shape.viewdef, shape.kind))
  for i = 1, #shape.refused do views.refuse(s, shape.refused[i]) end
  for i = 1, #(shape.makers or {}) do make_default(s, shape.makers[i]) end
  return s
end

-- Remove a view and all views below it.
local function drop(s)
  local stack, n = { s }, 1
  local known = E.page.views
  while n > 0 do
    s = stack[n]
    stack[n] = nil
    n = n - 1
    known[s[NUMBER]] = nil
    for pos in next, s[RARE] and s[RARE].errors or {} do
      problems.binding_settled(s[SHAPE].viewdef, s[SHAPE][pos], true)
    end
    for _, b in next, s[SHAPE].kids or {} do
      local below = s[b.slot + 1]
      if below and b.kind == "view" then
        n = n + 1
        stack[n] = below
      elseif below then
        for i = below.from, below.to do
          if below[i] then
            n = n + 1
            stack[n] = below[i]
          end
        end
      end
    end
  end
end
views.drop = drop

-- The shape for an object, or nil. The last result for a type is cached, because the rows of a list ask for the same.
local chosen, chosen_version = {}, 0
local function shape_for(object, namespace, fallback)
  if type(object) ~= "table" then return nil end
  local kind = type_of(object)
  if not kind then return nil end
  local known = chosen[kind]
  if chosen_version ~= viewdefs.version then
    chosen, chosen_version, known = {}, viewdefs.version, nil
  end
  if not known or known.namespace ~= namespace or known.fallback ~= fallback then
    local viewdef = viewdefs.find(kind, namespace, fallback)
    known = { namespace = namespace, fallback = fallback, shape = viewdef and shape_of(viewdef, kind, namespace, fallback) }
    chosen[kind] = known
  end
  return known.shape
end

-- Whether a position names the missing viewdef: in a list only the first row without one does, for each type.
local function names_missing(parent, pos, row, kind)
  if not row then return true end
  local x = rare(parent)
  x.missing = x.missing or {}
  local key = pos .. " " .. kind
  if x.missing[key] and x.missing[key] < row then return false end
  x.missing[key] = row
  return true
end

-- The shape of what stands for an object without a viewdef; nil for what is no typed object.
local function stand_in(parent, pos, row, object, namespace)
  local kind = type(object) == "table" and type_of(object)
  if not kind then return nil end
  local viewdef = viewdefs.stand_in(kind, namespace)
  if names_missing(parent, pos, row, kind) then return shape_of(viewdef, kind, "", "") end
end

-- The shape for an object at a position; one with content of its own shows any object with that.
local function shape_at(parent, pos, row, object, namespace, fallback)
  local inline = parent[SHAPE][pos].inline
  if inline then
    local viewdef = object ~= nil and viewdefs.by_key[inline]
    return viewdef and shape_of(viewdef, "", namespace, fallback) or nil
  end
  local shape = shape_for(object, namespace, fallback)
  if not shape and row then shape = shape_for(object, ROW_NAMESPACE, "") end
  return shape or stand_in(parent, pos, row, object, namespace)
end

-- Replace `old` by a view of `object`, or keep it if the shape is the same; nil if it cannot be shown.
local function fit(parent, pos, row, old, object, namespace, fallback)
  local shape = shape_at(parent, pos, row, object, namespace, fallback)
  if old and old[SHAPE] == shape then
    old[OBJECT] = object
    return old
  end
  if old then drop(old) end
  if not shape then return nil end
  local problem = shown_above(parent, object, shape.viewdef)
  if problem then
    views.fail(parent, pos, limits.new_fault(FAULT.INVALID, problem))
    return nil
  end
  return create(parent, pos, row, object, shape)
end
views.fit = fit

-- Show `object` at a `ui-view` position.
local function show(s, pos, object)
  local b = s[SHAPE][pos]
  local old = s[b.slot + 1]
  local new = fit(s, pos, nil, old, object, b.namespace, b.fallback)
  s[b.slot + 1] = new
  if new ~= old and not s[UNSENT] then
    count(s, pos)
    push(b.level, new and { view = new } or { empty = s, pos = pos })
  end
end

-- The scan has read another value at a `ui-view` position.
function views.viewed(s, pos, v)
  s[s[SHAPE][pos].slot] = v
  show(s, pos, v)
end

-- The scan has read the condition of a `ui-if`.
function views.branched(s, pos, v)
  local b = s[SHAPE][pos]
  local object = not paths.negate(v) and s[OBJECT] or nil
  local child = s[b.slot + 1]
  s[b.slot] = v
  if rawequal(child and child[OBJECT], object) then return end
  show(s, pos, object)
end

-- The scan has read a `ui-view` position with a wrapper.
function views.wrapped(s, pos, v)
  local b = s[SHAPE][pos]
  local x = rare(s)
  x.wraps = x.wraps or {}
  local same = rawequal(v, s[b.slot])
  s[b.slot] = v
  x.wraps[pos] = E.wrap(x.wraps[pos], b, v, same, s)
  local object = x.wraps[pos] and x.wraps[pos].object
  if object == nil then object = v end
  local child = s[b.slot + 1]
  if child == nil or not rawequal(child[OBJECT], object) then show(s, pos, object) end
end

-- Viewdefs were added or changed: select the viewdef of every position again.
function views.refit(s)
  for _, b in next, s[SHAPE].kids or {} do
    if b.kind == "viewlist" then E.lists.refit(s, b)
    elseif b.inline then show(s, b.pos, not paths.negate(s[b.slot]) and s[OBJECT] or nil)
    else
      local wrap = s[RARE] and s[RARE].wraps and s[RARE].wraps[b.pos]
      local object = wrap and wrap.object
      if object == nil then object = s[b.slot] end
      show(s, b.pos, object)
    end
  end
end

-- Show the root view, which is variable 1.
function views.root(object)
  local page = E.page
  local old = page.root_view
  local shape = shape_for(object, "", "")
  if old and old[SHAPE] == shape then
    old[OBJECT] = object
    return
  end
  if old then drop(old) end
  page.root_view = shape and create(nil, 0, nil, object, shape) or nil
  if page.root_view ~= old then push(2, page.root_view and { view = page.root_view } or { empty = false, pos = 0 }) end
end

local function send_error(s, pos, fault)
  local out = E.page.out.errors
  out[#out + 1] = E.error_text('"view":' .. s[NUMBER] .. ',"pos":' .. pos .. ",", fault)
end

-- The object whose method a binding calls, if it can be found without calling code.
local function called_on(s, b)
  local elements = b.path.elements
  if not elements then return nil end
  local o = b.path.ups == 0 and s[OBJECT] or views.up(s, b.path.ups)
  for i = 1, #elements - 1 do
    if type(o) ~= "table" or not elements[i].name then return nil end
    o = E.inherited(o, elements[i].name)
  end
  return o
end

-- Record an error at a position, send it and log it; the same error is sent once unless `again`.
function views.fail(s, pos, fault, again)
  local x = rare(s)
  x.errors = x.errors or {}
  local old = x.errors[pos]
  if old and old.message == fault.message and not again then return end
  x.errors[pos] = fault
  send_error(s, pos, fault)
  problems.binding_failed(s[SHAPE].viewdef, s[SHAPE][pos], fault, called_on(s, s[SHAPE][pos]), old ~= nil)
  E.report(s[SHAPE].key .. " " .. tostring(s[SHAPE][pos].text), fault)
end

-- An invalid binding: reported to every page, logged once.
function views.refuse(s, b)
  send_error(s, b.pos, limits.new_fault(FAULT.INVALID, b.refused))
  if not b.logged then
    E.log_error(s[SHAPE].key .. " " .. b.attribute, b.refused)
    problems.binding_failed(s[SHAPE].viewdef, b, limits.new_fault(FAULT.INVALID, b.refused))
  end
  b.logged = true
end

-- The position works again: send its value once more, which clears the error on the page.
function views.clear_error(s, pos)
  local x = s[RARE]
  if not (x and x.errors and x.errors[pos]) then return end
  x.errors[pos] = nil
  problems.binding_settled(s[SHAPE].viewdef, s[SHAPE][pos])
  if next(x.errors) == nil then x.errors = nil end
  local b = s[SHAPE][pos]
  if s[UNSENT] or b.kind == "view" or b.kind == "viewlist" then return end
  if b.reads then send(s, b) else push(b.level, "[" .. s[NUMBER] .. "," .. pos .. ",null]") end
end
