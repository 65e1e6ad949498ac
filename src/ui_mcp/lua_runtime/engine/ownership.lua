-- What belongs to an app: the files it runs, the types these declare, and the globals that hold the types.
-- One name in two apps is two types: the later one is known to pages as `APP.NAME`, which names either from anywhere.
local E, host = ...
local env = E.env
local type, next, rawequal, rawget, rawset = type, next, rawequal, rawget, rawset
local setmetatable, concat = setmetatable, table.concat
local match, sub, getinfo, remove = string.match, string.sub, debug.getinfo, table.remove

local SHARED = "lua" -- owner of the types that files outside apps/ declare
local named, of_app = {}, {} -- name → entries, oldest first; app → name → entry
local by_proto = setmetatable({}, { __mode = "k" })
local kinds = E.kinds -- prototype → its name for pages, where it is not the declared one
local files, scopes, apps_folder = {}, {}, nil
local ownership = {}

local function app_of(path, key)
  local name = match(key, "^apps/([^/]+)/")
  if name then return name end
  apps_folder = apps_folder or host.real(host.base_dir) .. "/apps/"
  host.arm()
  if sub(path, 1, #apps_folder) == apps_folder then return match(path, "([^/]+)/", #apps_folder + 1) end
end

-- Record that a chunk of a file runs from now on; returns the globals for it.
function ownership.enter(path, key)
  local app = app_of(path, key) or SHARED
  files[path], files["@" .. key] = app, app
  return ownership.scope(app)
end

-- The app that a file belongs to, by the name that error messages have for it; nil outside of apps.
function ownership.of_file(name)
  local app = files["@" .. name] or match(name, "^apps/([^/]+)/")
  return app ~= SHARED and app or nil
end

-- The app whose code runs: that of the file being loaded, else that of the innermost function; nil for the agent's code.
function ownership.current(file)
  if file then return files[file] end
  for level = 3, 60 do
    local at = getinfo(level, "S")
    if not at then return nil end
    if files[at.source] then return files[at.source] end
  end
end

-- Keep a type in the app's own globals; the global of all apps stays with the app that set it first.
local function assign(app, own, name, value)
  local mine = type(value) == "table" and by_proto[value]
  mine = mine and mine.owner == app
  rawset(own, name, mine and value or nil)
  local there = mine and rawget(env, name)
  local theirs = type(there) == "table" and by_proto[there]
  if not theirs or theirs.owner == app or not theirs.owner then rawset(env, name, value) end
end

-- The globals as an app sees them: those of all apps, but for the names of its own types.
function ownership.scope(app)
  if not app or app == SHARED then return env end
  local scope = scopes[app]
  if not scope then
    local own = setmetatable({}, { __index = env })
    local function set(_, name, value) assign(app, own, name, value) end
    scope = setmetatable({}, { __index = own, __newindex = set, __metatable = false })
    scopes[app] = scope
  end
  return scope
end

-- The entry that a name means in an app's code; nil and the entries if it could be one of several.
function ownership.find(name, app)
  local mine = app and of_app[app] and of_app[app][name]
  if mine then return mine end
  local entries = named[name]
  if not entries then
    local other, rest = match(name, "^([^.]+)%.(.+)$")
    return other and of_app[other] and of_app[other][rest] or nil
  end
  if #entries == 1 then return entries[1] end
  for i = 1, #entries do
    if not entries[i].owner or entries[i].owner == SHARED then return entries[i] end
  end
  return nil, entries
end

-- What to say about a name that means several types.
function ownership.ambiguous(name, entries)
  local choices = {}
  for i = 1, #entries do choices[i] = "'" .. entries[i].owner .. "." .. name .. "'" end
  return "'" .. name .. "' is a type of several apps: write " .. concat(choices, " or ")
end

-- The entry that a declaration by `app` changes, or nil if it makes a new type.
function ownership.declared(name, app)
  local entry, several = ownership.find(name, app)
  if not entry then return nil, several end
  if not app or entry.owner == app or entry.name ~= name then return entry end
  if entry.owner then return nil end
  if not entry.builtin then -- the agent made it first; now the app's file has it
    entry.owner = app
    of_app[app] = of_app[app] or {}
    of_app[app][name] = entry
  end
  return entry
end

local function tell(entry, other)
  local text = "The type '" .. entry.name .. "' is declared by " .. (other.file or "another app") .. " and by "
    .. (entry.file or "another app") .. ". They are two types; outside of its app the second is '" .. entry.kind .. "'."
  E.log_error("conflict", text)
  local problem = { id = "conflict " .. entry.kind, kind = "conflict", level = "warning", message = text }
  problem.app, problem.file = entry.owner, entry.file
  E.problems.emit(problem)
end

-- Add a type; its name for pages is qualified if another type, or another app's viewdef, has the plain one.
function ownership.add(entry, name, app, file)
  entry.name, entry.owner, entry.file = name, app, file
  local entries = named[name] or {}
  local foreign = app and E.viewdefs and E.viewdefs.belongs_to_other(name, app)
  entry.kind = (entries[1] or foreign) and app and app .. "." .. name or name
  named[name], entries[#entries + 1] = entries, entry
  by_proto[entry.proto] = entry
  if app then
    of_app[app] = of_app[app] or {}
    of_app[app][name] = entry
  end
  if entry.kind ~= name then kinds[entry.proto] = entry.kind end
  if entries[2] then
    E.viewdefs.select_again()
    tell(entry, entries[1])
  end
end

function ownership.drop(entry)
  local entries = named[entry.name] or {}
  for i = #entries, 1, -1 do
    if entries[i] == entry then remove(entries, i) end
  end
  if not entries[1] then named[entry.name] = nil end
  local mine = entry.owner and of_app[entry.owner]
  if mine and mine[entry.name] == entry then mine[entry.name] = nil end
  by_proto[entry.proto], kinds[entry.proto] = nil, nil
  E.problems.resolve("conflict " .. entry.kind)
end

-- The app and the plain name of a type as pages know it.
function ownership.of_kind(kind)
  local entries = named[kind]
  if entries then
    for i = 1, #entries do
      if entries[i].kind == kind then return entries[i].owner, kind end
    end
  end
  local app, name = match(kind, "^([^.]+)%.(.+)$")
  if app and of_app[app] and of_app[app][name] then return app, name end
  return nil, kind
end

-- The entry of a prototype, and a name of it that means the same in every session, whatever was loaded first.
function ownership.entry_of(proto) return by_proto[proto] end
function ownership.full_name(entry) return entry.owner and entry.owner .. "." .. entry.name or entry.name end

-- The globals of the chunk with this source, and whether a table is what some chunk has for its globals.
function ownership.globals_of(source) return ownership.scope(files[source]) end
function ownership.is_scope(t)
  if rawequal(t, env) then return true end
  for _, scope in next, scopes do
    if rawequal(scope, t) then return true end
  end
  return false
end

-- The declared name of a prototype, or nil; and the fields of its declaration.
function ownership.name_of(proto) return by_proto[proto] and by_proto[proto].name end
function ownership.declared_fields(proto) return by_proto[proto] and by_proto[proto].declared end

function ownership.declares(app, name) return of_app[app] ~= nil and of_app[app][name] ~= nil end

-- All names with their entries.
function ownership.names() return named end

E.ownership = ownership
