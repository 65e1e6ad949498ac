-- The `session` and `ui` globals.
local E, host = ...
local OP, OUTPUT = E.wire.op, E.wire.output
local env, limits, json, prototypes, loader = E.env, E.limits, E.json, E.prototypes, E.loader
local max, min = math.max, math.min
local type, tostring, tonumber, rawequal, find, rawget = type, tostring, tonumber, rawequal, string.find, rawget
local error, next, ipairs = error, next, ipairs

local session = { type = "Session", reloading = false }
env.session = session

session.prototype, session.create, session.removePrototype = prototypes.prototype, prototypes.create, prototypes.remove

-- The engine binds variable 1 to mcp; an app's own root is shown inside it.
function session:createAppVariable(object)
  if not rawequal(object, E.mcp) then loader.record_root(object) end
  if E.mcp == nil then E.early_root = object
  elseif rawequal(object, E.mcp) then E.root = object
  else E.mcp.value = object end
  return 1
end

function session:getApp()
  return E.mcp and E.mcp.value
end

function session:unloadModule(key) loader.unload(tostring(key)) end
function session:unloadDirectory(folder) loader.unload_directory(tostring(folder)) end

function session.metaTostring(object)
  local named = type(object) == "table" and object.tostring
  if type(named) == "function" then return named(object) end
  return type(object) == "table" and E.type_of(object) or type(object)
end

-- Tables of the engine that hold what app code gave it: state.lua saves them.
E.kept = {}

-- Timers: the server waits, and calls the operation `timer` with the handle when it is due.
local timers, last, waiting = {}, 0, 0
E.timers = timers
local LONGEST = 86400 * 365
local MAX_TIMERS = 10000 -- each costs the server memory, outside the limit of this process; the server checks it too

local function timer(f, ms, again)
  if type(f) ~= "function" then error("a timer needs a function", 3) end
  if waiting >= MAX_TIMERS then
    error(MAX_TIMERS .. " timers are waiting, the most a session may have; stop some with session:clearTimeout(handle)", 3)
  end
  last, waiting = last + 1, waiting + 1
  local seconds = max(0, min((tonumber(ms) or 0) / 1000, LONGEST))
  again = again and (seconds > 0.001 and seconds or 0.001)
  timers[last] = { run = f, again = again, due = not again and host.time() + seconds or nil }
  host.emit(OUTPUT.TIMER, tostring(last), seconds)
  return last
end

local function cancel(_, handle)
  if timers[handle] then
    if timers[handle].problem then E.problems.resolve(timers[handle].problem) end
    timers[handle], waiting = nil, waiting - 1
    host.emit(OUTPUT.CANCEL, tostring(handle), 0)
  end
end

function session:setImmediate(f) return timer(f, 0) end
function session:setTimeout(f, ms) return timer(f, ms) end
function session:setInterval(f, ms) return timer(f, ms, true) end
session.clearImmediate, session.clearTimeout, session.clearInterval = cancel, cancel, cancel

-- Start a timer of a restored state; an interval starts its period anew.
function E.start_timer(handle, timer)
  cancel(nil, handle)
  timers[handle], waiting, last = timer, waiting + 1, max(last, handle)
  host.emit(OUTPUT.TIMER, tostring(handle), timer.again or max(0, timer.due - host.time()))
end

-- Replace all timers by those of a restored session.
function E.restore_timers(kept)
  for handle in next, timers do cancel(nil, handle) end
  for handle, timer in next, kept do E.start_timer(handle, timer) end
end

-- An interval is set again only after it has run, so that slow ones do not accumulate.
E.ops[OP.TIMER] = function(handle)
  local due = timers[handle]
  if not due or E.frozen then return "false" end
  if not due.again then timers[handle], waiting = nil, waiting - 1 end
  local ok, fault = limits.call(due.run)
  if not ok then due.problem = E.problems.code_failed("timer", fault)
  elseif due.problem then
    E.problems.resolve(due.problem)
    due.problem = nil
  end
  if due.again and timers[handle] then host.emit(OUTPUT.TIMER, tostring(handle), due.again) end
  return "true", not ok and fault or nil
end

local ui = {}
env.ui = ui

-- Presenters and wrappers, by kind and name; an app finds its own first.
local registered = { wrapper = {}, presenter = {} }
E.registered = registered

local function register(kind, name, class)
  local app = loader.declaring()
  local entry = { class = class, app = app, name = name, before = registered[kind][name] }
  loader.record_declaration(kind, entry)
  registered[kind][name] = entry
end

function registered.find(name, app)
  for _, kind in ipairs({ "wrapper", "presenter" }) do
    local newest = registered[kind][name]
    local entry = newest
    while entry and entry.app ~= app do entry = entry.before end
    if entry or newest then return (entry or newest).class end
  end
end

function registered.drop(kind, entry)
  local all = registered[kind]
  if all[entry.name] == entry then all[entry.name] = entry.before end
end

function ui.registerPresenter(name, class) register("presenter", name, class) end
function ui.registerWrapper(name, class) register("wrapper", name, class) end

function ui.log(level, message)
  if message == nil then level, message = 0, level end
  if (tonumber(level) or 0) <= host.verbosity then host.log("out", tostring(message) .. "\n") end
end

function ui.json_encode(v)
  local kind = type(v)
  if kind == "function" or kind == "userdata" or kind == "thread" then return nil, "cannot encode a " .. kind end
  return json.encode(v)
end

function ui.json_decode(text)
  if type(text) ~= "string" then return nil, "expected a string" end
  return json.decode(text)
end

function E.undeclare(kind, name)
  if kind == "prototype" then E.ownership.drop(name)
  else E.registered.drop(kind, name) end
end

-- The default base of prototypes.
local vowel = "^[AEIOUaeiou]"
env.Object = prototypes.prototype(nil, "Object", {
  tostring = function(self)
    local own = rawget(self, "type")
    if own and rawequal(rawget(self, "__index"), self) then return own end
    local name = E.type_of(self) or "Object"
    return (find(name, vowel) and "an " or "a ") .. name
  end,
  __tostring = function(self) return session.metaTostring(self) end,
})
prototypes.object = env.Object
E.ownership.find("Object").builtin = true
