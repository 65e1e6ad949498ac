-- Prototypes, which keep their identity across reloads, their instances, and mutations after a reload.
local E = ...
local env, limits = E.env, E.limits
local tostring, type, next, pairs, rawget, rawset = tostring, type, next, pairs, rawget, rawset
local setmetatable, getmetatable, rawequal, sub, byte = setmetatable, getmetatable, rawequal, string.sub, string.byte

local EMPTY = {}
env.EMPTY = EMPTY

local known = {}
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

local function declare(name, init, base)
  local proto = init or {}
  local entry = { proto = proto, declared = snapshot(proto), removed = {} }
  for k, v in next, entry.declared do
    if v == EMPTY then proto[k] = nil end
  end
  proto.type, proto.__index = name, proto
  if base == nil and known.Object and name ~= "Object" then base = known.Object.proto end
  if type(base) == "table" then
    setmetatable(proto, base)
    proto.__tostring = rawget(proto, "__tostring") or base.__tostring
  end
  if proto.new == nil then proto.new = default_new end
  known[name] = entry
  return proto
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

local function prototype(_, name, init, base)
  E.loader.record_declaration("prototype", name)
  local entry = known[name]
  if not entry then return declare(name, init, base) end
  if init ~= nil and not rawequal(init, entry.proto) and merge(entry, init) then enqueue(entry) end
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
    if not ok then E.report("mutate " .. tostring(entry.proto.type), fault) end
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
  local name = rawget(t, "type")
  local entry = type(name) == "string" and known[name]
  if entry and rawequal(entry.proto, t) then return name, entry end
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
function prototypes.changed(name) enqueue(known[name]) end

function prototypes.pending() return queue[1] ~= nil end
function prototypes.get(name) return known[name] and known[name].proto end

function prototypes.remove(_, name, children)
  known[name] = nil
  if not children then return end
  for other in pairs(known) do
    if sub(other, 1, #name + 1) == name .. "." then known[other] = nil end
  end
end

prototypes.prototype, prototypes.create = prototype, create
E.prototypes = prototypes
