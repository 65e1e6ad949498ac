-- Problems: what goes wrong in apps, each with its place, for the person and the agent. The server counts repetitions.
local E, host = ...
local OUTPUT = E.wire.output
local json, limits = E.json, E.limits
local type, next, min, tonumber, tostring = type, next, math.min, tonumber, tostring
local match, gsub, sub, byte, lower, find = string.match, string.gsub, string.sub, string.byte, string.lower, string.find
local getmetatable, rawget = debug.getmetatable, rawget

local problems = {}
local MAX_NAMES = 500

-- Edit distance of two words, at most `limit`.
local function distance(a, b, limit)
  if #a - #b > limit or #b - #a > limit then return limit + 1 end
  local before = {}
  for j = 0, #b do before[j] = j end
  for i = 1, #a do
    local row = { [0] = i }
    for j = 1, #b do
      local same = byte(a, i) == byte(b, j) and 0 or 1
      row[j] = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + same)
    end
    before = row
  end
  return before[#b]
end

-- The name most like `wanted`, or nil if none is close.
function problems.closest(wanted, names)
  local best, least = nil, #wanted < 4 and 1 or 2
  for i = 1, #names do
    local d = distance(lower(wanted), lower(names[i]), least)
    if names[i] ~= wanted and (d < least or (d == least and best == nil)) then best, least = names[i], d end
  end
  return best
end

-- Names of the fields or of the methods of an object and its prototypes.
local function names_of(object, wanted)
  local names = {}
  for _ = 1, 20 do
    if type(object) ~= "table" then break end
    for k, v in next, object do
      if type(k) == "string" and type(v) == wanted and sub(k, 1, 2) ~= "__" and #names < MAX_NAMES then
        names[#names + 1] = k
      end
    end
    local meta = getmetatable(object)
    object = type(meta) == "table" and rawget(meta, "__index") or nil
  end
  return names
end

-- File, line and text of an error message; both nil if it names no file.
local function split(message)
  local file, line, text = match(message, "^([%w_%-./]+):(%d+): (.*)$")
  if file then return file, tonumber(line), text end
  return nil, nil, (gsub(message, "^view [^:]+:%d+: ", ""))
end

local function method_missing(message)
  return match(message, "attempt to call method '([%w_]+)'") or match(message, "^no method '([%w_]+)'")
    or match(message, "no method '([%w_]+)' at")
end

-- Add "did you mean" if the message is about a method that the object does not have.
local function explained(message, object)
  local missing = method_missing(message)
  if not missing or type(object) ~= "table" or E.inherited(object, missing) ~= nil then return message, nil end
  local near = problems.closest(missing, names_of(object, "function"))
  local of = E.type_of(object)
  return "no method '" .. missing .. "'" .. (of and " of " .. of or ""), near and "Did you mean " .. near .. "()?" or nil
end

function problems.emit(problem)
  host.emit(OUTPUT.PROBLEM, json.encode(problem), 0)
end

function problems.resolve(id)
  host.emit(OUTPUT.RESOLVED, id, 0)
end

-- The file of a viewdef, below the base directory.
function problems.viewdef_file(viewdef)
  local key, app = viewdef.key, viewdef.app
  if app and sub(key, 1, #app + 1) == app .. "." then key = sub(key, #app + 2) end
  key = gsub(key, "%.for%-%d+.*$", "")
  key = gsub(key, "%.if%-%d+.*$", "")
  return (app and "apps/" .. app .. "/" or "") .. "viewdefs/" .. key .. ".html"
end

local ACTIONS = { action = true, event = true, keypress = true }

-- The version makes it another problem after an edit of the viewdef.
local function binding_id(viewdef, b) return "binding " .. viewdef.key .. " " .. b.pos .. " " .. viewdef.version end

-- Id → number of places that fail in this way.
local function failing(viewdef)
  viewdef.failing = viewdef.failing or {}
  return viewdef.failing
end

-- A binding failed; `again` if another place counts already.
function problems.binding_failed(viewdef, b, fault, object, again)
  local id = binding_id(viewdef, b)
  if not again then failing(viewdef)[id] = (failing(viewdef)[id] or 0) + 1 end
  local source, source_line, text = split(tostring(fault.message))
  local message, hint = explained(text, object)
  problems.emit({
    id = id, kind = ACTIONS[b.kind] and "action" or "binding", level = "error", app = viewdef.app,
    file = problems.viewdef_file(viewdef), line = b.line, expression = b.attribute .. '="' .. b.text .. '"',
    message = message, hint = hint, code = fault.code, source = source and source .. ":" .. source_line,
    traceback = fault.traceback ~= "" and fault.traceback or nil,
  })
end

-- A binding works again, or its view is gone; an action that failed stays until it works.
function problems.binding_settled(viewdef, b, gone)
  if gone and ACTIONS[b.kind] then return end
  local id = binding_id(viewdef, b)
  local count = failing(viewdef)[id]
  if not count then return end
  local left = ACTIONS[b.kind] and 0 or count - 1
  failing(viewdef)[id] = left > 0 and left or nil
  if left == 0 then problems.resolve(id) end
end

-- Another version of a viewdef has come: what was wrong with the old one is no more.
function problems.viewdef_replaced(viewdef)
  for id in next, viewdef and viewdef.failing or {} do problems.resolve(id) end
  if viewdef then viewdef.failing = nil end
end

-- Code that runs by itself failed, such as a timer; returns the problem's id.
function problems.code_failed(kind, fault)
  local file, line, text = split(tostring(fault.message))
  local id = kind .. " " .. (file or "") .. ":" .. (line or "") .. " " .. text
  problems.emit({
    id = id, kind = kind, level = "error", app = file and E.ownership.of_file(file), file = file, line = line,
    message = text, code = fault.code, traceback = fault.traceback ~= "" and fault.traceback or nil,
  })
  return id
end

-- There is no viewdef for a type.
function problems.viewdef_missing(kind, key, text, known)
  local app = E.ownership.of_kind(kind)
  local names = {}
  for other in next, known do
    if not find(other, " ", 1, true) and #names < MAX_NAMES then names[#names + 1] = other end
  end
  local near = problems.closest(key, names)
  problems.emit({
    id = "viewdef " .. (app or "") .. " " .. key, kind = "viewdef", level = "error", app = app,
    file = (app and "apps/" .. app .. "/" or "") .. "viewdefs/" .. key .. ".html", message = text,
    hint = near and "There is " .. near .. ".html; did you mean that?" or nil,
  })
  return "viewdef " .. (app or "") .. " " .. key
end

local FROM_PAGES = { code = true, script = true }

-- A page reports what went wrong in it: {kind, key, pos?, message, expression?}.
function problems.from_page(text)
  local found = json.decode(text)
  if type(found) ~= "table" or not FROM_PAGES[found.kind] or type(found.message) ~= "string" then return end
  local viewdef = type(found.key) == "string" and E.viewdefs.by_key[found.key] or nil
  local row = viewdef and type(found.pos) == "number" and viewdef.bindings[found.pos + 1]
  local shown = type(found.expression) == "string" and sub(found.expression, 1, 200) or nil
  local id = found.kind .. " " .. (viewdef and viewdef.key or "") .. " " .. (row and found.pos or "") .. sub(found.message, 1, 200)
  if viewdef then failing(viewdef)[id] = 1 end
  problems.emit({
    id = id,
    kind = found.kind, level = "error", app = viewdef and viewdef.app or not viewdef and E.displayed or nil,
    file = viewdef and problems.viewdef_file(viewdef), line = row and row[9] or nil,
    expression = row and row[2] .. '="' .. row[4] .. '"' or shown, message = sub(found.message, 1, 1000),
    source = type(found.source) == "string" and sub(found.source, 1, 300) or nil,
  })
end

E.problems = problems
