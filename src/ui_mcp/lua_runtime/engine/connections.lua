-- Pages: what each sends, and what all of them are told after an entry.
local E = ...
local OP, MESSAGE, FAULT = E.wire.op, E.wire.message, E.wire.fault
local EDITABLE, NOTICE = E.wire.property.EDITABLE, E.wire.property.NOTICE
local json, limits, variables, views, lists, viewdefs = E.json, E.limits, E.variables, E.views, E.lists, E.viewdefs
local new_fault = limits.new_fault
local paths = E.paths
local next, sort, type, tostring, tonumber, pcall = next, table.sort, type, tostring, tonumber, pcall
local find, sub, gmatch, match = string.find, string.sub, string.gmatch, string.match
local record = E.view_record
local SHAPE, OBJECT, NUMBER, RARE = record.SHAPE, record.OBJECT, record.NUMBER, record.RARE

local connections = {}
E.connections = connections

E.ops[OP.OPEN] = function(conn)
  if type(conn) ~= "number" or conn % 1 ~= 0 then return "null", new_fault(FAULT.INVALID, "a connection is a whole number") end
  local root = variables.new(1, 0)
  root.path = { text = "" }
  connections[conn] = {
    id = conn,
    vars = { root }, -- variables that the page created, by id, and in order of creation
    order = {},
    views = {}, -- expanded views by number
    stand_ins = {}, -- parents of such variables that belong to views
    sent = {}, -- which viewdefs the page has: types, keys, and keys on their way
    has = {},
    lacks = {},
    out = E.fresh_out(),
  }
  E.place_server_variables(connections[conn])
end

E.ops[OP.CLOSE] = function(conn)
  if conn ~= nil then connections[conn] = nil end
end

E.ops[OP.REFRESH] = function() end

local handlers = {}

handlers[MESSAGE.CREATE] = function(here, data) return variables.create(here, data) end

local function known(here, data)
  local var = here.vars[data.varId]
  if var then return var end
  return nil, new_fault(FAULT.NOT_FOUND, "no variable " .. tostring(data.varId))
end

-- The page says which unknown elements have a value property: those bindings become two-way.
local function take_editable(text)
  local key, list = match(text, "^(%S+) ([%d,]+)$")
  local viewdef = key and viewdefs.by_key[key]
  if not viewdef or viewdef.editable then return end
  viewdef.editable = {}
  for pos in gmatch(list, "%d+") do viewdef.editable[tonumber(pos)] = true end
  for _, shape in next, viewdef.shapes or {} do
    for pos in next, viewdef.editable do
      local b = shape[pos]
      if b and b.kind == "value" and not b.refused and not b.query.access and not (b.path.last and b.path.last.call) then
        b.access, b.writes = "rw", true
      end
    end
  end
end

handlers[MESSAGE.UPDATE] = function(here, data)
  local var, fault = known(here, data)
  if not var then return fault end
  if var.id == 1 and type(data.properties) == "table" and type(data.properties[EDITABLE]) == "string" then
    take_editable(data.properties[EDITABLE])
    data.properties[EDITABLE] = nil
  end
  return variables.update(here, var, data)
end

handlers[MESSAGE.DESTROY] = function(here, data)
  local var, fault = known(here, data)
  if not var then return fault end
  if var.id == 1 then return new_fault(FAULT.UNAUTHORIZED, "variable 1 cannot be destroyed") end
  variables.destroy(here, var)
end

-- Start over for the whole page, or send one variable again.
handlers[MESSAGE.WATCH] = function(here, data)
  local var, fault = known(here, data)
  if not var then return fault end
  var.unwatched = false
  variables.hide(var)
  if var.id ~= 1 then
    var.fresh, var.dirty = true, true
  else
    here.watching, here.again = true, true
    here.expand = data.expand == true
    if here.root_view then views.drop(here.root_view) end
    here.root_view, here.sent, here.has, here.lacks = nil, {}, {}, {}
  end
  var.told = nil
  for name, value in next, var.props do
    var.told = var.told or {}
    var.told[name] = value
  end
end

handlers[MESSAGE.UNWATCH] = function(here, data)
  local var, fault = known(here, data)
  if not var then return fault end
  var.unwatched = true
  variables.hide(var)
end

-- [view, position, value]: write a value, call an action, or move a window.
local function short(here, list)
  local s, n = here.views[list[1]], list[json.LENGTH]
  local b = s and s[SHAPE][list[2]]
  if not b then return end
  if b.window then
    local want = list[3]
    if type(want) == "table" and tonumber(want[1]) then lists.move(s, b, tonumber(want[1]), tonumber(want[2])) end
    return
  end
  if not b.writes then return views.fail(s, b.pos, new_fault(FAULT.UNAUTHORIZED, "'" .. b.path.text .. "' is read-only"), true) end
  local value = n > 2 and json.plain(list[3], E.object) or nil
  if n > 2 and list[3] == false then value = false end
  if b.reads then
    s[b.slot] = value
    if type(value) == "table" then s[b.slot] = { json = E.value_json(value) } end
  end
  if s[RARE] and s[RARE].dead then s[RARE].dead[b.pos] = nil end
  local o = s[OBJECT]
  if b.path.ups > 0 then o = views.up(s, b.path.ups) end
  local ok, fault = limits.call(paths.write, b.path, o, value, b.access)
  if ok then views.mend(s, b.pos) else views.fail(s, b.pos, fault, true) end
end

local function one(here, message)
  if type(message) ~= "table" then return variables.tell(here, nil, new_fault(FAULT.INVALID, "a message is an object")) end
  if message[json.LENGTH] then return short(here, message) end
  local handler, data = handlers[message.type], message.data
  if not handler then return variables.tell(here, nil, new_fault(FAULT.UNKNOWN_TYPE, "unknown message type " .. tostring(message.type))) end
  if type(data) ~= "table" then return variables.tell(here, nil, new_fault(FAULT.INVALID, "a message needs data")) end
  local fault = handler(here, data)
  if not fault then return end
  local id = tonumber(data.varId or data.id)
  local var = id and here.vars[id]
  if var and message.type == MESSAGE.UPDATE then variables.fail(here, var, fault, true) else variables.tell(here, id, fault) end
end

-- Messages in a frame: { messages }, a list, or a single one. A list that begins with a number is a short update.
local function messages_in(frame)
  if type(frame) ~= "table" then return nil end
  if type(frame.messages) == "table" then return frame.messages end
  if frame[json.LENGTH] and type(frame[1]) ~= "number" then return frame end
  return { frame, [json.LENGTH] = 1 }
end

E.ops[OP.FRAME] = function(conn, text)
  local here = connections[conn]
  if not here then return "null", new_fault(FAULT.NOT_FOUND, "no connection " .. tostring(conn)) end
  if type(text) == "string" and not find(text, "%S") then return end
  local frame, wrong = json.parse(text)
  local list = not wrong and messages_in(frame)
  if not list then return variables.tell(here, nil, new_fault(FAULT.INVALID, wrong or "a frame is an object or a list")) end
  E.here = here
  for i = 1, list[json.LENGTH] or 0 do one(here, list[i]) end
end

-- New or changed viewdefs: views select theirs again, and pages render the variables of those types again.
E.ops[OP.VIEWDEFS] = function(text)
  local wrong = viewdefs.take(text)
  if wrong then return "null", new_fault(FAULT.INVALID, wrong) end
  local kinds = {}
  for key, viewdef in next, viewdefs.by_key do
    if viewdef.version == viewdefs.version then
      for kind in gmatch(key, "()%.") do kinds[sub(key, 1, kind - 1)] = true end
    end
  end
  for _, here in next, connections do
    here.refit = true
    if here.watching and not here.expand then
      for kind in next, kinds do
        if here.sent[kind] then viewdefs.need(here, kind) end
      end
      E.refresh_types(here, kinds)
    end
  end
end

-- Show a notice on every page.
E.ops[OP.NOTICE] = function(text)
  for _, here in next, connections do
    local out = here.out[1]
    out[#out + 1] = E.message_head(MESSAGE.UPDATE) .. '"varId":1,"properties":{"' .. NOTICE .. '":' .. json.quote(text) .. "}}}"
  end
end

local function refit(here)
  here.refit = false
  local all = {}
  for _, s in next, here.views do all[#all + 1] = s end
  sort(all, function(a, b) return a[NUMBER] < b[NUMBER] end)
  for i = 1, #all do
    if here.views[all[i][NUMBER]] == all[i] then views.refit(all[i]) end
  end
end

local function detect(here)
  if not here.watching then return end
  E.here = here
  if here.refit then refit(here) end
  limits.begin()
  E.scan_variables(here)
  if here.again then
    here.vars[1].fresh, here.vars[1].dirty, here.again = true, true, false
  end
  if here.expand then E.scan_views(here) end
  E.send_variables(here)
end

-- After an entry: detect, then encode; connection and frame in turns.
function E.settle()
  local ids, frames = {}, {}
  for id in next, connections do ids[#ids + 1] = id end
  sort(ids)
  for i = 1, #ids do
    local here = connections[ids[i]]
    local ok, wrong = pcall(detect, here)
    limits.finish()
    if not ok then E.log_error("change detection", tostring(wrong)) end
    local frame = E.frame(here)
    if frame then
      frames[#frames + 1] = ids[i]
      frames[#frames + 1] = frame
    end
  end
  return frames
end
