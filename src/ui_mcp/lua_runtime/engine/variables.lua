-- Variables that a page creates by message, each bound to a path from its parent.
local E = ...
local FAULT, TYPE = E.wire.fault, E.wire.property.TYPE
local FALLBACK_NAMESPACE = E.wire.property.FALLBACK_NAMESPACE
local paths, json, limits, viewdefs = E.paths, E.json, E.limits, E.viewdefs
local new_fault = limits.new_fault
local type, next, tostring, tonumber, match, remove = type, next, tostring, tonumber, string.match, table.remove
local type_of, value_json = E.type_of, E.value_json
local record = E.view_record
local SHAPE, NUMBER, RARE = record.SHAPE, record.NUMBER, record.RARE

local DESTROY_HEAD = E.message_head(E.wire.message.DESTROY)
local levels = { high = 1, medium = 2, med = 2, low = 3 }
local variables = {}
E.variables = variables

function variables.new(id, serial, parent)
  return { id = id, serial = serial, parent = parent, children = {}, props = {}, json = "null", base = "null", changes = 0 }
end

-- Record an error of a variable, send it and log it; the same error is sent once unless `again`.
function variables.fail(page, var, fault, again)
  if var.error and var.error.message == fault.message and not again then return end
  var.error = fault
  variables.send_error(page, var.id, fault)
  E.report("variable " .. var.id .. " " .. (var.path and var.path.text or ""), fault)
end

function variables.send_error(page, id, fault)
  local out = page.out.errors
  out[#out + 1] = E.error_text(id and '"varId":' .. json.number(id) .. "," or "", fault)
end

-- Set a property and queue it for the page.
function variables.set(var, name, value)
  value = value or ""
  if (var.props[name] or "") == value then return end
  var.props[name] = value ~= "" and value or nil
  var.unsent_props = var.unsent_props or {}
  var.unsent_props[name] = value
  var.dirty = true
end

-- The object that the paths of children start from: the wrapper, else the value.
function variables.nav(var)
  if var.view then
    local wrap = var.view[RARE] and var.view[RARE].wraps and var.view[RARE].wraps[var.pos]
    if wrap and wrap.object then return wrap.object end
    local slot = var.view[SHAPE][var.pos].slot
    return var.view[slot]
  end
  if var.wrap and var.wrap.object ~= nil then return var.wrap.object end
  return var.value
end

local function start_object(var)
  local from = var.parent
  for _ = 1, var.path.ups do from = from and from.parent end
  return from and variables.nav(from)
end

-- Store a value that was read; returns whether its JSON differs from the last one.
function variables.keep(page, var, v)
  local kind = type(v)
  var.value = v
  if var.props.wrapper or var.wrap then
    local owner = var.owner or variables.owner(page, var)
    var.wrap = var.props.wrapper and E.rewrap(var.wrap, owner, v) or nil
    if var.props.wrapper == "lua.ViewList" then variables.set(var, FALLBACK_NAMESPACE, "list-item") end
  end
  local shown = v
  if var.wrap and var.wrap.object ~= nil then shown = var.wrap.object end
  local text = value_json(shown)
  local base = var.wrap and value_json(v) or text
  if text == var.json and base == var.base then return false end
  var.json, var.base = text, base
  local name = type(shown) == "table" and type_of(shown) or ""
  variables.set(var, TYPE, name)
  if name ~= "" then viewdefs.need(page, name) end
  return true
end

function variables.owner(page, var)
  var.owner = {
    id = var.id,
    class = var.props.wrapper,
    item_class = var.props.itemWrapper or var.props.item,
    value = function() return var.value end,
    property = function(name) return var.props[name] end,
    wrapper = function() return var.wrap and var.wrap.object end,
    fail = function(fault) variables.fail(page, var, fault) end,
  }
  return var.owner
end

function variables.read(var)
  if var.fixed ~= nil then return paths.reader(var.path)(var.fixed, var.fixed) end
  local start = start_object(var)
  return paths.reader(var.path)(start, start)
end

-- Take properties from the page, without the priority in names like `name:high`. An empty text removes one.
local function take_properties(var, given)
  for name, value in next, given do
    local base_name, level = match(name, "^(.*):(%a+)$")
    if base_name and levels[level] then name = base_name end
    value = tostring(value)
    var.props[name] = value ~= "" and value or nil
  end
end

-- Set path and access from the properties; returns a fault if they do not fit.
local function configure(var)
  local path, wrong = paths.parse(var.props.path or "")
  if not path then return new_fault(FAULT.INVALID, wrong) end
  for name, value in next, path.query do var.props[name] = value end
  var.props.path = path.text
  local access = var.props.access or "rw"
  local refused = paths.refusal(path, access)
  if refused then return new_fault(FAULT.INVALID, refused) end
  var.path, var.access = path, access
  var.reads, var.writes = access == "r" or access == "rw", access ~= "r"
  var.level = levels[var.props.priority] or 2
end

-- Update whether a variable or one above it is unwatched or inactive: hidden ones are not read, muted ones not written
-- either.
local function hide(var)
  local above = var.parent
  var.muted = (above and above.muted) or var.props.inactive ~= nil
  var.hidden = (above and above.hidden) or var.unwatched or var.muted
  for i = 1, #var.children do hide(var.children[i]) end
end
variables.hide = hide

function variables.parent(page, id)
  if id >= 0 then return page.vars[id] end
  for _, s in next, page.views do
    local pos = -id - s[NUMBER]
    if pos >= 0 and pos < s[SHAPE].count then
      page.view_parents[id] = page.view_parents[id] or { id = id, view = s, pos = pos, children = {}, props = {} }
      return page.view_parents[id]
    end
  end
end

local function make_default(var, start)
  local class = E.class_named(var.props.create)
  if not class then return nil end
  local made = class:new()
  paths.write(var.path, start, made, "w")
  return made
end

local function first_value(page, var)
  if not var.reads then return end
  local ok, v = limits.call(variables.read, var)
  if ok and v == nil and var.props.create then ok, v = limits.call(make_default, var, start_object(var)) end
  if not ok then return variables.fail(page, var, v) end
  if variables.keep(page, var, v) and v ~= nil then
    var.fresh, var.dirty = true, true
  end
end

-- Message create; returns a fault if the variable cannot be created.
function variables.create(page, data)
  local id, given = data.id, type(data.properties) == "table" and data.properties or {}
  if type(id) ~= "number" or id == 0 or id ~= id then return new_fault(FAULT.INVALID, "a variable needs an id other than 0") end
  if page.vars[id] then return new_fault(FAULT.INVALID, "variable " .. json.number(id) .. " already in use") end
  if type(given.path) ~= "string" then return new_fault(FAULT.INVALID, "a variable needs a path") end
  local parent = variables.parent(page, tonumber(data.parentId) or 1)
  if not parent then return new_fault(FAULT.NOT_FOUND, "no variable " .. tostring(data.parentId)) end
  local var = variables.new(id, E.allocate_numbers(1), parent)
  take_properties(var, given)
  local fault = configure(var)
  if fault then return fault end
  page.vars[id] = var
  parent.children[#parent.children + 1] = var
  page.order[#page.order + 1] = var
  var.unwatched = data.nowatch == true
  hide(var)
  first_value(page, var)
  if data.value ~= nil and data.value ~= json.null and var.writes then return variables.write(page, var, data.value) end
end

-- Write what the page sent. The value is cached as sent, so that an accepted value is not sent back.
function variables.write(page, var, sent)
  if not var.writes then return new_fault(FAULT.UNAUTHORIZED, "variable " .. json.number(var.id) .. " is read-only") end
  local value = json.to_lua(sent, E.object)
  if var.reads and not var.wrap then var.value, var.json, var.base = value, value_json(value), value_json(value) end
  var.timed_out = nil
  local ok, fault = limits.call(paths.write, var.path, start_object(var), value, var.access)
  if not ok then return fault end
  if var.error then
    var.error, var.dirty, var.fresh = nil, true, true
  end
end

-- Message update: properties, then the value.
function variables.update(page, var, data)
  if type(data.properties) == "table" then
    take_properties(var, data.properties)
    var.owner = nil
    if var.id ~= 1 then
      local fault = configure(var)
      if fault then return fault end
    end
    if var.props.wrapper == nil then var.wrap = nil end
    hide(var)
  end
  if data.value == nil or var.muted then return end
  if var.id == 1 then return new_fault(FAULT.UNAUTHORIZED, "variable 1 is read-only") end
  if E.frozen then return new_fault(FAULT.UNAUTHORIZED, "A past moment can only be looked at") end
  E.steps.note(var.path, start_object(var))
  return variables.write(page, var, data.value)
end

-- Message destroy, children first.
function variables.destroy(page, var)
  for i = #var.children, 1, -1 do variables.destroy(page, var.children[i]) end
  page.vars[var.id] = nil
  var.gone = true
  for i, sibling in next, var.parent and var.parent.children or {} do
    if sibling == var then
      remove(var.parent.children, i)
      break
    end
  end
  local out = page.out.destroyed
  out[#out + 1] = DESTROY_HEAD .. '"varId":' .. json.number(var.id) .. "}}"
end
