-- Names what a person did, for the history: "Delete task 'milk'". App code may say it better with session:label(text).
local E = ...
local env, ownership = E.env, E.ownership
local type, rawget, getmetatable, rawequal, tostring = type, rawget, getmetatable, rawequal, tostring
local match, gsub, lower, upper, sub, find = string.match, string.gsub, string.lower, string.upper, string.sub, string.find

local MAX_NAME, MAX_LABEL = 40, 80
local NAMES = { "name", "title", "label", "text", "subject", "id" }
local path, object, given, count = nil, nil, nil, 0

local steps = {}
E.steps = steps

-- Remember what a page has written or called; it is put into words only if something has changed.
function steps.note(p, o)
  path, object, count = p, o, count + 1
end

-- The text without a broken last character.
local function cut(text, length)
  if #text <= length then return text end
  return (gsub(sub(text, 1, length), "[\192-\255]?[\128-\191]*$", "")) .. "…"
end

-- deleteTask → delete task
local function words(name)
  name = gsub(gsub(name, "_+", " "), "(%l)(%u)", "%1 %2")
  return lower(name)
end

local function text_of(v)
  if type(v) ~= "string" or not find(v, "%S") or find(v, "%c") then return nil end
  return "'" .. cut(v, MAX_NAME) .. "'"
end

local function name_of(o)
  for i = 1, #NAMES do
    local text = text_of(rawget(o, NAMES[i]))
    if text then return text end
  end
end

-- "task 'milk'" for a part of an app; nothing for the app itself, which everything is about.
local function part(o)
  if type(o) ~= "table" or rawequal(o, E.mcp) or rawequal(o, E.mcp and E.mcp.value) then return nil end
  local kind = E.type_of(o)
  if not kind then return nil end
  return words(match(kind, "([%w_]+)$") or kind), name_of(o)
end

local function label()
  local method = match(path.text, "([%a_][%w_]*)%b()[^%w]*$")
  local verb = words(method or match(path.text, "([%a_][%w_]*)[^%w]*$") or "change")
  if not method then verb = "set " .. verb end
  local kind, name = part(object)
  if not kind then return verb end
  local said = find(verb, kind, 1, true) ~= nil
  if method then return verb .. (said and "" or " " .. kind) .. (name and " " .. name or "") end
  return verb .. " of " .. kind .. (name and " " .. name or "")
end

local function app()
  local meta = type(object) == "table" and getmetatable(object)
  local entry = type(meta) == "table" and ownership.entry_of(meta)
  local owner = entry and entry.owner
  return owner and owner ~= "lua" and owner or E.displayed or ""
end

function env.session:label(text)
  if type(text) == "string" and text ~= "" then given = cut((gsub(text, "%c", " ")), MAX_LABEL) end
end

-- The record ["h", app, label, count] of what was noted since the last call, or nil.
function steps.take()
  local record
  if path or given then
    local text = given or label()
    if not given then text = upper(sub(text, 1, 1)) .. sub(text, 2) end
    local many = given and 1 or count
    record = '["h",' .. E.json.quote(path and app() or "") .. "," .. E.json.quote(text) .. "," .. tostring(many) .. "]"
  end
  path, object, given, count = nil, nil, nil, 0
  return record
end
