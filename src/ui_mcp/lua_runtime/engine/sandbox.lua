-- The globals of app code: Lua 5.1's library with goto, without access to anything outside the session.
local E, host = ...
local limits = E.limits
local type, select, error, tostring, tonumber, rawget = type, select, error, tostring, tonumber, rawget
local rawset, rawlen, next = rawset, rawlen, next
local setmetatable, getmetatable, floor, log = setmetatable, getmetatable, math.floor, math.log
local collectgarbage = collectgarbage
local rep, format, gsub, sub, find = string.rep, string.format, string.gsub, string.sub, string.find
local byte = string.byte
local getinfo, getupvalue, upvaluejoin = debug.getinfo, debug.getupvalue, debug.upvaluejoin
local traceback = debug.traceback
local insert, remove, unpack, pack = table.insert, table.remove, table.unpack, table.pack

local env = {}
local real = _G

local function copy(t, names)
  local c = {}
  for name in names:gmatch("%S+") do c[name] = t[name] end
  return c
end

local BASIC = "assert error getmetatable ipairs next pairs rawequal rawget rawlen rawset select tonumber tostring type"
for name, f in next, copy(real, BASIC) do env[name] = f end
env._G, env._VERSION = env, "Lua 5.1"
env.pcall, env.xpcall = limits.pcall, limits.xpcall
env.coroutine = copy(coroutine, "running status yield")
env.coroutine.create, env.coroutine.resume, env.coroutine.wrap = limits.create_coroutine, limits.resume_coroutine, limits.wrap
env.math = copy(math, "abs acos asin atan atan2 ceil cos cosh deg exp floor fmod frexp huge ldexp log max min modf")
for name, f in next, copy(math, "pi pow rad random randomseed sin sinh sqrt tan tanh") do env.math[name] = f end
env.math.mod, env.math.log10 = math.fmod, function(x) return log(x, 10) end
env.string = copy(string, "byte char find gmatch gsub len lower match reverse sub upper")
env.table = copy(table, "concat sort pack unpack")
env.unpack, env.table.getn = unpack, function(t) return #t end
env.debug = { traceback = traceback }

-- getinfo without `func`, so that app code cannot get at functions of the engine.
function env.debug.getinfo(f, what)
  local info = getinfo(type(f) == "number" and f + 1 or f, what)
  if info then info.func = nil end
  return info
end

-- Finalizers are refused: they would run outside the time limit.
function env.setmetatable(t, meta)
  if type(meta) == "table" and rawget(meta, "__gc") ~= nil then error("__gc is not supported", 2) end
  return setmetatable(t, meta)
end

function env.collectgarbage(what, ...)
  if what == "count" then return collectgarbage("count") end
  if what == nil or what == "collect" or what == "step" then return collectgarbage(what or "collect") end
  return 0
end

function env.string.rep(s, n, separator)
  if type(s) ~= "string" and type(s) ~= "number" then error("bad argument #1 to 'rep' (string expected)", 2) end
  s, n, separator = tostring(s), tonumber(n) or error("bad argument #2 to 'rep' (number expected)", 2), separator or ""
  local size = (#s + #separator) * n
  if n < 1 or size == 0 then return "" end
  if size > host.max_bytes / 2 then error("memory: string.rep of " .. E.json.number(size) .. " bytes is too long", 2) end
  return rep(s, n, separator)
end

local function quoted(s)
  s = gsub(s, '[%c"\\]', function(c)
    if c == "\n" then return "\\n" elseif c == "\r" then return "\\r" elseif c == "\t" then return "\\t" end
    if c == '"' or c == "\\" then return "\\" .. c end
    return format("\\%03d", byte(c))
  end)
  return '"' .. s .. '"'
end

function env.string.format(text, ...)
  if type(text) ~= "string" or not find(text, "%q", 1, true) then return format(text, ...) end
  local args, at = pack(...), 0
  text = gsub(text, "%%([-+ #0]*%d*%.?%d*)(.)", function(flags, kind)
    if kind == "%" then return "%%" end
    at = at + 1
    if kind ~= "q" then return "%" .. flags .. kind end
    args[at] = quoted(tostring(args[at]))
    return "%s"
  end)
  return format(text, unpack(args, 1, args.n))
end

local function shift_up(t, at, n)
  for i = n, at, -1 do t[i + 1] = t[i] end
end

-- Positions outside the list are accepted, as in Lua 5.1.
function env.table.insert(t, ...)
  if type(t) ~= "table" then error("bad argument #1 to 'insert' (table expected, got " .. type(t) .. ")", 2) end
  local at, value = ...
  if select("#", ...) < 2 then t[rawlen(t) + 1] = at return end
  at = tonumber(at) or error("bad argument #2 to 'insert' (number expected)", 2)
  local n = rawlen(t)
  if at >= 1 and at <= n and getmetatable(t) == nil then return insert(t, floor(at), value) end
  if at >= 1 and at <= n then shift_up(t, at, n) end
  t[at] = value
end

function env.table.remove(t, at)
  if type(t) ~= "table" then error("bad argument #1 to 'remove' (table expected, got " .. type(t) .. ")", 2) end
  local n = rawlen(t)
  at = tonumber(at) or n
  if n == 0 or at < 1 or at > n then return nil end
  if getmetatable(t) == nil then return remove(t, floor(at)) end
  local value = t[at]
  for i = at, n do t[i] = t[i + 1] end
  return value
end

function env.table.maxn(t)
  local max = 0
  for k in next, t do
    if type(k) == "number" and k > max then max = k end
  end
  return max
end

function env.table.foreach(t, f)
  for k, v in next, t do
    local found = f(k, v)
    if found ~= nil then return found end
  end
end

-- load accepts source text only (bytecode can crash the VM); it runs in the app's globals unless a scope is given.
function env.load(chunk, name, _, ...)
  local scope = env
  if select("#", ...) > 0 then scope = ... end
  return limits.load(chunk, name, "t", scope)
end

function env.loadstring(text, name)
  return limits.load(tostring(text), name or text, "t", env)
end

-- getfenv and setfenv of Lua 5.1, for functions of the app only.
local function env_upvalue(f)
  for i = 1, 255 do
    local name, value = getupvalue(f, i)
    if name == nil then return nil end
    if name == "_ENV" then return i, value end
  end
end

local function target(f)
  if type(f) == "function" then return f end
  local info = getinfo((tonumber(f) or 1) + 2, "f")
  return info and info.func
end

function env.getfenv(f)
  local found = f ~= 0 and target(f or 1)
  local _, scope = nil, nil
  if found then _, scope = env_upvalue(found) end
  if scope == nil or scope == real then return env end
  return scope
end

local function of_an_app(f)
  local info = f and getinfo(f, "S")
  return info and info.what ~= "C" and not find(info.source, "^@engine/")
end

function env.setfenv(f, scope)
  local found = target(f)
  local at, old
  if found then at, old = env_upvalue(found) end
  if type(scope) ~= "table" or old == real or not of_an_app(found) then
    error("cannot change the environment of this object", 2)
  end
  if at then upvaluejoin(found, at, function() return scope end, 1) end
  return found
end

-- Methods of strings come from the app's string table, which it may extend.
local strings = getmetatable("")
strings.__index, strings.__metatable = env.string, false

E.env = env
