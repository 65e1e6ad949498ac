-- The rows of a `ui-table`: the part of a Lua list that its page shows, changes of cells, and lists for download.
local E = ...
local FAULT = E.wire.fault
local json, limits, orders = E.json, E.limits, E.row_orders
local type, tostring, tonumber, next, pairs, rawlen, rawget = type, tostring, tonumber, next, pairs, rawlen, rawget
local floor, min, max = math.floor, math.min, math.max
local find, gsub, byte, concat, sort = string.find, string.gsub, string.byte, table.concat, table.sort
local cell, text_of = orders.cell, orders.text

local MOST_ROWS, FIRST_ROWS, SAMPLE, MOST_EXPORTED = 500, 60, 20, 200000
local FIRST_NAMES = { id = 1, date = 2, time = 3, name = 4, title = 5, label = 6 }

local function refuse(text) limits.raise(FAULT.INVALID, text) end

-- The description of a table: `rows` is a list, or `page` a function that reads a part of one.
local function description(v)
  if v == nil then return { rows = {} } end
  if type(v) ~= "table" then refuse("a table shows a list of rows, and this is a " .. type(v)) end
  if E.is_array(v) or (next(v) == nil and not E.type_of(v)) then return { rows = v } end
  if type(v.page) == "function" then return v end
  local rows = v.rows
  if type(rows) == "function" then rows = v:rows() end
  if type(rows) ~= "table" then refuse("a table shows a list of rows, or an object with `rows` or `page`") end
  return { rows = rows, columns = v.columns }
end

local function by_importance(a, b)
  local first, second = FIRST_NAMES[a] or 9, FIRST_NAMES[b] or 9
  if first ~= second then return first < second end
  return a < b
end

-- Names found in the first rows, those that most tables begin with first, the others by alphabet.
local function inferred(rows)
  local seen, names = {}, {}
  for i = 1, min(SAMPLE, #rows) do
    local row = rows[i]
    if type(row) ~= "table" then return { "value" } end
    for name, v in pairs(row) do
      local shown = type(name) == "string" and byte(name) ~= 95 and type(v) ~= "table" and type(v) ~= "function"
      if shown and not seen[name] then
        seen[name] = true
        names[#names + 1] = name
      end
    end
  end
  sort(names, by_importance)
  return names
end

local function kind_of(rows, name)
  for i = 1, min(SAMPLE, #rows) do
    local v = cell(rows[i], name)
    if type(v) == "number" or type(v) == "boolean" then return type(v) end
    if type(v) == "string" and v ~= "" then return find(v, "^%d%d%d%d%-%d%d%-%d%d$") and "date" or "text" end
  end
  return "text"
end

-- The columns in order: those the page names, else those of the description, else those found in the rows.
local function columns_of(state, from, sample)
  local given, by_name, names = from.columns, {}, {}
  for i = 1, type(given) == "table" and #given or 0 do
    local column = type(given[i]) == "table" and given[i] or { name = tostring(given[i]) }
    if type(column.name) ~= "string" then refuse("column " .. i .. " has no name") end
    by_name[column.name], names[i] = column, column.name
  end
  local wanted = state.query.columns
  if #wanted > 0 then names = wanted
  elseif #names == 0 then names = inferred(sample) end
  local all = {}
  for i = 1, #names do
    all[i] = by_name[names[i]] or { name = names[i] }
    local total, totals = all[i].total, state.query.totals
    if type(total) == "string" and not totals[names[i]] then totals[names[i]] = total end
  end
  return all, names
end

local function columns_json(columns, sample)
  local out = {}
  for i = 1, #columns do
    local column, told = columns[i], {}
    for key, v in pairs(column) do
      if type(v) ~= "function" then told[key] = v end
    end
    told.type = column.type or kind_of(sample, column.name)
    out[i] = json.encode(told)
  end
  return "[" .. concat(out, ",") .. "]"
end

local function value_json(v)
  local kind = type(v)
  if kind == "string" then return json.quote(v) end
  if kind == "number" then return json.number(v) end
  if kind == "boolean" then return v and "true" or "false" end
  if kind == "table" then return json.quote(text_of(v)) end
  return "null"
end

-- A row of texts or numbers has no number of its own; it is named by its place, as a negative number.
local function row_json(state, row, at, names)
  local id = type(row) == "table" and E.id_of(row) or -at
  state.shown[id] = row
  local out = { json.number(id) }
  for i = 1, #names do out[i + 1] = value_json(cell(row, names[i])) end
  return "[" .. concat(out, ",") .. "]"
end

local function totals_json(totals)
  local out = {}
  for name, v in next, totals do out[#out + 1] = json.quote(name) .. ":" .. value_json(v) end
  sort(out)
  return "{" .. concat(out, ",") .. "}"
end

local function group_json(group)
  local open = group.open and "true" or "false"
  return '{"group":' .. json.quote(group.group) .. ',"count":' .. #group.list .. ',"open":' .. open
    .. ',"totals":' .. totals_json(group.totals) .. "}"
end

local function whole_json(state, found)
  return '{"serial":' .. json.number(state.query.serial) .. ',"from":' .. found.from - 1 .. ',"length":' .. found.length
    .. ',"matching":' .. found.matching .. ',"all":' .. found.all .. ',"columns":' .. found.columns
    .. ',"totals":' .. totals_json(found.totals) .. ',"rows":[' .. concat(found.rows, ",") .. "]}"
end

-- Rows that the app reads itself; it is asked again when its `version` or the query changes, always if it has none.
local function by_cursor(state, from)
  local query = state.query
  local known = state.page
  if not known or known.query ~= query or from.version == nil or known.version ~= from.version then
    local asked = { sort = query.sort, descending = query.descending, search = query.search, filters = query.filters }
    local rows, length = from:page(query.from, query.count, asked)
    if type(rows) ~= "table" then refuse("page(from, count, query) must return a list of rows, and their whole number") end
    length = tonumber(length or (type(from.length) == "function" and from:length(asked)) or from.length) or #rows
    known = { query = query, version = from.version, rows = rows, length = length }
    state.page = known
  end
  local rows, length = known.rows, known.length
  local columns, names = columns_of(state, from, rows)
  state.columns, state.names, state.source = columns, names, from
  local out = {}
  for i = 1, min(#rows, query.count) do out[i] = row_json(state, rows[i], query.from + i, names) end
  return {
    from = query.from, length = length, matching = length, all = length, rows = out,
    columns = columns_json(columns, rows), totals = type(from.totals) == "table" and from.totals or {},
  }
end

local function by_list(state, from)
  local rows, query = from.rows, state.query
  local n = rawlen(rows)
  local columns, names = columns_of(state, from, rows)
  state.columns, state.names, state.source = columns, names, from
  local order = orders.find(state.order, query, names, rows, n)
  state.order = order
  local items = order and order.items
  local length = items and #items or n
  local first = max(1, min(query.from, length - query.count + 1))
  local out = {}
  for at = first, min(length, first + query.count - 1) do
    local item = items and items[at] or at
    out[#out + 1] = type(item) == "table" and group_json(item) or row_json(state, rows[item], item, names)
  end
  return {
    from = first, length = length, matching = order and order.matching or n, all = n, rows = out,
    columns = columns_json(columns, rows), totals = order and order.totals or {},
  }
end

local rows = {}
E.data_kinds = { rows = rows }

local function new_query()
  return { serial = 0, from = 1, count = FIRST_ROWS, columns = {}, search = "", filters = {}, totals = {}, closed = {} }
end

-- The state of one table on one page.
function rows.start() return { query = new_query(), shown = {} } end

function rows.read(state, v)
  state.shown = {}
  local from = description(v)
  return whole_json(state, from.page and by_cursor(state, from) or by_list(state, from))
end

local function texts(t)
  local found = {}
  for name, text in next, type(t) == "table" and t or {} do
    if type(name) == "string" and type(text) == "string" and text ~= "" then found[name] = text end
  end
  return found
end

local function names_in(t)
  local found = {}
  for i = 1, type(t) == "table" and #t or 0 do found[i] = tostring(t[i]) end
  return found
end

-- The page shows other rows, or sorts, searches, filters or groups them.
local function take_query(state, q)
  local last = state.query
  local closed = {}
  for _, name in next, names_in(q.closed) do closed[name] = true end
  local query = {
    serial = tonumber(q.serial) or 0, columns = names_in(q.columns), totals = texts(q.totals), closed = closed,
    search = type(q.search) == "string" and q.search or "", filters = texts(q.filters),
    sort = type(q.sort) == "string" and q.sort ~= "" and q.sort or nil, descending = q.descending == true,
    group = type(q.group) == "string" and q.group ~= "" and q.group or nil,
  }
  query.from = max(0, floor(tonumber(q.from) or 0)) + 1
  query.count = max(1, min(MOST_ROWS, floor(tonumber(q.count) or FIRST_ROWS)))
  -- Scrolling alone keeps the order.
  local same = q.same == true and last.serial > 0
  if same then
    last.serial, last.from, last.count = query.serial, query.from, query.count
    state.page = nil
  else
    state.query, state.order = query, nil
  end
end

local function column_named(state, name)
  for i = 1, #(state.columns or {}) do
    if state.columns[i].name == name then return state.columns[i] end
  end
end

-- Why a value may not be put into a cell, or nil.
local function wrong(column, value, row)
  if not column then return "There is no such column." end
  local writable = column.edit ~= false and type(row[column.name]) ~= "function"
  if not writable then return "This column cannot be changed." end
  if type(column.check) ~= "function" then return nil end
  local first, second = column.check(value, row)
  if type(first) == "string" then return first end
  if first == false then return tostring(second or "This value is not allowed.") end
end

-- The page has changed a cell; what is said of it is sent to the page alone.
local function edit(state, e)
  local row, name = state.shown[tonumber(e.row) or 0], tostring(e.column)
  local problem
  if type(row) ~= "table" then problem = "The row is gone." end
  problem = problem or wrong(column_named(state, name), e.value, row)
  if not problem then row[name] = e.value end
  local text = problem and json.quote(problem) or "null"
  return '{"edited":{"row":' .. json.number(tonumber(e.row) or 0) .. ',"column":' .. json.quote(name) .. ',"problem":' .. text .. "}}"
end

-- All rows that fit the query, in order.
local function each_row(state, f)
  local from, query = state.source, state.query
  if not from then return end
  if from.page then
    local asked = { sort = query.sort, descending = query.descending, search = query.search, filters = query.filters }
    local at = 1
    while at <= MOST_EXPORTED do
      local part = from:page(at, 1000, asked)
      for i = 1, #part do f(part[i], at + i - 1) end
      if #part < 1000 then return end
      at = at + 1000
    end
    return
  end
  local order = state.order
  local n = order and #order.list or rawlen(from.rows)
  for i = 1, min(n, MOST_EXPORTED) do
    local at = order and order.list[i] or i
    f(from.rows[at], at)
  end
end

local function quoted(v)
  local text = text_of(v)
  if find(text, '[",\r\n]') then text = '"' .. gsub(text, '"', '""') .. '"' end
  return text
end

local function csv(state, names, labels)
  local lines, head = {}, {}
  for i = 1, #names do head[i] = quoted(labels[i] or names[i]) end
  lines[1] = concat(head, ",")
  each_row(state, function(row)
    local out = {}
    for i = 1, #names do out[i] = quoted(cell(row, names[i])) end
    lines[#lines + 1] = concat(out, ",")
  end)
  return '{"csv":' .. json.quote(concat(lines, "\r\n") .. "\r\n") .. "}"
end

local function ids(state)
  local out = {}
  each_row(state, function(row, at) out[#out + 1] = json.number(type(row) == "table" and E.id_of(row) or -at) end)
  return '{"ids":[' .. concat(out, ",") .. "]}"
end

-- A message of the page; returns what to tell it at once, or nil.
function rows.ask(state, q)
  if type(q) ~= "table" then return nil end
  if type(q.edit) == "table" then return edit(state, q.edit) end
  if type(q.csv) == "table" then return csv(state, names_in(q.csv), names_in(q.labels)) end
  if q.ids then return ids(state) end
  take_query(state, q)
end
