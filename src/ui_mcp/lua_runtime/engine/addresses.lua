-- What each page shows, and the address of that: /app/NAME, with a path below it where the app has one.
-- A page follows `mcp.value` until its person opens an app on it, or it is opened at an app's address. Then it shows that app
-- until `mcp.value` changes: `ui_display` and `mcp:display` show an app on all pages.
local E = ...
local ADDRESS, NOTICE = E.wire.property.ADDRESS, E.wire.property.NOTICE
local json, limits = E.json, E.limits
local type, rawequal, next, tostring, tonumber = type, rawequal, next, tostring, tonumber
local match, gsub, format, char, byte, sub = string.match, string.gsub, string.format, string.char, string.byte, string.sub

local MAX_PATH = 2000
local names = setmetatable({}, { __mode = "k" }) -- apps → their names
local titles = {}
local addresses = {}
local used = false -- whether the shell shows a page's own app; shells of other products show `mcp.value` on all
E.addresses = addresses

function addresses.name(object, name)
  if type(object) == "table" then names[object] = name end
end

-- The name of the app that an object is; after a restart the names have to be found again.
local function name_of(object)
  if type(object) ~= "table" then return nil end
  if not names[object] and E.displayed and rawequal(E.mcp.value, object) then names[object] = E.displayed end
  return names[object]
end

-- The README's title of an app; asked once, because it is a file.
local function title_of(name)
  if titles[name] == nil then
    local list = E.mcp.apps()
    for i = 1, #(type(list) == "table" and list or {}) do titles[list[i].name] = list[i].title end
    titles[name] = titles[name] or name
  end
  return titles[name]
end

local function shown_on(page)
  if page and page.own_app then
    if rawequal(page.seen_value, E.mcp.value) then return page.own_app.object end
    page.own_app = nil
  end
  return E.mcp.value
end

-- What the page shows that is being served; without one, what is displayed.
function addresses.shown()
  used = true
  return shown_on(E.acting or E.page)
end

function addresses.title()
  local object = addresses.shown()
  local name = name_of(object)
  if name then return title_of(name) end
  return type(object) == "table" and (object.title or object.name) or nil
end

local function keep(page, object)
  page.own_app, page.seen_value = { object = object }, E.mcp.value
end

-- Show an app on the page whose person asked for it, nil for the start page; the others go on showing what they show.
function addresses.open(name)
  local page, object = E.acting, nil
  if name ~= nil then
    local why
    object, why = E.mcp.app(name)
    if object == nil then return nil, why end
    addresses.name(object, name)
  end
  local others = {}
  for _, other in next, page and E.connections or {} do
    if other ~= page then others[other] = { object = shown_on(other) } end
  end
  if name and not rawequal(E.mcp.value, object) then E.mcp.display(name) end
  if not name then E.mcp.value = nil end
  for other, shown in next, others do keep(other, shown.object) end
  if page then page.own_app = nil end
  return true
end

local function decoded(text)
  return (gsub(text, "%%(%x%x)", function(hex) return char(tonumber(hex, 16)) end))
end

local function encoded(text)
  return (gsub(text, "[^%w%-._~/=,:@!$'()*+;]", function(c) return format("%%%02X", byte(c)) end))
end

-- The path and title that an app gives to what it shows.
local function place(object)
  local ask = type(object) == "table" and object.address
  if type(ask) ~= "function" then return "", nil end
  local ok, path, title = limits.call(ask, object)
  if not ok then
    E.report("address", path)
    return "", nil
  end
  return type(path) == "string" and sub(gsub(path, "^/+", ""), 1, MAX_PATH) or "", type(title) == "string" and title or nil
end

local function set_property(page, name, text)
  local root = page.vars[1]
  root.unsent_props = root.unsent_props or {}
  root.unsent_props[name], root.dirty = text, true
end

local function go_to(object, path)
  if type(object) ~= "table" or type(object.visit) ~= "function" or place(object) == path then return end
  local ok, fault = limits.call(object.visit, object, path)
  if not ok then E.problems.code_failed("visit", fault) end
end

-- A page was opened at an address, or its person went back or forward.
function addresses.visit(page, text, moved)
  local name, path = match(text, "^/app/([^/]+)/?(.*)$")
  page.addressed, page.address = true, nil
  name = name and decoded(name)
  if not name then
    if moved then addresses.open(nil) end
    return
  end
  local object, why, absent = E.mcp.app(name)
  if object == nil then
    local text = absent and "There is no app called “" .. name .. "” here." or "“" .. name .. "” cannot be opened: " .. tostring(why)
    set_property(page, NOTICE, json.encode({ level = "error", text = text }))
    return
  end
  addresses.name(object, name)
  if moved or E.mcp.value == nil then addresses.open(name)
  elseif not rawequal(shown_on(page), object) then keep(page, object) end
  go_to(object, decoded(path))
end

-- After change detection: tell the page its address if that is another one.
function addresses.tell(page)
  if not page.addressed then return end
  local object = shown_on(page)
  local name = name_of(object)
  if page.own_app and not used then
    page.own_app = nil
    if name then E.mcp.display(name) else E.mcp.value = nil end
    E.scan_views(page)
  end
  local path, title = "", nil
  if name then path, title = place(object) end
  local shown = object ~= nil and name and title_of(name) or nil
  local facts = { app = name, path = encoded(path), title = title and shown and title .. " · " .. shown or title or shown }
  local text = json.encode(facts)
  if text == page.address then return end
  page.address = text
  set_property(page, ADDRESS, text)
end
