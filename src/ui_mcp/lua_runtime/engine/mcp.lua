-- The `mcp` global: its value is the displayed app; its functions talk to the agent.
local E, host = ...
local OP, FAULT, OUTPUT = E.wire.op, E.wire.fault, E.wire.output
local env, limits, json = E.env, E.limits, E.json
local type, tostring, error, find, gsub, upper = type, tostring, error, string.find, string.gsub, string.upper
local lower, sub, rawequal, next = string.lower, string.sub, rawequal, next

-- Every function of mcp may be called with "." or ":".
local function method(f)
  return function(first, ...)
    if rawequal(first, E.mcp) then return f(...) end
    return f(first, ...)
  end
end

local MAX_EVENT = 16 * 1024 * 1024

-- The server drops the oldest events of a full queue, so that an app never fails because of an absent agent.
local function push(event)
  if type(event) ~= "table" then error("pushState expects a table, got " .. type(event), 2) end
  local context, text = E.context, json.encode(event, true)
  if #text > MAX_EVENT then
    E.log_error("mcp.pushState", "event too large: " .. #text .. " bytes, the most is " .. MAX_EVENT)
    return nil, "event too large: " .. #text .. " bytes"
  end
  context.pending = context.pending + 1
  host.emit(OUTPUT.EVENT, text, 0)
  return true
end

-- claude-panel → claudePanel
local function global_name(name)
  name = gsub(name, "[-_]+(.?)", upper)
  return lower(sub(name, 1, 1)) .. sub(name, 2)
end

-- The app's global, after loading its file if needed; nil and a reason if there is none, and true if it has no file.
local function app(name)
  if type(name) ~= "string" or name == "" then return nil, "name must be a non-empty string" end
  if find(name, "[/\\%z]") or find(name, "..", 1, true) then return nil, "app name " .. name .. " is refused" end
  local global = global_name(name)
  if env[global] ~= nil then return env[global] end
  local found = host.find(name)
  host.arm()
  if not found then return nil, "app global " .. global .. " not found", true end
  local ok, problem = limits.pcall(env.require, name)
  if not ok then return nil, tostring(problem) end
  -- Apps of ui-engine have no global: what their file made the root is the app.
  local made = env[global]
  if made == nil then made = E.loader.root_of(found) end
  if made == nil then return nil, "app global " .. global .. " not found" end
  return made
end

local function display(name)
  local found, why = app(name)
  if found == nil then return nil, why end
  E.mcp.value = found
  E.displayed = name
  E.addresses.name(found, name)
  host.emit(OUTPUT.DISPLAYED, name, 0)
  return true
end

-- Topic → functions that get what is published under it. A file that runs again replaces its subscription.
local subscribers, favicons = {}, {}
E.kept.subscribers, E.kept.favicons = subscribers, favicons

local function tell_subscribed(topic)
  host.emit(OUTPUT.SUBSCRIBED, json.encode({ topic = topic, favicon = favicons[topic] }), 0)
end

-- The server listens for topics that app code subscribed to after the start, too.
function E.restored_subscriptions()
  for topic in next, subscribers do tell_subscribed(topic) end
end

local function subscribe(topic, run, options)
  if type(topic) ~= "string" or topic == "" then return nil, "topic must be a non-empty string" end
  if type(run) ~= "function" then return nil, "subscribe expects a function that takes the data" end
  local known = not env.session.reloading and subscribers[topic] or {}
  known[#known + 1] = run
  subscribers[topic] = known
  favicons[topic] = type(options) == "table" and type(options.favicon) == "string" and options.favicon or nil
  tell_subscribed(topic)
  return true
end

E.ops[OP.PUBLISHED] = function(topic, text)
  local known = subscribers[topic]
  if not known then return "false" end
  local failed
  for i = 1, #known do
    local ok, fault = limits.call(known[i], json.decode(text))
    if not ok then
      failed = fault
      E.problems.code_failed("subscriber", fault)
    end
  end
  return "true", failed
end

-- While the files run at the start, only what was known when the worker was launched can be answered.
local function status()
  local found, known = json.decode(E.context.status), json.decode(host.status)
  if type(found) ~= "table" then found = {} end
  found.state, found.version = found.state or "running", found.version or known.version or ""
  found.base_dir = found.base_dir or known.base_dir or host.base_dir
  return found
end

function E.make_mcp()
  local mcp = { type = "MCP", sessionId = host.session_id }
  env.mcp, E.mcp = mcp, mcp
  env.MCP = env.MCP or {} -- the namespace of the shell's prototypes
  mcp.pushState = method(push)
  mcp.display, mcp.app, mcp.status = method(display), method(app), method(status)
  mcp.apps = method(function()
    local text = host.app_list()
    host.arm()
    return json.decode(text)
  end)
  mcp.pollingEvents = method(function() return E.context.polling end)
  mcp.pendingEventCount = method(function() return E.context.pending end)
  mcp.waitTime = method(function()
    if E.context.polling then return 0 end
    return E.context.waited + host.clock() - E.context.at
  end)
  mcp.renderMarkdown = method(function(text) return E.markdown(tostring(text or "")) end)
  mcp.reinjectThemes = method(function() host.emit(OUTPUT.THEMES, "", 0) end)
  mcp.subscribe = method(subscribe)
  mcp.pageApp, mcp.pageTitle = method(E.addresses.shown), method(E.addresses.title)
  mcp.openHere = method(E.addresses.open)
  local nowhere = {}
  mcp.thisPage = method(function()
    local page = E.acting or E.page
    if not page then return nowhere end
    page.fields = page.fields or {}
    return page.fields
  end)
  for name, f in next, E.shell do mcp[name] = f end
  if E.early_root ~= nil then mcp.value = E.early_root end
  env.session:createAppVariable(mcp)
end

-- Why the displayed value shows nothing, and the key of the viewdef that is missing; or nil.
local function blank()
  local value = E.mcp.value
  if type(value) ~= "table" then return "The app's value is a " .. type(value) .. ", and only objects are shown" end
  local kind = E.type_of(value)
  if not kind then return "The app's object has no type: make it with session:prototype(NAME, {…}):new()" end
  if not E.viewdefs.find(kind, "", "") then return E.viewdefs.missing(kind, "") end
end

E.ops[OP.DISPLAY] = function(name)
  local show = type(E.mcp.display) == "function" and E.mcp.display or display
  local ok, why = show(name)
  if ok then
    local note, key = blank()
    return note and json.encode({ note = note, viewdef = key }) or "null"
  end
  return "null", limits.new_fault(FAULT.NOT_FOUND, tostring(why))
end

E.ops[OP.STATE] = function()
  local mcp = E.mcp
  return json.encode_shown(mcp.state ~= nil and mcp.state or mcp.value)
end
