-- Connected pages: handles their frames, and collects the frames for them after each operation.
local E = ...
local OP, MESSAGE, FAULT = E.wire.op, E.wire.message, E.wire.fault
local EDITABLE, PROBLEMS, ADDRESS = E.wire.property.EDITABLE, E.wire.property.PROBLEMS, E.wire.property.ADDRESS
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
    views = {}, -- views by number
    view_parents = {}, -- positions of views that are parents of such variables
    sent = {}, -- viewdefs: version sent by type and by key, and keys still to be sent
    has = {},
    undelivered = {},
    out = E.fresh_out(),
  }
  E.place_server_variables(connections[conn])
end

E.ops[OP.CLOSE] = function(conn)
  if conn ~= nil then connections[conn] = nil end
end

E.ops[OP.REFRESH] = function() end

local handlers = {}

handlers[MESSAGE.CREATE] = function(page, data) return variables.create(page, data) end

local function known(page, data)
  local var = page.vars[data.varId]
  if var then return var end
  return nil, new_fault(FAULT.NOT_FOUND, "no variable " .. tostring(data.varId))
end

-- The page reports which unknown elements have a value property: those bindings become two-way.
local function take_editable(text)
  local key, list = match(text, "^(%S+) ([%d,]+)$")
  local viewdef = key and viewdefs.by_key[key]
  if not viewdef or viewdef.editable then return end
  viewdef.editable = {}
  for pos in gmatch(list, "%d+") do viewdef.editable[tonumber(pos)] = true end
  for _, shape in next, viewdef.shapes or {} do
    for pos in next, viewdef.editable do
      local b = shape[pos]
      if b and b.kind == "value" and not b.refused and not b.query.access and not b.path.computed and not (b.path.last and b.path.last.call) then
        b.access, b.writes = "rw", true
      end
    end
  end
end

-- Properties of variable 1 that a page sends are messages, and not kept.
local told = {
  [EDITABLE] = function(_, text) take_editable(text) end,
  [PROBLEMS] = function(_, text) E.problems.from_page(text) end,
  [ADDRESS] = function(page, text) E.addresses.visit(page, text, true) end,
}

handlers[MESSAGE.UPDATE] = function(page, data)
  local var, fault = known(page, data)
  if not var then return fault end
  for name, take in next, var.id == 1 and type(data.properties) == "table" and told or {} do
    local text = data.properties[name]
    if type(text) == "string" then
      data.properties[name] = nil
      take(page, text)
    end
  end
  return variables.update(page, var, data)
end

handlers[MESSAGE.DESTROY] = function(page, data)
  local var, fault = known(page, data)
  if not var then return fault end
  if var.id == 1 then return new_fault(FAULT.UNAUTHORIZED, "variable 1 cannot be destroyed") end
  variables.destroy(page, var)
end

-- Watching variable 1 starts the page over; watching another variable sends it again.
handlers[MESSAGE.WATCH] = function(page, data)
  local var, fault = known(page, data)
  if not var then return fault end
  var.unwatched = false
  variables.hide(var)
  if var.id ~= 1 then
    var.fresh, var.dirty = true, true
  else
    page.watching, page.again = true, true
    page.expand = data.expand == true
    if page.root_view then views.drop(page.root_view) end
    page.root_view, page.sent, page.has, page.undelivered = nil, {}, {}, {}
  end
  var.unsent_props = nil
  for name, value in next, var.props do
    var.unsent_props = var.unsent_props or {}
    var.unsent_props[name] = value
  end
  if var.id == 1 and type(data.address) == "string" then E.addresses.visit(page, data.address, false) end
end

handlers[MESSAGE.UNWATCH] = function(page, data)
  local var, fault = known(page, data)
  if not var then return fault end
  var.unwatched = true
  variables.hide(var)
end

-- Short update [view, position, value]: writes a value, calls an action or moves a window.
local function short(page, list)
  local s, n = page.views[list[1]], list[json.LENGTH]
  local b = s and s[SHAPE][list[2]]
  if not b then return end
  if b.window then
    local want = list[3]
    if type(want) == "table" and tonumber(want[1]) then lists.move(s, b, tonumber(want[1]), tonumber(want[2])) end
    return
  end
  if b.data then return views.ask(s, b, json.to_lua(list[3], E.object)) end
  if E.frozen then return variables.send_error(page, nil, new_fault(FAULT.UNAUTHORIZED, "A past moment can only be looked at")) end
  if not b.writes then
    return views.fail(s, b.pos, new_fault(FAULT.UNAUTHORIZED, "'" .. b.path.text .. "' is read-only"), true)
  end
  local value = n > 2 and json.to_lua(list[3], E.object) or nil
  if n > 2 and list[3] == false then value = false end
  if b.reads then
    s[b.slot] = value
    if type(value) == "table" then s[b.slot] = { json = E.value_json(value) } end
  end
  if s[RARE] and s[RARE].timed_out then s[RARE].timed_out[b.pos] = nil end
  E.steps.note(b.path, s[OBJECT])
  local o = s[OBJECT]
  if b.path.ups > 0 then o = views.up(s, b.path.ups) end
  local ok, fault = limits.call(paths.write, b.path, o, value, b.access, s[OBJECT])
  if ok and not b.reads then E.problems.binding_settled(s[SHAPE].viewdef, b) end
  if ok then views.clear_error(s, b.pos) else views.fail(s, b.pos, fault, true) end
end

local function reject(page, code, text)
  variables.send_error(page, nil, new_fault(code, text))
end

local function handle(page, message)
  if type(message) ~= "table" then return reject(page, FAULT.INVALID, "a message is an object") end
  if message[json.LENGTH] then return short(page, message) end
  local handler, data = handlers[message.type], message.data
  if not handler then return reject(page, FAULT.UNKNOWN_TYPE, "unknown message type " .. tostring(message.type)) end
  if type(data) ~= "table" then return reject(page, FAULT.INVALID, "a message needs data") end
  local fault = handler(page, data)
  if not fault then return end
  local id = tonumber(data.varId or data.id)
  local var = id and page.vars[id]
  if var and message.type == MESSAGE.UPDATE then return variables.fail(page, var, fault, true) end
  variables.send_error(page, id, fault)
end

-- The messages in a frame, which is { messages }, a list or a single message. A list that begins with a number is a
-- short update.
local function messages_in(frame)
  if type(frame) ~= "table" then return nil end
  if type(frame.messages) == "table" then return frame.messages end
  if frame[json.LENGTH] and type(frame[1]) ~= "number" then return frame end
  return { frame, [json.LENGTH] = 1 }
end

E.ops[OP.FRAME] = function(conn, text)
  local page = connections[conn]
  if not page then return "null", new_fault(FAULT.NOT_FOUND, "no connection " .. tostring(conn)) end
  if type(text) == "string" and not find(text, "%S") then return end
  local frame, wrong = json.parse(text)
  local list = not wrong and messages_in(frame)
  if not list then return reject(page, FAULT.INVALID, wrong or "a frame is an object or a list") end
  E.page, E.acting = page, page
  for i = 1, list[json.LENGTH] or 0 do handle(page, list[i]) end
  E.acting = nil
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
  for _, page in next, connections do
    page.refit = true
    if page.watching and not page.expand then
      for kind in next, kinds do
        if page.sent[kind] then viewdefs.need(page, kind) end
      end
      E.refresh_types(page, kinds)
    end
  end
end

local function refit(page)
  page.refit = false
  local all = {}
  for _, s in next, page.views do all[#all + 1] = s end
  sort(all, function(a, b) return a[NUMBER] < b[NUMBER] end)
  for i = 1, #all do
    if page.views[all[i][NUMBER]] == all[i] then views.refit(all[i]) end
  end
end

local function detect(page)
  if not page.watching then return end
  E.page = page
  if page.refit then refit(page) end
  limits.begin()
  E.scan_variables(page)
  if page.again then
    page.vars[1].fresh, page.vars[1].dirty, page.again = true, true, false
  end
  if page.expand then E.scan_views(page) end
  E.addresses.tell(page)
  E.send_variables(page)
end

-- After an operation: detect changes and encode them for every page; returns connection and frame in turns.
function E.collect_frames()
  local ids, frames = {}, {}
  E.acting = nil -- also after an action that was ended by a limit
  for id in next, connections do ids[#ids + 1] = id end
  sort(ids)
  for i = 1, #ids do
    local page = connections[ids[i]]
    local ok, wrong = pcall(detect, page)
    limits.finish()
    if not ok then E.log_error("change detection", tostring(wrong)) end
    local frame = E.frame(page)
    if frame then
      frames[#frames + 1] = ids[i]
      frames[#frames + 1] = frame
    end
  end
  return frames
end
