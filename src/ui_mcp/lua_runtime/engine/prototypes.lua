-- Prototypes, which keep their identity across reloads, their instances, and mutations after a reload.
local E = ...
local env, limits = E.env, E.limits
local tostring, type, next, pairs, rawget, rawset, error = tostring, type, next, pairs, rawget, rawset, error
local setmetatable, getmetatable, rawequal, sub, byte = setmetatable, getmetatable, rawequal, string.sub, string.byte

local EMPTY = {}
env.EMPTY = EMPTY

local ownership = E.ownership
local queue, queued = {}, {}
local instances = setmetatable({}, { __mode = "k" })
local ignored = { type = true, __index = true, new = true }

-- Compare declared fields; tables by content, since a reload creates new ones.
local function same(a, b, depth)
  if rawequal(a, b) then return true end
  if type(a) ~= "table" or type(b) ~= "table" or depth > 10 then return false end
  for k, v in next, a do
    if not same(v, rawget(b, k), depth + 1) then return false end
  end
  for k in next, b do
    if rawget(a, k) == nil then return false end
  end
  return true
end

local function frozen(v, depth)
  if type(v) ~= "table" or v == EMPTY or depth > 10 then return v end
  local c = {}
  for k, x in next, v do c[k] = frozen(x, depth + 1) end
  return c
end

local function snapshot(init)
  local declared = {}
  for k, v in next, init do
    if type(k) == "string" and not ignored[k] then declared[k] = frozen(v, 0) end
  end
  return declared
end

local function default_new(self, instance)
  return env.session:create(self, instance)
end

local function declare(name, init, base, app, file)
  local proto = init or {}
  local entry = { proto = proto, declared = snapshot(proto), removed = {} }
  for k, v in next, entry.declared do
    if v == EMPTY then proto[k] = nil end
  end
  proto.type, proto.__index = name, proto
  local object = E.prototypes and E.prototypes.object
  if base == nil and object and name ~= "Object" then base = object end
  if type(base) == "table" then
    setmetatable(proto, base)
    proto.__tostring = rawget(proto, "__tostring") or base.__tostring
  end
  if proto.new == nil then proto.new = default_new end
  ownership.add(entry, name, app, file)
  return entry
end

local function enqueue(entry)
  if not queued[entry] then
    queued[entry] = true
    queue[#queue + 1] = entry
  end
end

-- Apply a new declaration to a known prototype; returns whether its fields differ from the last declaration.
local function merge(entry, init)
  local proto, before, after, differs = entry.proto, entry.declared, snapshot(init), false
  for k, v in next, init do
    if type(k) == "string" and not ignored[k] then
      local is_code = type(v) == "function"
      if not same(before[k], after[k], 0) or is_code then
        differs = differs or (not is_code)
        proto[k] = v ~= EMPTY and v or nil
        if v == false then proto[k] = false end
      end
      entry.removed[k] = nil
    end
  end
  for k, v in next, before do
    if after[k] == nil then
      proto[k] = nil
      if type(v) ~= "function" then
        entry.removed[k], differs = true, true
      end
    end
  end
  if rawget(init, "new") then proto.new = init.new end
  entry.declared = after
  return differs
end

-- The entry of a name, made if there is none: without `init` it may be that of another app.
local function entry_for(name, init, base)
  local app, file = E.loader.declaring()
  local entry, several
  if init == nil then entry, several = ownership.find(name, app)
  else entry, several = ownership.declared(name, app) end
  if several and not app then error(ownership.ambiguous(name, several), 3) end
  if entry then return entry, true end
  return declare(name, init, base, app, file), false
end

local function prototype(_, name, init, base)
  name = tostring(name)
  local entry, known = entry_for(name, init, base)
  E.loader.record_declaration("prototype", entry)
  if known and init ~= nil and not rawequal(init, entry.proto) and merge(entry, init) then enqueue(entry) end
  return entry.proto
end

local function create(_, proto, instance)
  instance = setmetatable(instance or {}, proto)
  instances[instance] = true
  return instance
end

local function is_instance(object, proto)
  local meta = getmetatable(object)
  for _ = 1, 20 do
    if meta == nil then return false end
    if rawequal(meta, proto) then return true end
    meta = type(meta) == "table" and getmetatable(meta) or nil
  end
end

local function mutate_all(entry)
  local mine = {}
  for object in next, instances do
    if is_instance(object, entry.proto) then mine[#mine + 1] = object end
  end
  for i = 1, #mine do
    local ok, fault = limits.call(function()
      if type(mine[i].mutate) == "function" then mine[i]:mutate() end
    end)
    if not ok then
      E.report("mutate " .. tostring(entry.proto.type), fault)
      E.problems.code_failed("mutate", fault)
    end
    for k in next, entry.removed do rawset(mine[i], k, nil) end
  end
end

local prototypes = {}

-- Run the queued mutations, oldest first.
function prototypes.run_mutations()
  local at = 1
  while queue[at] do
    local entry = queue[at]
    queued[entry] = nil
    mutate_all(entry)
    entry.removed = {}
    at = at + 1
  end
  queue = {}
end

-- The name and the entry of a table that is a prototype.
function prototypes.known_as(t)
  local entry = ownership.entry_of(t)
  if entry then return ownership.full_name(entry), entry end
end

-- A short text that differs when the declared fields do.
function prototypes.digest(entry)
  if entry.digested == entry.declared then return entry.digest end
  local text, h = E.json.encode(entry.declared), 5381
  for i = 1, #text do h = (h * 33 + byte(text, i)) % 4294967296 end
  entry.digested, entry.digest = entry.declared, #text .. "." .. h
  return entry.digest
end

-- Take a restored table as an instance, and let `mutate` see instances of a prototype that has changed since.
function prototypes.adopt(object) instances[object] = true end
function prototypes.changed(name) enqueue((ownership.find(name))) end

function prototypes.pending() return queue[1] ~= nil end

-- The prototype that a name means in an app's code; nil, and a message if it could be one of several.
function prototypes.get(name, app)
  local entry, several = ownership.find(name, app)
  if several then return nil, ownership.ambiguous(name, several) end
  return entry and entry.proto
end

-- Remove what a name means in the caller's code: its own type, else every app's.
local function remove_named(name, app)
  local mine = app and ownership.declares(app, name) and ownership.find(name, app)
  if mine then return ownership.drop(mine) end
  local entries = ownership.names()[name] or {}
  for i = #entries, 1, -1 do ownership.drop(entries[i]) end
end

function prototypes.remove(_, name, children)
  name = tostring(name)
  local app, below = E.loader.declaring(), {}
  for other in pairs(ownership.names()) do
    if children and sub(other, 1, #name + 1) == name .. "." then below[#below + 1] = other end
  end
  remove_named(name, app)
  for i = 1, #below do remove_named(below[i], app) end
end

prototypes.prototype, prototypes.create = prototype, create
E.prototypes = prototypes
