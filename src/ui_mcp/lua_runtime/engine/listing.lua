-- All variables of the session, created by pages or by views, as the JSON that the variable pages show.
local E = ...
local OP = E.wire.op
local json, connections = E.json, E.connections
local next, type, sort, concat, floor = next, type, table.sort, table.concat, math.floor
local tostring, tonumber = tostring, tonumber
local record = E.view_record
local SHAPE, OBJECT, NUMBER, PARENT, POSITION = record.SHAPE, record.OBJECT, record.NUMBER, record.PARENT, record.POSITION
local ROW, RARE, CHANGES = record.ROW, record.RARE, record.CHANGES

local function strings(map)
  local names, parts = {}, {}
  for name in next, map do names[#names + 1] = name end
  sort(names)
  for i = 1, #names do parts[i] = json.quote(names[i]) .. ":" .. json.quote(tostring(map[names[i]])) end
  return "{" .. concat(parts, ",") .. "}"
end

local function seconds(n)
  return n and json.number(floor(n * 1e9) / 1e9) or "null"
end

-- An entry without its links; ids are numbers in order of creation, so parents come before children.
local function entry(id, parent, fields)
  fields.id, fields.parent, fields.children = id, parent, {}
  return fields
end

-- The type of the object that a binding shows; a value binding holds only its JSON.
local function type_shown(held, nested)
  if type(held) ~= "table" then return "" end
  local id = not nested and held.json:match('^{"obj":(%d+)}$')
  local object = nested and held or id and E.object(tonumber(id))
  return object and E.type_of(object) or ""
end

local function binding_entry(page, s, b, parent)
  local x, reads = s[RARE] or {}, b.reads
  local nested = b.kind == "view" or b.kind == "viewlist"
  local child = b.kind == "view" and s[b.slot + 1] or nil
  local wrap = x.wraps and x.wraps[b.pos]
  local value = not reads and "null" or nested and E.value_json(s[b.slot]) or E.views.slot_json(s[b.slot])
  local props = { path = b.path.text, access = b.access }
  for name, text in next, b.query do props[name] = text end
  local name = child and child[SHAPE].kind or type_shown(s[b.slot], nested)
  if name ~= "" then props.type = name end
  if child then props.viewdef = child[SHAPE].key end
  if nested then props.namespace = b.namespace ~= "" and b.namespace or nil end
  local time = x.times and x.times[b.pos]
  return entry(s[NUMBER] + b.pos + 1, parent, {
    path = b.path.text,
    type = name,
    value = wrap and wrap.object and E.value_json(wrap.object) or value,
    base = value,
    props = props,
    access = b.access or "r",
    error = b.refused or (x.errors and x.errors[b.pos] and x.errors[b.pos].message),
    changes = s[CHANGES] and s[CHANGES][b.pos] or 0,
    last = time and time.last,
    max = time and time.max,
    diags = x.diags and x.diags[b.pos],
    conn = page.id,
    wire = -(s[NUMBER] + b.pos),
    active = true,
  })
end

local function row_entry(page, s, parent)
  local element = E.value_json(s[OBJECT])
  return entry(s[NUMBER], parent, {
    path = tostring(s[ROW]),
    type = s[SHAPE].kind,
    value = element,
    base = element,
    props = { path = tostring(s[ROW]), type = s[SHAPE].kind, viewdef = s[SHAPE].key },
    access = "r",
    changes = 0,
    conn = page.id,
    wire = -(s[NUMBER] - 1),
    active = true,
  })
end

local function variable_entry(page, var)
  local parent = var.parent and (var.parent.id < 0 and -var.parent.id + 1 or var.parent.serial + 1) or 0
  return entry(var.serial + 1, parent, {
    path = var.path and var.path.text or "",
    type = var.props.type or "",
    value = var.json,
    base = var.base,
    props = var.props,
    access = var.access or "r",
    error = var.error and var.error.message,
    changes = var.changes,
    last = var.took,
    max = var.longest,
    diags = var.diags,
    conn = var.id ~= 1 and page.id or nil,
    wire = var.id ~= 1 and var.id or nil,
    active = not var.hidden,
  })
end

local function view_entries(page, s, all)
  local parent
  if s[ROW] then
    parent = s[NUMBER]
    all[#all + 1] = row_entry(page, s, s[PARENT][NUMBER] + s[POSITION] + 1)
  else
    parent = s[PARENT] and s[PARENT][NUMBER] + s[POSITION] + 1 or 1
  end
  for pos = 0, s[SHAPE].count - 1 do all[#all + 1] = binding_entry(page, s, s[SHAPE][pos], parent) end
end

-- The root while no page is open.
local function lone_root()
  local value = E.value_json(E.root)
  local props = { type = E.type_of(E.root) }
  return entry(1, 0, { path = "", type = props.type, value = value, base = value, props = props, access = "r", changes = 0, active = true })
end

local function collect()
  local all, root = {}, nil
  for _, page in next, connections do
    for _, var in next, page.vars do
      if var.id ~= 1 then all[#all + 1] = variable_entry(page, var) else root = root or variable_entry(page, var) end
    end
    for _, s in next, page.views do view_entries(page, s, all) end
  end
  all[#all + 1] = root or lone_root()
  sort(all, function(a, b) return a.id < b.id end)
  return all
end

local function link(all)
  local by_id = {}
  for i = 1, #all do
    local e = all[i]
    by_id[e.id] = e
    local above = by_id[e.parent]
    e.depth = above and above.depth + 1 or 0
    if above then above.children[#above.children + 1] = e.id end
  end
end

local function text(e)
  local diags = {}
  for i = 1, #(e.diags or {}) do diags[i] = json.quote(e.diags[i]) end
  local parts = {
    '"id":' .. e.id,
    '"parentId":' .. e.parent,
    '"type":' .. json.quote(e.type),
    '"path":' .. json.quote(e.path),
    '"value":' .. e.value,
    '"properties":' .. strings(e.props),
    '"childIds":[' .. concat(e.children, ",") .. "]",
    '"error":' .. (e.error and json.quote(tostring(e.error)) or "null"),
    '"active":' .. tostring(e.active),
    '"access":' .. json.quote(e.access),
    '"baseValue":' .. e.base,
    '"computeTime":' .. seconds(e.last),
    '"maxComputeTime":' .. seconds(e.max),
    '"changeCount":' .. e.changes,
    '"depth":' .. e.depth,
    '"elementId":' .. (e.props.elementId and json.quote(e.props.elementId) or "null"),
    '"diags":[' .. concat(diags, ",") .. "]",
  }
  if e.conn then
    parts[#parts + 1] = '"conn":' .. e.conn
    parts[#parts + 1] = '"wireId":' .. json.number(e.wire)
  end
  return "{" .. concat(parts, ",") .. "}"
end

E.ops[OP.VARIABLES] = function()
  local all = collect()
  link(all)
  for i = 1, #all do all[i] = text(all[i]) end
  return "[" .. concat(all, ",") .. "]"
end
