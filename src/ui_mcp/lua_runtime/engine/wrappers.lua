-- Wrappers, which replace a variable's value for its children; ViewList is built in.
local E = ...
local FAULT = E.wire.fault
local limits, views = E.limits, E.views
local new_fault = limits.new_fault
local type, rawget, rawequal, rawlen, setmetatable = type, rawget, rawequal, rawlen, setmetatable
local gmatch = string.gmatch
local NUMBER, SHAPE = E.view_record.NUMBER, E.view_record.SHAPE

local ViewList = { type = "lua.ViewList" }
ViewList.__index = ViewList
local ViewListItem = { type = "lua.ViewListItem" }
ViewListItem.__index = ViewListItem

-- What a class name means in the viewdefs of an app: registered, a prototype, else a global, perhaps with a dotted name.
local function class_named(name, app)
  local found, problem = E.registered.find(name, app), nil
  if not found then found, problem = E.prototypes.get(name, app) end
  if found or problem then return found, problem end
  found = E.ownership.scope(app)
  for part in gmatch(name, "[^.]+") do
    if type(found) ~= "table" then return nil end
    found = found[part]
  end
  if type(found) == "table" and found.new then return found end
end
E.class_named = class_named

-- The variable, as a wrapper class sees it; its functions may be called with "." or ":".
local function handle(owner)
  local variable = { _id = owner.id }
  local function member(f)
    return function(first, second)
      if rawequal(first, variable) then return f(second) end
      return f(first)
    end
  end
  variable.getId = member(function() return owner.id end)
  variable.getID = variable.getId
  variable.getValue = member(function() return owner.value() end)
  variable.getProperty = member(function(name) return owner.property(name) end)
  variable.getWrapper = member(function() return owner.wrapper() end)
  return variable
end

-- A presenter for one element, or the element itself; errors go to `fail`.
local function present(class, item, element, index, fail)
  if not class then return element end
  local ok, made = limits.call(function()
    return class:new({ item = item, baseItem = element, index = index })
  end)
  if ok and type(made) == "table" then return made end
  fail(not ok and made or new_fault(FAULT.LUA_ERROR, "the presenter's new() returned no table"))
  return element
end

-- Keep one item per element; the same element at the same index keeps its item. Returns whether an item changed.
local function sync(list, value, fail)
  local items, changed = list.items, false
  local n = type(value) == "table" and E.is_array(value) and rawlen(value) or 0
  for i = 1, n do
    local element, item = rawget(value, i), items[i]
    if not item or not rawequal(item.baseItem, element) then
      local shown = present(list._class, item and item.item, element, i - 1, fail)
      items[i] = setmetatable({ item = shown, baseItem = element, index = i - 1, list = list }, ViewListItem)
      changed = true
    end
  end
  for i = #items, n + 1, -1 do
    items[i], changed = nil, true
  end
  list.value = value
  if changed then E.items_changed = true end
  return changed
end

local function make_viewlist(owner, value)
  local list = setmetatable({ items = {} }, ViewList)
  local name = owner.item_class
  local problem
  if name then list._class, problem = class_named(name, owner.app) end
  if name and not list._class then
    owner.fail(new_fault(FAULT.LUA_ERROR, problem or "no presenter class '" .. name .. "'"))
  end
  sync(list, value, owner.fail)
  return list
end

local function make(owner, value)
  if owner.class == "lua.ViewList" then return make_viewlist(owner, value) end
  local class, problem = class_named(owner.class, owner.app)
  if not class then
    owner.fail(new_fault(FAULT.LUA_ERROR, problem or "no wrapper class '" .. owner.class .. "'"))
    return nil
  end
  local ok, made = limits.call(function() return class:new(handle(owner)) end)
  if ok and type(made) == "table" then return made end
  if not ok then owner.fail(made) end
  return nil
end

-- Give an existing wrapper a new value.
local function renew(wrapper, owner, value)
  local ok, fault = limits.call(function()
    wrapper.value = value
    local f = wrapper.sync
    if type(f) == "function" then f(wrapper) end
  end)
  if not ok then owner.fail(fault) end
end

-- Create or update the wrapper of a value: { object, json }, or nil for nil.
function E.rewrap(wrap, owner, value)
  if value == nil then return nil end
  if wrap and wrap.object and owner.class == "lua.ViewList" then
    sync(wrap.object, value, owner.fail)
    return wrap
  end
  local text = E.value_json(value)
  if wrap and wrap.json == text then return wrap end
  if wrap and wrap.object then
    wrap.json = text
    renew(wrap.object, owner, value)
    return wrap
  end
  wrap = { json = text }
  owner.wrapper = function() return wrap.object end
  wrap.object = make(owner, value)
  return wrap
end

local function view_owner(s, b, class, item_class, read)
  return {
    id = -(s[NUMBER] + b.pos),
    app = s[SHAPE].viewdef.app,
    class = class,
    item_class = item_class,
    value = read,
    property = function(name)
      if name == "path" then return b.path.text end
      return b.query[name]
    end,
    wrapper = function() end,
    fail = function(fault) views.fail(s, b.pos, fault) end,
  }
end

-- The wrapper of a view position.
function E.wrap(wrap, b, value, same, s)
  if wrap and same and wrap.json and not wrap.list and type(value) ~= "table" then return wrap end
  local owner = wrap and wrap.owner or view_owner(s, b, b.wrapper, b.item, function() return s[b.slot] end)
  local new = E.rewrap(wrap, owner, value)
  if new then new.owner = owner end
  return new
end

-- The wrapper of one row, set by `ui-item-wrapper`.
function E.wrap_item(wrap, b, element, s, row)
  local owner = wrap and wrap.owner or view_owner(s, b, b.item_wrapper, nil, function() return s[b.slot + 1].elements[row] end)
  local new = E.rewrap(wrap, owner, element)
  new.owner = owner
  return new
end

E.ViewList, E.ViewListItem = ViewList, ViewListItem
