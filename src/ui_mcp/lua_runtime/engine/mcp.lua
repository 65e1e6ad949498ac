-- The `mcp` global: its value is the displayed app; its functions talk to the agent.
local E, host = ...
local OP, FAULT, OUTPUT = E.wire.op, E.wire.fault, E.wire.output
local env, limits, json = E.env, E.limits, E.json
local type, tostring, error, find, gsub, upper = type, tostring, error, string.find, string.gsub, string.upper
local lower, sub, rawequal = string.lower, string.sub, rawequal

-- Every function of mcp may be called with "." or ":".
local function method(f)
  return function(first, ...)
    if rawequal(first, E.mcp) then return f(...) end
    return f(first, ...)
  end
end

local function push(event)
  if type(event) ~= "table" then error("pushState expects a table, got " .. type(event), 2) end
  local context, text = E.context, json.encode(event, true)
  if context.room < 1 or context.room_bytes < #text then error("event queue full", 2) end
  context.room, context.room_bytes, context.pending = context.room - 1, context.room_bytes - #text, context.pending + 1
  host.emit(OUTPUT.EVENT, text, 0)
end

-- claude-panel → claudePanel
local function global_name(name)
  name = gsub(name, "[-_]+(.?)", upper)
  return lower(sub(name, 1, 1)) .. sub(name, 2)
end

-- The app's global, after loading its file if needed; nil and a reason if there is none.
local function app(name)
  if type(name) ~= "string" or name == "" then return nil, "name must be a non-empty string" end
  if find(name, "[/\\%z]") or find(name, "..", 1, true) then return nil, "app name " .. name .. " is refused" end
  local global = global_name(name)
  if env[global] ~= nil then return env[global] end
  local found = host.find(name)
  host.arm()
  if not found then return nil, "app global " .. global .. " not found" end
  local ok, problem = limits.pcall(env.require, name)
  if not ok then return nil, tostring(problem) end
  if env[global] == nil then return nil, "app global " .. global .. " not found" end
  return env[global]
end

local function display(name)
  local found, why = app(name)
  if found == nil then return nil, why end
  E.mcp.value = found
  E.displayed = name
  host.emit(OUTPUT.DISPLAYED, name, 0)
  return true
end

local function status()
  local found = json.decode(E.context.status)
  if type(found) ~= "table" then found = {} end
  found.state, found.version, found.base_dir = found.state or "running", found.version or "", found.base_dir or host.base_dir
  return found
end

function E.make_mcp()
  local mcp = { type = "MCP", sessionId = host.session_id }
  env.mcp, E.mcp = mcp, mcp
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
  mcp.subscribe = method(function(topic)
    host.emit(OUTPUT.SUBSCRIBED, tostring(topic), 0)
    return true
  end)
  if E.early_root ~= nil then mcp.value = E.early_root end
  env.session:createAppVariable(mcp)
end

E.ops[OP.DISPLAY] = function(name)
  local show = type(E.mcp.display) == "function" and E.mcp.display or display
  local ok, why = show(name)
  if ok then return "true" end
  return "null", limits.new_fault(FAULT.NOT_FOUND, tostring(why))
end

E.ops[OP.STATE] = function()
  local mcp = E.mcp
  return json.encode(mcp.state ~= nil and mcp.state or mcp.value)
end
