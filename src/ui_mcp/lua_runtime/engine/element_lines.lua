-- The lines of a `ui-log`: a list of texts, or one text. Lines that were added are sent alone.
local E = ...
local FAULT = E.wire.fault
local json, limits = E.json, E.limits
local type, tostring, rawlen, rawget = type, tostring, rawlen, rawget
local find, sub, concat, max = string.find, string.sub, table.concat, math.max

local MOST_LINES, TRIES = 5000, 50

local lines = {}
E.data_kinds.lines = lines

local function split(text)
  local out, at = {}, 1
  while at <= #text do
    local stop = find(text, "\n", at, true) or #text + 1
    out[#out + 1] = sub(text, at, stop - 1)
    at = stop + 1
  end
  return out
end

local function text_of(line)
  if type(line) == "string" then return line end
  if type(line) == "table" then return tostring(line.text or line.message or line[1] or "") end
  return tostring(line)
end

-- The last lines, and how many there are before them.
local function last_lines(v)
  if v == nil then return {}, 0 end
  if type(v) == "string" then v = split(v) end
  if type(v) ~= "table" then limits.raise(FAULT.INVALID, "a log shows a list of lines or a text, and this is a " .. type(v)) end
  local n = rawlen(v)
  local skipped = max(0, n - MOST_LINES)
  local out = {}
  for i = 1, n - skipped do out[i] = text_of(rawget(v, i + skipped)) end
  return out, skipped
end

local function continues(last, now, gone)
  if #now < #last - gone then return false end
  for i = 1, #last - gone do
    if last[i + gone] ~= now[i] then return false end
  end
  return true
end

-- How many of the old lines are gone from the beginning; nil if the rest differs.
local function dropped(last, now)
  local tries = 0
  for gone = 0, #last - 1 do
    if last[gone + 1] == now[1] then
      if continues(last, now, gone) then return gone end
      tries = tries + 1
      if tries > TRIES then return nil end
    end
  end
end

local function texts_json(now, from)
  local out = {}
  for i = from, #now do out[#out + 1] = json.quote(now[i]) end
  return "[" .. concat(out, ",") .. "]"
end

function lines.start() return {} end

-- As for points: the JSON, nil without a change, and whether it only adds to what the page has.
function lines.read(state, v, whole)
  local now, skipped = last_lines(v)
  local last = state.last
  state.last = now
  if last and not whole and #now > 0 and #last > 0 then
    local gone = dropped(last, now)
    if gone == 0 and #now == #last then return nil end
    if gone then return '{"drop":' .. gone .. ',"append":' .. texts_json(now, #last - gone + 1) .. "}", true end
  end
  return '{"skipped":' .. skipped .. ',"lines":' .. texts_json(now, 1) .. "}"
end

function lines.ask() end
