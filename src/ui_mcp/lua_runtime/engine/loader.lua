-- Loads Lua files: require, start-up, hot reload; records what each file declares, so that it can be unloaded.
local E, host = ...
local OP, FAULT, OUTPUT = E.wire.op, E.wire.fault, E.wire.output
local env, limits = E.env, E.limits
local tostring, error, next, gmatch, sub, match = tostring, error, next, string.gmatch, string.sub, string.match
local find_text, gsub = string.find, string.gsub

local loaded, by_path, declared = {}, {}, {}
local loads = 0
local loader = { by_path = by_path }
env.package = { loaded = loaded, path = "", preload = {} }

-- The file that is running: prototypes and presenters are recorded under it.
local current

function loader.record_declaration(kind, what)
  local entry = current and declared[current]
  if entry then entry[#entry + 1] = { kind, what } end
end

-- The app whose code runs, and the file that is being loaded; nil for code of the agent.
function loader.declaring()
  local file = current and by_path[current]
  return E.ownership.current(current), file and file.key
end

-- What each file made the root of the session; a file may be the start file and an app under two names.
function loader.record_root(object)
  local entry = current and by_path[current]
  if entry then entry.root = object end
end
function loader.root_of(path) return by_path[path] and by_path[path].root end

local function new_entry(name, key)
  loads = loads + 1
  return { value = true, key = key, name = name, order = loads }
end

local function compile(path, chunk)
  local scope = E.ownership.enter(path, chunk)
  local text, why = host.source(path)
  host.arm()
  if not text then limits.raise(FAULT.NOT_FOUND, why) end
  local f, problem = limits.load(text, "@" .. chunk, "t", scope)
  return f or limits.raise(FAULT.LUA_SYNTAX, tostring(problem))
end

local function leave(outer, ...)
  current = outer
  return ...
end

-- Forget which file was running; an error may have left it set.
function loader.reset() current = nil end

-- Run a file; errors pass through.
function loader.run(path, chunk, ...)
  local f = compile(path, chunk)
  local outer = current
  current, declared[path] = path, {}
  return leave(outer, f(...))
end

-- Marked as loaded before it runs, so that a cycle ends; unmarked if it fails, so that a retry works.
function env.require(name)
  name = tostring(name)
  if loaded[name] ~= nil then return loaded[name] end
  local preload = env.package.preload[name]
  if preload then
    local value = preload(name)
    loaded[name] = value == nil and true or value
    return loaded[name]
  end
  local path, key = host.find(name)
  host.arm()
  if not path and E.modules[name] then return E.modules[name] end
  if not path then error("module '" .. name .. "' not found in lua/, the base directory or apps/", 2) end
  if by_path[path] then return by_path[path].value end
  local entry = new_entry(name, key)
  by_path[path], loaded[name], loaded[key] = entry, true, true
  local outer = current
  local ok, value = limits.pcall(loader.run, path, key, name)
  if not ok then
    current = outer
    by_path[path], loaded[name], loaded[key] = nil, nil, nil
    local fault = limits.raised(value)
    error(fault and fault.message or value, 0)
  end
  if value == nil then value = true end
  entry.value, loaded[name], loaded[key] = value, value, value
  return value
end

local function emit_load_error(entry, fault)
  host.emit(OUTPUT.LOAD_ERROR, E.json.encode({ file = entry.key, message = fault.message, code = fault.code }), 0)
end

-- Run a changed file again; false if this session has not loaded it.
E.ops[OP.RELOAD] = function(path)
  path = host.real(path)
  host.arm()
  local entry = by_path[path]
  if not entry then return "false" end
  env.session.reloading = true
  local ok, fault = limits.call(loader.run, path, entry.key)
  env.session.reloading = false
  E.retry_timed_out()
  E.prototypes.run_mutations()
  if not ok then
    entry.broken = true
    emit_load_error(entry, fault)
    return "true", fault
  end
  if entry.broken then host.emit(OUTPUT.LOADED, entry.key, 0) end
  entry.broken = nil
  return "true"
end

-- Compile a text without running it.
E.ops[OP.CHECK] = function(name, text)
  local f, problem = limits.load(text, "@" .. name, "t", env)
  if f then return "true" end
  return "false", limits.new_fault(FAULT.LUA_SYNTAX, tostring(problem))
end

local function forget(path)
  for _, item in next, declared[path] or {} do E.undeclare(item[1], item[2]) end
  local entry = by_path[path]
  if entry then loaded[entry.name], loaded[entry.key] = nil, nil end
  declared[path], by_path[path] = nil, nil
end

function loader.by_key(key)
  for _, entry in next, by_path do
    if entry.key == key then return entry end
  end
end

-- Unload a module by name, key or path, with everything its file declared.
function loader.unload(key)
  for path, entry in next, by_path do
    if entry.name == key or entry.key == key or path == key then return forget(path) end
  end
end

function loader.unload_directory(folder)
  folder = gsub(folder, "/+$", "") .. "/"
  local unloaded = {}
  for path, entry in next, by_path do
    if sub(entry.key, 1, #folder) == folder or find_text(path, "/" .. folder, 1, true) then unloaded[#unloaded + 1] = path end
  end
  for i = 1, #unloaded do forget(unloaded[i]) end
end

-- Run a file at the start. One that fails is reported, and runs again when it is saved; the session goes on without it.
local function start_file(name, path, key)
  if not path or by_path[path] then return true end
  local entry = new_entry(name, key)
  by_path[path] = entry
  local ok, fault = limits.call(loader.run, path, key)
  if ok then return true end
  entry.broken = true
  E.report(key, fault)
  emit_load_error(entry, fault)
  if limits.expired() then limits.begin() end
  return false
end

local function find(name)
  local path, key = host.find(name)
  host.arm()
  return path, key
end

-- The project's shell, or the bundled one if it fails.
local function start_shell()
  local path, key = find("mcp.lua")
  if start_file("mcp.lua", path, key) then return end
  local bundled, bundled_key = host.find_bundled("mcp.lua")
  host.arm()
  start_file("the bundled mcp.lua", bundled, bundled_key)
end

-- main.lua, then the mcp table, then mcp.lua, then every app's init.lua.
E.ops[OP.START] = function()
  E.state_values.note_builtins()
  start_file("main.lua", find("main.lua"))
  E.make_mcp()
  start_shell()
  local list = host.apps()
  host.arm()
  for path in gmatch(list, "[^\n]+") do
    local key = match(path, "apps/[^/]+/init%.lua$") or path
    start_file(key, path, key)
  end
  E.prototypes.run_mutations()
  return "true"
end

E.loader = loader
