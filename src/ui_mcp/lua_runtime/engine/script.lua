-- Scripts of the gateway: fibers whose requests Python answers one by one. A script that gets the same answers in the
-- same order makes the same requests, so that it can be replayed after a crash.
local E = ...
local limits, quote, number = E.limits, E.json.quote, E.json.number
local app, parse, NULL, LENGTH = E.env, E.json.parse, E.json.null, E.json.LENGTH
local error, type, tostring, select = error, type, tostring, select
local next, getmetatable, setmetatable = next, getmetatable, setmetatable
local floor, fmod, concat, sort, remove = math.floor, math.fmod, table.concat, table.sort, table.remove
local yield, status, resume, match = coroutine.yield, coroutine.status, limits.resume_coroutine, string.match
local real_time, real_date = os.time, os.date

local MAX_DEPTH, MAX_PRINTED = 100, 20000

-- JSON that keeps what Lua has no value for: null inside lists, and empty lists.
local ARRAY = { __metatable = false }
local null = setmetatable({}, { __metatable = false })

local function from_json(v)
  if type(v) ~= "table" then return v end
  local n, t = v[LENGTH], {}
  if n then
    for i = 1, n do
      if v[i] == NULL then t[i] = null else t[i] = from_json(v[i]) end
    end
    return setmetatable(t, ARRAY)
  end
  for k, x in next, v do
    if x ~= NULL then t[k] = from_json(x) end
  end
  return t
end

local to_json

local function list_json(t, depth)
  local out = {}
  for i = 1, #t do out[i] = to_json(t[i], depth) end
  return "[" .. concat(out, ",") .. "]"
end

local function object_json(t, depth)
  local keys, out = {}, {}
  for k in next, t do
    if type(k) ~= "string" then error("a table with both list and named entries is no JSON", 0) end
    keys[#keys + 1] = k
  end
  sort(keys)
  for i = 1, #keys do out[i] = quote(keys[i]) .. ":" .. to_json(t[keys[i]], depth) end
  return "{" .. concat(out, ",") .. "}"
end

function to_json(v, depth)
  local kind = type(v)
  if v == nil or v == null then return "null" end
  if kind == "boolean" then return tostring(v) end
  if kind == "number" then return number(v) end
  if kind == "string" then return quote(v) end
  if kind ~= "table" then error("a " .. kind .. " is no JSON", 0) end
  if depth > MAX_DEPTH then error("a value is nested too deeply, or contains itself", 0) end
  if #v > 0 or getmetatable(v) == false and next(v) == nil then return list_json(v, depth + 1) end
  return object_json(v, depth + 1)
end

-- Fibers: the main one and those of `parallel`. A key names the n-th request of a fiber.
local current, ready, waiting, outbox, printed = nil, {}, {}, {}, {}
local printed_size, outcome = 0, nil
local FAILURE = { __tostring = function(problem) return problem.message end }

local function key_of(fiber)
  fiber.count = fiber.count + 1
  return fiber.id .. fiber.count
end

local function request(op, payload)
  local fiber = current
  local key = key_of(fiber)
  outbox[#outbox + 1] = '{"key":' .. quote(key) .. ',"op":' .. quote(op) .. ',"payload":' .. payload .. "}"
  waiting[key] = fiber
  local answer = yield()
  if answer.error then error(setmetatable(answer.error, FAILURE), 0) end
  return answer.value
end

local function check(v, kind, position, name)
  if type(v) ~= kind then
    error("bad argument #" .. position .. " to '" .. name .. "' (" .. kind .. " expected, got " .. type(v) .. ")", 3)
  end
end

local env = {}
env._G, env._VERSION, env.null = env, app._VERSION, null
for name in ("assert error getmetatable ipairs pcall rawequal rawget rawlen rawset select tonumber type xpcall"):gmatch("%S+") do
  env[name] = app[name]
end
env.setmetatable, env.string, env.table, env.math, env.unpack = app.setmetatable, app.string, app.table, app.math, app.unpack
env.table.foreach = nil

-- Addresses differ from run to run.
function env.tostring(v)
  local kind = type(v)
  if v == null then return "null" end
  if kind == "function" or kind == "table" and not (getmetatable(v) or ARRAY).__tostring then return kind end
  return tostring(v)
end

-- The order of Lua's `next` differs from run to run: keys come sorted, numbers first.
local function before(a, b)
  local x, y = type(a), type(b)
  if x ~= y then return x < y end
  if x == "number" or x == "string" then return a < b end
  return tostring(a) < tostring(b)
end

local function sorted_keys(t)
  local keys = {}
  for k in next, t do keys[#keys + 1] = k end
  sort(keys, before)
  return keys
end

function env.pairs(t)
  local keys, i = sorted_keys(t), 0
  return function()
    while i < #keys do
      i = i + 1
      local v = t[keys[i]]
      if v ~= nil then return keys[i], v end
    end
  end
end

function env.next(t, key)
  local found = key == nil
  local keys = sorted_keys(t)
  for i = 1, #keys do
    if found then return keys[i], t[keys[i]] end
    found = keys[i] == key
  end
end

-- Random numbers from a recorded seed (Park and Miller's generator).
local state = 1
function env.math.randomseed(n) state = floor(n) % 2147483646 + 1 end
function env.math.random(low, high)
  state = fmod(state * 16807, 2147483647)
  local r = (state - 1) / 2147483646
  if low == nil then return r end
  if high == nil then low, high = 1, low end
  if low > high then error("bad argument to 'random' (interval is empty)", 2) end
  return low + floor(r * (high - low + 1))
end

env.os = {}
function env.os.time(t) if t ~= nil then return real_time(t) end return floor(request("time", "null")) end
function env.os.clock() return request("time", "null") end
function env.os.date(text, at) return real_date(text or "%c", at or env.os.time()) end

function env.print(...)
  local parts = {}
  for i = 1, select("#", ...) do parts[i] = env.tostring((select(i, ...))) end
  local line = concat(parts, "\t")
  printed_size = printed_size + #line
  if printed_size <= MAX_PRINTED then printed[#printed + 1] = line end
end

env.json = {}
function env.json.encode(v) return to_json(v, 0) end
function env.json.decode(s)
  local v, problem = parse(s)
  if problem then error(problem, 2) end
  if v == NULL then return nil end
  return from_json(v)
end

-- Mark a table as a list, which only matters when it is empty.
function env.array(t) return setmetatable(t or {}, ARRAY) end

function env.call(tool, args)
  check(tool, "string", 1, "call")
  if args ~= nil then check(args, "table", 2, "call") end
  local given = args and next(args) ~= nil and to_json(args, 0) or "{}"
  return request("call", '{"tool":' .. quote(tool) .. ',"arguments":' .. given .. "}")
end

function env.search(query, limit)
  check(query, "string", 1, "search")
  return request("search", '{"query":' .. quote(query) .. ',"limit":' .. number(limit or 8) .. "}")
end

function env.ask(question)
  check(question, "string", 1, "ask")
  return request("ask", '{"question":' .. quote(question) .. "}")
end

-- Keep only the given paths of a value, such as "items[].id".
local function picked(v, parts, at)
  local name = parts[at]
  if name == nil or type(v) ~= "table" then return v end
  local key, list = match(name, "^(.-)(%[%])$")
  v = v[key or name]
  if not list or type(v) ~= "table" then return picked(v, parts, at + 1) end
  local out = setmetatable({}, ARRAY)
  for i = 1, #v do out[#out + 1] = picked(v[i], parts, at + 1) end
  return out
end

function env.pick(v, path)
  check(path, "string", 2, "pick")
  local parts = {}
  for part in path:gmatch("[^.]+") do
    if part == "[]" then error("write NAME[] in a path, and call pick for each row of a list", 2) end
    parts[#parts + 1] = part
  end
  return picked(v, parts, 1)
end

local function new_fiber(id, f, finished)
  local fiber = { id = id, count = 0, finished = finished }
  fiber.co = limits.create_coroutine(function() return f() end)
  ready[#ready + 1] = { fiber }
end

local function work_of(item)
  if type(item) == "function" then return item end
  if type(item) == "table" then return function() return env.call(item[1], item[2]) end end
  error("parallel takes functions or {tool, arguments}", 3)
end

-- Run functions, or calls {tool, arguments}, at the same time; return their results in order.
function env.parallel(work)
  check(work, "table", 1, "parallel")
  local parent, base = current, key_of(current)
  local results, left, failed = setmetatable({}, ARRAY), #work, nil
  if left == 0 then return results end
  for i = 1, #work do
    new_fiber(base .. "." .. i .. ":", work_of(work[i]), function(ok, value)
      if ok then results[i] = value == nil and null or value
      else results[i], failed = null, failed or { value } end
      left = left - 1
      if left == 0 then ready[#ready + 1] = { parent, {} } end
    end)
  end
  yield()
  if failed then error(failed[1], 0) end
  return results
end

local function advance(fiber, answer)
  current = fiber
  local ok, value = resume(fiber.co, answer)
  current = nil
  if status(fiber.co) == "dead" then fiber.finished(ok, value) end
end

local function pump()
  while #ready > 0 do
    local item = remove(ready, 1)
    advance(item[1], item[2])
  end
end

local function problem_json(problem)
  if type(problem) == "table" and getmetatable(problem) == FAILURE then return to_json(setmetatable(problem, nil), 0) end
  local ok, text = app.pcall(env.tostring, problem)
  return '{"message":' .. quote(ok and tostring(text) or "error") .. "}"
end

local function finish(ok, value)
  if not ok then outcome = '{"error":' .. problem_json(value) .. "}" return end
  local encoded, text = app.pcall(to_json, value, 0)
  outcome = encoded and '{"value":' .. text .. "}" or '{"error":{"message":' .. quote("the result: " .. tostring(text)) .. "}}"
end

local OP = {}

function OP.start(code, seed)
  env.math.randomseed(seed)
  local f, why = limits.load(code, "=script", "t", env)
  if not f then outcome = '{"error":{"message":' .. quote(tostring(why)) .. "}}" return end
  new_fiber("", f, finish)
  pump()
end

function OP.answer(key, text)
  local fiber = waiting[key]
  waiting[key] = nil
  ready[#ready + 1] = { fiber, from_json(parse(text)) }
  pump()
end

local function reply(fault)
  if fault then outcome = '{"error":{"message":' .. quote(fault.message) .. "}}" end
  local lines = {}
  for i = 1, #printed do lines[i] = quote(printed[i]) end
  local body = '{"requests":[' .. concat(outbox, ",") .. "]"
  if outcome then body = body .. ',"outcome":' .. outcome .. ',"printed":[' .. concat(lines, ",") .. "]" end
  outbox = {}
  return body .. "}"
end

local function entry(op, ...)
  limits.begin()
  local ok, fault = limits.call(OP[op], ...)
  limits.finish()
  return reply(not ok and fault or nil)
end

return entry, limits.set_seconds
