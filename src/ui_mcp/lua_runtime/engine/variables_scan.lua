-- Change detection and updates of the variables that a page created.
local E, host = ...
local FAULT, VIEWDEFS = E.wire.fault, E.wire.property.VIEWDEFS
local variables, json, limits, viewdefs = E.variables, E.json, E.limits, E.viewdefs
local type, next, sort, concat = type, next, table.sort, table.concat

local UPDATE_HEAD = E.message_head(E.wire.message.UPDATE)
local MAX_EXPIRIES = 3
local order, cursor, expiries = nil, 0, 0

local function read_timed(var)
  local from = host.clock()
  local v = variables.read(var)
  local took = host.clock() - from
  var.took, var.longest = took, var.longest and var.longest > took and var.longest or took
  return v
end

-- Read variables from the cursor on; after an error the cursor is at the variable that raised it.
local function walk(page, level, timing)
  while cursor < #order do
    cursor = cursor + 1
    local var = order[cursor]
    if var.level == level and var.reads and not var.hidden and not var.timed_out and not var.gone then
      local v
      if timing then v = read_timed(var) else v = variables.read(var) end
      if v ~= var.value or type(v) == "table" or var.wrap then
        if variables.keep(page, var, v) then
          var.changes = var.changes + 1
          var.fresh, var.dirty = true, true
        end
      end
      if var.error then
        var.error, var.fresh, var.dirty = nil, true, true
      end
    end
  end
end

local function level_pass(page, level)
  cursor = 0
  while cursor < #order and expiries <= MAX_EXPIRIES do
    local ok, fault = limits.call(walk, page, level, E.context.timing)
    if not ok then
      local var = order[cursor]
      if fault.code == FAULT.TIMEOUT then
        var.timed_out, expiries = true, expiries + 1
        limits.begin()
      end
      variables.fail(page, var, fault)
      if fault.code == FAULT.MEMORY then return end
    end
  end
end

-- Remove destroyed variables from the creation order.
local function drop_destroyed(page)
  local kept = {}
  for i = 1, #page.order do
    if not page.order[i].gone then kept[#kept + 1] = page.order[i] end
  end
  page.order = kept
end

function E.scan_variables(page)
  if #page.out.destroyed > 0 then drop_destroyed(page) end
  order, expiries = page.order, 0
  local root = page.vars[1]
  if variables.keep(page, root, E.root) then root.fresh, root.dirty = true, true end
  if #order == 0 then return end
  for _ = 1, 4 do
    E.items_changed = false
    for level = 1, 3 do level_pass(page, level) end
    if not E.items_changed then return end
  end
end

local function properties_json(props)
  local names, parts = {}, {}
  for name in next, props do names[#names + 1] = name end
  sort(names)
  for i = 1, #names do parts[i] = json.quote(names[i]) .. ":" .. json.quote(props[names[i]]) end
  return "{" .. concat(parts, ",") .. "}"
end

local function update_json(var)
  local parts = { '"varId":' .. json.number(var.id) }
  if var.fresh then parts[#parts + 1] = '"value":' .. var.json end
  if var.unsent_props then parts[#parts + 1] = '"properties":' .. properties_json(var.unsent_props) end
  var.fresh, var.unsent_props, var.dirty = false, nil, false
  return UPDATE_HEAD .. concat(parts, ",") .. "}}"
end

-- The update of variable 1, first in a frame because it carries the viewdefs that the rest needs.
function E.root_update(page, new_viewdefs)
  local root = page.vars[1]
  if not page.watching then
    root.fresh, root.unsent_props, root.dirty = false, nil, false
    return new_viewdefs and UPDATE_HEAD .. '"varId":1,"properties":' .. properties_json({ [VIEWDEFS] = new_viewdefs }) .. "}}"
  end
  if new_viewdefs then
    root.unsent_props = root.unsent_props or {}
    root.unsent_props[VIEWDEFS] = new_viewdefs
    root.dirty = true
  end
  if root.dirty then return update_json(root) end
end

-- Queue updates of all changed variables by priority.
function E.send_variables(page)
  for i = 1, #page.order do
    local var = page.order[i]
    if var.dirty and not var.gone and not var.unwatched then
      local out = page.out[var.level]
      out[#out + 1] = update_json(var)
    end
  end
end

-- Ask the page to render the variables of these types again.
function E.refresh_types(page, kinds)
  for _, var in next, page.vars do
    local kind = var.props.type
    if kind and kinds[kind] then
      local out = page.out[3]
      out[#out + 1] = UPDATE_HEAD .. '"varId":' .. json.number(var.id) .. "}}"
    end
  end
end
