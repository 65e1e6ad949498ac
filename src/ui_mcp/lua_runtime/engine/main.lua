-- The door: one function takes every operation, runs it under its budget, detects changes and hands out frames.
local E = ...
local FAULT = E.wire.fault
local limits = E.limits
local unpack, tostring = table.unpack, tostring

local ops = E.ops

local function remember(polling, waited, pending, room, room_bytes, status, timing)
  local facts = E.facts
  facts.polling, facts.waited, facts.pending = polling, waited, pending
  facts.room, facts.room_bytes, facts.status, facts.timing = room, room_bytes, status, timing
end

-- Run one operation; its fault, or nil, and the JSON of its result.
local function perform(op, ...)
  local f = ops[op]
  if not f then return limits.new_fault(FAULT.INVALID, "unknown operation " .. tostring(op)) end
  E.loader.reset()
  E.facts.at = limits.begin()
  local ok, result, fault = limits.call(f, ...)
  limits.finish()
  if ok then return fault, result end
  return result
end

-- Answer: code, message, traceback, result, then connection and frame in turns.
local function enter(op, polling, waited, pending, room, room_bytes, status, timing, ...)
  remember(polling, waited, pending, room, room_bytes, status, timing)
  local fault, result = perform(op, ...)
  if fault then E.report(op, fault) end
  local frames = E.settle(op)
  limits.finish()
  if fault then return fault.code, fault.message, fault.traceback or "", "null", unpack(frames) end
  return "", "", "", result or "null", unpack(frames)
end

return enter, limits.limit
