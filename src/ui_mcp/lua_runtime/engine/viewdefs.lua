-- Viewdefs by key, by type and namespace; each is sent to a page once.
local E = ...
local json = E.json
local type, next, sort, find, sub, concat = type, next, table.sort, string.find, string.sub, table.concat

local gsub = string.gsub
local escapes = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;" }

local by_key, by_type = {}, {}
local viewdefs = { by_key = by_key, version = 0 }

-- Index a key under every type it can mean: `a.b.C` is `b.C` of type `a`, or `C` of type `a.b`.
local function index(key, viewdef)
  local at = find(key, ".", 1, true)
  while at do
    local kind = sub(key, 1, at - 1)
    by_type[kind] = by_type[kind] or {}
    by_type[kind][key] = viewdef
    at = find(key, ".", at + 1, true)
  end
end

local stand_ins = {}

-- A viewdef that was missing has come.
local function found(key)
  local made = stand_ins[key]
  if made then
    stand_ins[key] = nil
    E.problems.resolve(made.problem)
  end
end

-- Add viewdefs, key → [html, bindings, app], replacing those with the same keys, and drop those given as false; returns a
-- message if the text is malformed.
function viewdefs.take(text)
  local given, problem = json.parse(text)
  if problem or type(given) ~= "table" then return problem or "viewdefs come as an object" end
  viewdefs.version = viewdefs.version + 1
  for key, entry in next, given do
    if type(key) == "string" and type(entry) == "table" and type(entry[1]) == "string" and type(entry[2]) == "table" then
      local app = type(entry[3]) == "string" and entry[3] or nil
      local viewdef = { key = key, html = entry[1], bindings = entry[2], version = viewdefs.version, app = app }
      if app and sub(key, 1, #app + 1) == app .. "." then viewdef.index = app end -- the type may have a plain name
      E.problems.viewdef_replaced(by_key[key])
      by_key[key] = viewdef
      found(key)
      index(key, viewdef)
    elseif entry == false and type(key) == "string" then
      E.problems.viewdef_replaced(by_key[key])
      by_key[key] = nil
      index(key, nil)
    end
  end
end

-- The viewdef of a key: the app's own, else one outside of apps, else that of an app which has no such type itself.
local function choose(app, name, namespace)
  local key = name .. "." .. namespace
  local own, plain = app and by_key[app .. "." .. key], by_key[key]
  if own then return own end
  if plain and plain.app and plain.app ~= app and E.ownership.declares(plain.app, name) then return nil end
  return plain
end

function viewdefs.find(kind, namespace, fallback)
  local app, name = E.ownership.of_kind(kind)
  return namespace ~= "" and choose(app, name, namespace)
    or fallback ~= "" and choose(app, name, fallback)
    or choose(app, name, "DEFAULT") or nil
end

-- Whether the viewdefs that pages have for a type belong to another app, while this app has its own.
function viewdefs.belongs_to_other(name, app)
  if not by_type[app .. "." .. name] then return false end
  for key, viewdef in next, by_type[name] or {} do
    if viewdef.app and viewdef.app ~= app and find(key, name .. ".", 1, true) == 1 then return true end
  end
  return false
end

-- Types have come that change which viewdef is whose.
function viewdefs.select_again()
  viewdefs.version = viewdefs.version + 1
  for _, page in next, E.connections or {} do page.refit = true end
end

-- What to say about a viewdef that is missing, and its key.
function viewdefs.missing(kind, namespace)
  local _, name = E.ownership.of_kind(kind)
  local key = name .. "." .. (namespace ~= "" and namespace or "DEFAULT")
  return "No viewdef for " .. kind .. ": write viewdefs/" .. key .. ".html", key
end

-- A viewdef that names the missing one. It is indexed under its own key, so that it is found for no type.
function viewdefs.stand_in(kind, namespace)
  local text, key = viewdefs.missing(kind, namespace)
  local made = stand_ins[key]
  if not made then
    local html = '<template><div class="ui-missing-view" role="note">' .. gsub(text, "[&<>]", escapes) .. "</div></template>"
    made = { key = key .. " (missing)", html = html, bindings = { [json.LENGTH] = 0 }, version = 0 }
    made.index = made.key
    by_key[made.key], by_type[made.key], stand_ins[key] = made, { [made.key] = made }, made
    E.log_error(key, text)
    made.problem = E.problems.viewdef_missing(kind, key, text, by_key)
  end
  return made
end

-- The type under which a viewdef is delivered: a qualified type may be shown by a viewdef of the plain name.
function viewdefs.index_of(viewdef, kind)
  if viewdef.index then return viewdef.index end
  local known = by_type[kind]
  if known and known[viewdef.key] then return kind end
  local _, name = E.ownership.of_kind(kind)
  return name
end

-- Queue the viewdefs of a type for a page, all namespaces together.
function viewdefs.need(conn, kind)
  local sent, known = conn.sent, by_type[kind]
  if not known or sent[kind] == viewdefs.version then return end
  sent[kind] = viewdefs.version
  for key, viewdef in next, known do
    if conn.has[key] ~= viewdef.version then
      conn.has[key] = viewdef.version
      conn.undelivered[#conn.undelivered + 1] = key
    end
  end
end

-- JSON text of the viewdefs queued for a page, or nil; they count as delivered from now on.
function viewdefs.undelivered_json(conn)
  local keys = conn.undelivered
  if #keys == 0 then return nil end
  conn.undelivered = {}
  sort(keys)
  local parts = {}
  for i = 1, #keys do
    local viewdef = by_key[keys[i]] -- it may be gone since it was queued
    if viewdef then parts[#parts + 1] = json.quote(keys[i]) .. ":" .. json.quote(viewdef.html) end
  end
  return "{" .. concat(parts, ",") .. "}"
end

E.viewdefs = viewdefs
