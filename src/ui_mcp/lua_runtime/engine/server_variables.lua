-- Variables that app code creates; each has the same number on every page.
local E = ...
local env, variables, connections, paths = E.env, E.variables, E.connections, E.paths
local type, next, rawequal, tostring = type, next, rawequal, tostring

local made = {}
E.kept.variables = made

local function place(page, spec)
  local parent = page.vars[spec.parent] or page.vars[1]
  local var = variables.new(spec.id, -spec.id, parent)
  var.fixed = spec.object
  for name, value in next, spec.props do var.props[name] = tostring(value) end
  var.path = paths.parse(var.props.path or "") or paths.parse("")
  var.access, var.reads, var.writes, var.level = "r", true, false, 2
  page.vars[spec.id] = var
  parent.children[#parent.children + 1] = var
  page.order[#page.order + 1] = var
end

function E.place_server_variables(page)
  for i = 1, #made do place(page, made[i]) end
end

-- Numbers of variables that were restored are not given again.
function E.restored_variables()
  local least = 0
  for i = 1, #made do
    if made[i].id < least then least = made[i].id end
  end
  E.numbers_after(-least)
end

local function id_of(what)
  if type(what) == "number" then return what end
  for i = 1, #made do
    if rawequal(made[i].object, what) then return made[i].id end
  end
  return 1
end

function env.session:createVariable(parent, object, props)
  local spec = { id = -E.allocate_numbers(1), parent = id_of(parent), object = object, props = type(props) == "table" and props or {} }
  made[#made + 1] = spec
  for _, page in next, connections do place(page, spec) end
  return spec.id
end

function env.session:destroyVariable(what)
  local id = id_of(what)
  for i = #made, 1, -1 do
    if made[i].id == id then table.remove(made, i) end
  end
  for _, page in next, connections do
    if id ~= 1 and page.vars[id] then variables.destroy(page, page.vars[id]) end
  end
end
