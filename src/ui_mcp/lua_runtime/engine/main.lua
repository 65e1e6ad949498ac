-- The single entry point: runs an operation within its limits, detects changes and returns the frames.
local E = ...
local FAULT, CHANGES = E.wire.fault, E.wire.op.CHANGES
local limits = E.limits
local unpack, tostring, sub = table.unpack, tostring, string.sub

local ops = E.ops

local function set_context(polling, waited, pending, status, timing)
  local context = E.context
  context.polling, context.waited, context.pending = polling, waited, pending
  context.status, context.timing = status, timing
end

-- Run one operation; returns its fault or nil, and the JSON of its result.
local function perform(op, ...)
  local f = ops[op]
  if not f then return limits.new_fault(FAULT.INVALID, "unknown operation " .. tostring(op)) end
  E.loader.reset()
  E.context.at = limits.begin()
  local ok, result, fault = limits.call(f, ...)
  limits.finish()
  if ok then return fault, result end
  return result
end

-- The journal reads tables, nothing else: no limits, no change detection.
local function changes(whole)
  local result, fault = ops[CHANGES](whole)
  local name = E.steps.take()
  if fault then return fault.code, fault.message, "", "null" end
  if name and result ~= "[]" then result = "[" .. name .. "," .. sub(result, 2) end
  return "", "", "", result
end

-- Returns code, message, traceback, result, then connection and frame in turns.
local function call(op, polling, waited, pending, status, timing, ...)
  if op == CHANGES then return changes(...) end
  set_context(polling, waited, pending, status, timing)
  local fault, result = perform(op, ...)
  if fault then E.report(op, fault) end
  E.stores.save_all(op)
  local frames = E.collect_frames(op)
  limits.finish()
  if fault then return fault.code, fault.message, fault.traceback or "", "null", unpack(frames) end
  return "", "", "", result or "null", unpack(frames)
end

return call, limits.set_seconds
