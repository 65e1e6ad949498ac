-- Stores: tables of an app that last. After each operation, what changed in them is saved before it is shown.
local E, host = ...
local OP = E.wire.op
local json, limits, session = E.json, E.limits, E.env.session
local type, next, tostring, tonumber, error, rawequal = type, next, tostring, tonumber, error, rawequal
local rawlen, rawget, setmetatable, getmetatable = rawlen, rawget, setmetatable, debug.getmetatable
local find, byte, sub, match = string.find, string.byte, string.sub, string.match
local lower, gsub = string.lower, string.gsub
local sort, concat, floor = table.sort, table.concat, math.floor

local META, COUNT = {}, {} -- keys of what is remembered of a saved table: its metatable, and how many fields it has
local MAX_DEPTH = 30
local stores, by_table = {}, setmetatable({}, { __mode = "k" })
local module = {}

local KEPT = { string = true, number = true, boolean = true, table = true }

-- Whether a field is saved: names that begin with "_" are private, and code is no data.
local function saves(k, v)
  if not KEPT[type(v)] or v ~= v then return false end
  return type(k) == "number" or (type(k) == "string" and byte(k) ~= 95)
end

local function unchanged(v, saved, depth)
  if type(v) ~= "table" then return rawequal(v, saved) end
  if type(saved) ~= "table" or not rawequal(saved[META], getmetatable(v)) or depth > MAX_DEPTH then return false end
  local n = 0
  for k, x in next, v do
    if saves(k, x) then
      n = n + 1
      if not unchanged(x, saved[k], depth + 1) then return false end
    end
  end
  return n == saved[COUNT]
end

local function remembered(v, depth)
  if type(v) ~= "table" then return v end
  local copy, n = { [META] = getmetatable(v) }, 0
  for k, x in next, v do
    if saves(k, x) then
      n = n + 1
      copy[k] = remembered(x, depth + 1)
    end
  end
  copy[COUNT] = n
  return copy
end

-- A value as JSON can hold it. A typed table has its type under `_type`; one with both parts has its list under `_list`.
local function plain(v, depth)
  if type(v) ~= "table" then return v end
  if depth > MAX_DEPTH then error("tables are nested more than " .. MAX_DEPTH .. " deep, or contain themselves", 0) end
  local fields, list, named = {}, {}, false
  for i = 1, rawlen(v) do
    local x = rawget(v, i)
    list[i] = saves(i, x) and plain(x, depth + 1) or nil
  end
  for k, x in next, v do
    local listed = type(k) == "number" and k >= 1 and k <= rawlen(v) and floor(k) == k
    if saves(k, x) and not listed then fields[tostring(k)], named = plain(x, depth + 1), true end
  end
  local kind = getmetatable(v) ~= nil and E.ownership.name_of(getmetatable(v))
  if not kind and not named then return list end
  fields._type = kind or nil
  if list[1] ~= nil then fields._list = list end
  return fields
end

-- The value that was saved as `v`; typed tables become instances again, and are put into `made`.
local function revived(v, app, made)
  if type(v) ~= "table" then return v end
  local kind, list = v._type, v._list
  local object = {}
  for k, x in next, v do
    if k ~= "_type" and k ~= "_list" then object[k] = revived(x, app, made) end
  end
  for i, x in next, type(list) == "table" and list or {} do
    if type(i) == "number" then object[i] = revived(x, app, made) end
  end
  local proto = kind and E.prototypes.get(kind, app)
  if proto then
    session:create(proto, object)
    made[#made + 1] = object
  elseif kind then
    made.unknown = kind
  end
  return object
end

-- The names that the declaration of a type has, to notice that it changed since the rows were saved.
local function fields_of(proto)
  local names = {}
  for name in next, E.ownership.declared_fields(proto) or {} do names[#names + 1] = name end
  sort(names)
  return concat(names, " ")
end

local function refuse(message) error(message, 3) end

-- Run `mutate` of the instances whose type has changed since they were saved.
local function migrate(store, made, types)
  for i = 1, #made do
    local proto = getmetatable(made[i])
    local kind = E.ownership.name_of(proto)
    if types[kind] and types[kind] ~= fields_of(proto) and type(made[i].mutate) == "function" then
      local ok, fault = limits.call(made[i].mutate, made[i])
      if not ok then
        E.report("mutate " .. kind, fault)
        E.problems.code_failed("mutate", fault)
      end
    end
  end
  for i = 1, #made do
    local proto = getmetatable(made[i])
    store.types[E.ownership.name_of(proto)] = fields_of(proto)
  end
end

-- The state journal keeps the names of stores and of their rows; what is in them is on the disk already.
local function name_for_journal(store, object, key)
  E.state_values.external[object] = "store " .. store.app .. " " .. store.name .. (key and " " .. key or "")
end

local function load_rows(store, found)
  local data, made, rows = store.data, {}, {}
  for i = 1, #found.rows do
    local row = found.rows[i]
    local value = revived(row[3], store.app, made)
    if row[2] == -1 then data[sub(row[1], 2)] = value
    else
      rows[#rows + 1] = { row[2], value, row[1] }
    end
    store.saved[row[1]] = { position = row[2], value = remembered(value, 0) }
  end
  sort(rows, function(a, b) return a[1] < b[1] end)
  for i = 1, #rows do
    data[i] = rows[i][2]
    if type(rows[i][2]) == "table" then
      store.keys[rows[i][2]], store.objects[rows[i][3]] = rows[i][3], rows[i][2]
      name_for_journal(store, rows[i][2], rows[i][3])
    end
  end
  if made.unknown then
    local text = "'" .. made.unknown .. "' is not declared before session:store('" .. store.name .. "'): its rows are plain tables"
    E.problems.emit({ id = "store " .. store.app .. store.name, kind = "store", level = "warning", app = store.app, message = text })
  end
  migrate(store, made, found.types or {})
end

local methods = {}

local function open(app, name, class)
  local text, why = host.store("open", app, name)
  host.arm()
  if not text then refuse(why) end
  local store = { app = app, name = name, class = class, saved = {}, keys = setmetatable({}, { __mode = "k" }), types = {} }
  store.objects = setmetatable({}, { __mode = "v" })
  store.data = setmetatable({}, { __index = methods })
  by_table[store.data] = store
  name_for_journal(store, store.data)
  load_rows(store, json.decode(text))
  return store
end

-- session:store(name [, class]): the app's table of this name, as it was when it was last changed.
function session:store(name, class)
  if type(name) ~= "string" or not find(name, "^[%w_%-]+$") or #name > 64 then
    error("the name of a store has letters, digits, - and _ only: " .. tostring(name), 2)
  end
  local app = E.loader.declaring() or E.displayed
  if not app then error("session:store belongs to an app: call it in a file of apps/, or display the app first", 2) end
  local key = app .. "/" .. name
  if not stores[key] then stores[key] = open(app, name, class) end
  if class ~= nil then stores[key].class = class end
  return stores[key].data
end

-- The key of an entry of the list; tables keep theirs, other values have that of their place.
local function key_of(store, value, i)
  if type(value) ~= "table" then return "i" .. i end
  local key = store.keys[value]
  if not key then
    key = "r" .. host.store("id")
    store.keys[value], store.objects[key] = key, value
    name_for_journal(store, value, key)
  end
  return key
end

local function note(store, changes, key, position, value)
  local known = store.saved[key]
  if known and unchanged(value, known.value, 0) then
    if known.position ~= position then changes.moved[#changes.moved + 1] = { key, position } end
    return
  end
  changes.put[#changes.put + 1] = { key, position, { plain(value, 0) }, value }
  local proto = type(value) == "table" and getmetatable(value)
  local kind = proto and E.ownership.name_of(proto)
  if kind and store.types[kind] == nil then store.types[kind] = fields_of(proto) end
end

-- What is different from what was saved: { put, moved, gone }.
local function changes_of(store)
  local changes, present = { put = {}, moved = {}, gone = {} }, {}
  local data = store.data
  for i = 1, rawlen(data) do
    local value = rawget(data, i)
    if saves(i, value) then
      local key = key_of(store, value, i)
      if present[key] then key = "i" .. i end -- the same table twice
      present[key] = true
      note(store, changes, key, i, value)
    end
  end
  for k, value in next, data do
    if type(k) == "string" and saves(k, value) then
      present["f" .. k] = true
      note(store, changes, "f" .. k, -1, value)
    end
  end
  for key in next, store.saved do
    if not present[key] then changes.gone[#changes.gone + 1] = key end
  end
  return changes
end

local function applied(store, changes)
  for i = 1, #changes.put do
    local put = changes.put[i]
    store.saved[put[1]] = { position = put[2], value = remembered(put[4], 0) }
  end
  for i = 1, #changes.moved do store.saved[changes.moved[i][1]].position = changes.moved[i][2] end
  for i = 1, #changes.gone do
    local key = changes.gone[i]
    local object = store.objects[key]
    store.saved[key], store.objects[key] = nil, nil
    if object then store.keys[object], E.state_values.external[object] = nil, nil end
  end
end

local function encoded(store, changes)
  local put = {}
  for i = 1, #changes.put do
    local one = changes.put[i]
    put[i] = "[" .. json.quote(one[1]) .. "," .. one[2] .. "," .. json.quote(json.encode(one[3], true)) .. "]"
  end
  local moved, gone = {}, {}
  for i = 1, #changes.moved do moved[i] = "[" .. json.quote(changes.moved[i][1]) .. "," .. changes.moved[i][2] .. "]" end
  for i = 1, #changes.gone do gone[i] = json.quote(changes.gone[i]) end
  return '{"put":[' .. concat(put, ",") .. '],"moved":[' .. concat(moved, ",") .. '],"gone":[' .. concat(gone, ",")
    .. '],"types":' .. (next(store.types) and json.encode(store.types) or "{}") .. "}"
end

local function fail(store, message)
  local id = "store " .. store.app .. "/" .. store.name
  if store.problem ~= message then
    store.problem = message
    local text = "session:store('" .. store.name .. "') cannot be saved: " .. message
    E.log_error(id, text)
    E.problems.emit({ id = id, kind = "store", level = "error", app = store.app, message = text })
  end
end

local function save(store)
  local ok, changes = limits.call(changes_of, store)
  if not ok then return fail(store, changes.message) end
  if not (changes.put[1] or changes.moved[1] or changes.gone[1]) then return end
  local done, why = host.store("save", store.app, store.name, encoded(store, changes))
  if not done then return fail(store, why) end
  applied(store, changes)
  if store.problem then
    store.problem = nil
    E.problems.resolve("store " .. store.app .. "/" .. store.name)
  end
end

local READS = { [OP.CHECK] = true, [OP.STATE] = true, [OP.VARIABLES] = true, [OP.OPEN] = true, [OP.CLOSE] = true, [OP.VIEWDEFS] = true }

-- Save what an operation has changed; errors are shown and the next operation tries again.
function module.save_all(op)
  if READS[op] then return end
  for _, store in next, stores do save(store) end
end

-- The store or the row that the journal knows by a name, or nil if it is gone.
function module.find(given)
  local app, name, key = match(given, "^store (%S+) (%S+) ?(.*)$")
  local id = app .. "/" .. name
  if not stores[id] then stores[id] = open(app, name) end
  if key == "" then return stores[id].data end
  return stores[id].objects[key]
end

local function store_of(data)
  return by_table[data] or error("call it with a colon: store:export('csv')", 3)
end

-- store:export("json" | "csv"): the rows as text.
function methods:export(format)
  local store = store_of(self)
  if format ~= "json" and format ~= "csv" then error("export to 'json' or 'csv', not " .. tostring(format), 2) end
  local rows = {}
  for i = 1, rawlen(self) do rows[i] = plain(rawget(self, i), 0) end
  local text, why = host.store("text", format, json.encode({ rows }, true), fields_of(store.class or {}))
  host.arm()
  if not text then error(why, 2) end
  return text
end

-- The number that a person wrote, with separators and a currency: "1,257.39", "1.257,39 €". A single comma before three
-- digits separates thousands, unless commas are decimal in this file; nil if it is no number.
local function number_of(text, comma_is_decimal)
  local plain = gsub(gsub(text, "\194\160", ""), "[%s$']", "")
  plain = gsub(gsub(gsub(plain, "€", ""), "£", ""), "\226\128\175", "")
  if tonumber(plain) then return tonumber(plain) end
  local comma, dot = find(plain, ",[^,]*$"), find(plain, "%.[^.]*$")
  if comma and (dot and comma > dot or not dot and (comma_is_decimal or not find(plain, "^[+-]?%d%d?%d?,%d%d%d$"))) then
    return tonumber((gsub(gsub(plain, "%.", ""), ",", ".")))
  end
  return find(plain, "^[+-]?%d%d?%d?,%d%d%d") and tonumber((gsub(plain, ",", ""))) or nil
end

-- What a text of a file means for a field with this default; nil if it means nothing there.
local function converted(text, default, comma_is_decimal)
  if type(text) ~= "string" then return text end
  if type(default) == "number" then
    if not find(text, "%S") then return default end
    return number_of(text, comma_is_decimal)
  end
  if type(default) == "boolean" then return text == "true" or text == "yes" or text == "1" end
  local number = default == nil and tonumber(text)
  if number and tostring(number) == text then return number end
  return text
end

local function bare(name) return (gsub(lower(name), "[^%w]", "")) end

-- A row with the fields of its type for headings that people wrote: "Due date" is `dueDate`, as tables export it.
local function with_fields(row, class)
  local fields, found = {}, {}
  for field in next, E.ownership.declared_fields(class) or {} do fields[bare(field)] = field end
  for heading, v in next, row do
    local field = class[heading] == nil and type(heading) == "string" and fields[bare(heading)]
    found[field and row[field] == nil and field or heading] = v
  end
  return found
end

-- A row as an object of a type, or nil and the field whose text is no value of it.
local function typed(row, store, comma_is_decimal)
  local values = {}
  for k, v in next, row do
    values[k] = converted(v, store.class[k], comma_is_decimal)
    if values[k] == nil then return nil, k end
  end
  return session:create(store.class, values)
end

-- store:import("json" | "csv", text): append the rows of a text; returns their number, or nil and a reason, and then the
-- rows that were left out, as { row, field, text }.
function methods:import(format, text)
  local store = store_of(self)
  if format ~= "json" and format ~= "csv" then error("import from 'json' or 'csv', not " .. tostring(format), 2) end
  local found, why = host.store("rows", format, tostring(text))
  host.arm()
  if not found then return nil, why end
  local rows, made, left_out, comma_is_decimal = json.decode(found), {}, {}, find(match(tostring(text), "^[^\n]*"), ";", 1, true)
  for i = 1, #rows do
    local row, field = revived(rows[i], store.app, made), nil
    if store.class and type(row) == "table" and getmetatable(row) == nil then
      local given = format == "csv" and with_fields(row, store.class) or row
      row, field = typed(given, store, comma_is_decimal)
      if field then left_out[#left_out + 1] = { row = i, field = field, text = given[field] } end
    elseif format == "csv" then
      for k, v in next, row do row[k] = converted(v) end
    end
    if row ~= nil then self[rawlen(self) + 1] = row end
  end
  return #rows - #left_out, nil, left_out
end

E.stores = module
