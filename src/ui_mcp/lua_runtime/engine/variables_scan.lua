-- Change detection and updates of the variables that a page created.
local E, host = ...
local FAULT, VIEWDEFS = E.wire.fault, E.wire.property.VIEWDEFS
local variables, json, limits, viewdefs = E.variables, E.json, E.limits, E.viewdefs
local type, next, sort, concat = type, next, table.sort, table.concat

local UPDATE_HEAD = E.message_head(E.wire.message.UPDATE)
local MAX_EXPIRIES = 3
local order, cursor, expiries = nil, 0, 0

local function clocked(var)
  local from = host.clock()
  local v = variables.read(var)
  local took = host.clock() - from
  var.took, var.longest = took, var.longest and var.longest > took and var.longest or took
  return v
end

-- From the cursor on; an error ends it at the variable it belongs to.
local function walk(here, level, timing)
  while cursor < #order do
    cursor = cursor + 1
    local var = order[cursor]
    if var.level == level and var.reads and not var.hidden and not var.dead and not var.gone then
      local v
      if timing then v = clocked(var) else v = variables.read(var) end
      if v ~= var.value or type(v) == "table" or var.wrap then
        if variables.keep(here, var, v) then
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

local function level_pass(here, level)
  cursor = 0
  while cursor < #order and expiries <= MAX_EXPIRIES do
    local ok, fault = limits.call(walk, here, level, E.facts.timing)
    if not ok then
      local var = order[cursor]
      if fault.code == FAULT.TIMEOUT then
        var.dead, expiries = true, expiries + 1
        limits.begin()
      end
      variables.fail(here, var, fault)
      if fault.code == FAULT.MEMORY then return end
    end
  end
end

-- Drop the destroyed from the creation order.
local function tidy(here)
  local kept = {}
  for i = 1, #here.order do
    if not here.order[i].gone then kept[#kept + 1] = here.order[i] end
  end
  here.order = kept
end

function E.scan_variables(here)
  if #here.out.destroyed > 0 then tidy(here) end
  order, expiries = here.order, 0
  local root = here.vars[1]
  if variables.keep(here, root, E.root) then root.fresh, root.dirty = true, true end
  if #order == 0 then return end
  for _ = 1, 4 do
    E.items_changed = false
    for level = 1, 3 do level_pass(here, level) end
    if not E.items_changed then return end
  end
end

local function properties_json(told)
  local names, parts = {}, {}
  for name in next, told do names[#names + 1] = name end
  sort(names)
  for i = 1, #names do parts[i] = json.quote(names[i]) .. ":" .. json.quote(told[names[i]]) end
  return "{" .. concat(parts, ",") .. "}"
end

local function update_json(var)
  local parts = { '"varId":' .. json.number(var.id) }
  if var.fresh then parts[#parts + 1] = '"value":' .. var.json end
  if var.told then parts[#parts + 1] = '"properties":' .. properties_json(var.told) end
  var.fresh, var.told, var.dirty = false, nil, false
  return UPDATE_HEAD .. concat(parts, ",") .. "}}"
end

-- The update of variable 1 that comes first in a frame, carrying the viewdefs the rest needs.
function E.root_update(here, parcel)
  local root = here.vars[1]
  if not here.watching then
    root.fresh, root.told, root.dirty = false, nil, false
    return parcel and UPDATE_HEAD .. '"varId":1,"properties":' .. properties_json({ [VIEWDEFS] = parcel }) .. "}}"
  end
  if parcel then
    root.told = root.told or {}
    root.told[VIEWDEFS] = parcel
    root.dirty = true
  end
  if root.dirty then return update_json(root) end
end

-- Updates of all changed variables, into the lists of their level.
function E.send_variables(here)
  for i = 1, #here.order do
    local var = here.order[i]
    if var.dirty and not var.gone and not var.unwatched then
      local out = here.out[var.level]
      out[#out + 1] = update_json(var)
    end
  end
end

-- Ask the page to render the variables of these types again.
function E.refresh_types(here, kinds)
  for _, var in next, here.vars do
    local kind = var.props.type
    if kind and kinds[kind] then
      local out = here.out[3]
      out[#out + 1] = UPDATE_HEAD .. '"varId":' .. json.number(var.id) .. "}}"
    end
  end
end
