-- Limits for app code: a time limit that pcall and coroutines cannot catch, and a memory limit while app code runs.
local E, host = ...
local FAULT = E.wire.fault
local clock, begin, finish = host.clock, host.begin, host.finish
local error, type, tostring, setmetatable = error, type, tostring, setmetatable
local getmetatable = debug.getmetatable
local gsub, load = string.gsub, load
local raw_pcall, raw_xpcall, sethook, traceback = pcall, xpcall, debug.sethook, debug.traceback
local getinfo, find = debug.getinfo, string.find
local create, resume = coroutine.create, coroutine.resume

local STEP = 1000
local stopped_at
local deadline, expired, armed, counting = 0, false, false, false
local RAISED = { __tostring = function(raised) return raised.fault.message end }
local TIMEOUT, MEMORY = { code = FAULT.TIMEOUT }, "not enough memory"

local limits = {}

function limits.set_seconds(seconds)
  limits.seconds = seconds
  TIMEOUT.message = "timeout: Lua code ran longer than " .. E.json.number(seconds) .. " s"
end

-- File and line of the innermost app code that runs, or nil.
local function app_position()
  for level = 3, 60 do
    local at = getinfo(level, "Sl")
    if not at then return nil end
    local generated = find(at.source, "^=view ") or find(at.source, "^@engine/")
    if at.currentline > 0 and not generated then return at.short_src .. ":" .. at.currentline end
  end
end

local function hook()
  if armed and clock() > deadline then
    if not expired then stopped_at = app_position() end
    expired = true
    error(TIMEOUT, 0)
  end
end

local function check(...)
  if expired and armed then error(TIMEOUT, 0) end
  return ...
end

-- Start the time limit anew; returns the time.
function limits.begin()
  local now = begin()
  deadline = now + limits.seconds
  expired, armed, counting, stopped_at = false, true, true, nil
  return now
end

-- Lift the limits; engine code that follows is not interrupted.
function limits.finish()
  armed = false
  if counting then finish() end
  counting = false
end

function limits.expired() return expired end

function limits.new_fault(code, message)
  return { code = code, message = message, traceback = "" }
end

-- Raise a fault of the engine; app code cannot forge one.
function limits.raise(code, message)
  error(setmetatable({ fault = limits.new_fault(code, message) }, RAISED), 0)
end

-- The fault in an error value that `limits.raise` raised, else nil.
function limits.raised(problem)
  return type(problem) == "table" and getmetatable(problem) == RAISED and problem.fault or nil
end

-- Convert an error value to a fault: { code, message, traceback }.
local function fault(problem, trace)
  if problem == TIMEOUT or expired then
    local message = TIMEOUT.message .. (stopped_at and ", at " .. stopped_at or "")
    return { code = FAULT.TIMEOUT, message = message, traceback = trace }
  end
  if problem == MEMORY then return { code = FAULT.MEMORY, message = "memory: Lua memory limit reached", traceback = trace } end
  if type(problem) == "table" and getmetatable(problem) == RAISED then return problem.fault end
  local ok, text = raw_pcall(tostring, problem)
  if not ok or type(text) ~= "string" then text = "error object is a " .. type(problem) end
  return { code = FAULT.LUA_ERROR, message = text, traceback = trace }
end

-- The fault with the traceback of app code, without the frames of the engine.
local function describe(problem)
  if problem == MEMORY or problem == TIMEOUT then return fault(problem, "") end
  local trace = gsub(traceback("", 3), "^\nstack traceback:\n", "")
  trace = gsub(trace, "[^\n]*engine/[^\n]*\n?", "")
  return fault(problem, (gsub(trace, "[^\n]*%[C%]: in [^\n]*\n?", "")))
end

-- The limit is set again afterwards, because `load` calls this handler for its own errors and then goes on.
local function handler(problem)
  local was = armed
  armed = false
  local found = describe(problem)
  armed = was
  return found
end

local function done(was, ok, first, ...)
  armed = was
  if not ok and (type(first) ~= "table" or not first.code) then first = fault(first, "") end
  return ok, first, ...
end

-- Call app code within the remaining time: true and its results, or false and a fault.
function limits.call(f, ...)
  local was = armed
  armed = true
  return done(was, raw_xpcall(f, handler, ...))
end

-- The same; where() is called at the point of an error, and its result becomes the fault's `at`.
function limits.call_found(f, where, ...)
  local was = armed
  armed = true
  return done(was, raw_xpcall(f, function(problem)
    local before = armed
    armed = false
    local at, found = where(), describe(problem)
    if at and found.at == nil then found.at = at end
    armed = before
    return found
  end, ...))
end


sethook(hook, "", STEP)

local function hooked(f)
  local co = create(f)
  sethook(co, hook, "", STEP)
  return co
end

-- For app code: the library functions that could catch the timeout raise it again.
function limits.pcall(f, ...) return check(raw_pcall(f, ...)) end
function limits.xpcall(f, h, ...) return check(raw_xpcall(f, h, ...)) end
function limits.resume_coroutine(co, ...) return check(resume(co, ...)) end
limits.create_coroutine = hooked

local function finished(ok, ...)
  if ok then return check(...) end
  local problem = ...
  error(problem, type(problem) == "string" and 0 or 2)
end

function limits.wrap(f)
  local co = hooked(f)
  return function(...) return finished(resume(co, ...)) end
end

local function compiled(f, why)
  if type(why) == "table" and why.message then why = why.message end
  return f, why
end

function limits.load(...) return compiled(check(load(...))) end

-- Uncaught errors go to lua-err.log with their origin.
function E.report(origin, problem)
  local trace = problem.traceback ~= "" and problem.traceback and "\n" .. problem.traceback or ""
  E.log_error(origin, tostring(problem.message) .. trace)
end

function E.log_error(origin, text)
  host.log_error(tostring(origin), tostring(text))
end

E.limits, E.ops, E.context = limits, {}, {}
