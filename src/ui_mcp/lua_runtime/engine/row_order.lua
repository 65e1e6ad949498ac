-- Which rows of a list an element shows, and in what order: search, filters, sorting, groups and totals.
-- An order is kept until a value that decided it changes; comparing values is much faster than sorting them again.
local E = ...
local type, tostring, tonumber, next, rawequal, pcall = type, tostring, tonumber, next, rawequal, pcall
local lower, find, match, sort, concat = string.lower, string.find, string.match, table.sort, table.concat

local orders = {}
E.row_orders = orders

-- The value of a row in a column: a field, the result of a method, or the row itself if it is a text or number.
local function cell(row, name)
  if type(row) ~= "table" then return row end
  local v = row[name]
  if type(v) == "function" then return v(row) end
  return v
end
orders.cell = cell

local function text_of(v)
  if v == nil then return "" end
  if type(v) == "table" then
    local parts = {}
    for i = 1, #v do parts[i] = tostring(v[i]) end
    return concat(parts, ", ")
  end
  return tostring(v)
end
orders.text = text_of

-- What values are compared by: numbers as numbers, texts without case.
local function key_of(v)
  local kind = type(v)
  if kind == "number" then return v == v and v or nil end
  if kind == "boolean" then return v and 1 or 0 end
  if kind == "nil" then return nil end
  return lower(text_of(v))
end

local tests = {
  [">"] = function(a, b) return a > b end,
  ["<"] = function(a, b) return a < b end,
  [">="] = function(a, b) return a >= b end,
  ["<="] = function(a, b) return a <= b end,
}

local function sides(v, wanted)
  local a, b = tonumber(v), tonumber(wanted)
  if a and b then return a, b end
  return lower(text_of(v)), lower(wanted)
end

-- A test for what was typed into a filter: `text`, `=text`, `>5`, `<=5`, `1..5`.
local function filter(text)
  local low, high = match(text, "^%s*(.-)%s*%.%.%s*(.-)%s*$")
  if low and low ~= "" and high ~= "" then
    local above, below = filter(">=" .. low), filter("<=" .. high)
    return function(v) return above(v) and below(v) end
  end
  local sign, rest = match(text, "^%s*([<>]=?)%s*(.+)$")
  if sign then
    return function(v)
      if v == nil then return false end
      local a, b = sides(v, rest)
      return tests[sign](a, b)
    end
  end
  local exact = match(text, "^%s*=%s*(.-)%s*$")
  if exact then return function(v) return lower(text_of(v)) == lower(exact) end end
  local part = lower(text)
  return function(v) return find(lower(text_of(v)), part, 1, true) ~= nil end
end

-- The names of the columns whose values decide the order; nil if it is simply that of the list.
local function deciding(query, names)
  local used, any = {}, false
  local function use(name)
    used[name], any = true, true
  end
  if query.sort then use(query.sort) end
  if query.group then use(query.group) end
  for name in next, query.filters do use(name) end
  for name in next, query.totals do use(name) end
  if query.search ~= "" then
    for i = 1, #names do use(names[i]) end
  end
  return any and used or nil
end

local function unchanged(order, rows, n, used)
  if order.n ~= n then return false end
  local known = order.rows
  for i = 1, n do
    if not rawequal(rows[i], known[i]) then return false end
  end
  for name in next, used do
    local values = order.values[name]
    for i = 1, n do
      if not rawequal(cell(rows[i], name), values[i]) then return false end
    end
  end
  return true
end

local function copy_values(rows, n, used)
  local values = {}
  for name in next, used do
    local column = {}
    for i = 1, n do column[i] = cell(rows[i], name) end
    values[name] = column
  end
  return values
end

local function matching(query, names, values, n)
  local checks, found = {}, {}
  for name, text in next, query.filters do checks[#checks + 1] = { values[name], filter(text) } end
  local wanted = lower(query.search)
  for i = 1, n do
    local fits = true
    for c = 1, #checks do fits = fits and checks[c][2](checks[c][1][i]) end
    if fits and wanted ~= "" then
      fits = false
      for c = 1, #names do
        if find(lower(text_of(values[names[c]][i])), wanted, 1, true) then fits = true break end
      end
    end
    if fits then found[#found + 1] = i end
  end
  return found
end

-- Numbers before texts, the other way round if descending, and rows without a value last; equal ones stay in the order of the
-- list. Each kind is sorted alone, because a comparison that asks for kinds takes twice as long.
local function sort_by(found, column, descending)
  local keys, numbers, texts, empty = {}, {}, {}, {}
  for i = 1, #found do
    local at = found[i]
    local key = key_of(column[at])
    keys[at] = key
    local list = key == nil and empty or type(key) == "number" and numbers or texts
    list[#list + 1] = at
  end
  local compare = function(a, b)
    local x, y = keys[a], keys[b]
    if x == y then return a < b end
    return x < y
  end
  if descending then
    compare = function(a, b)
      local x, y = keys[a], keys[b]
      if x == y then return a < b end
      return x > y
    end
  end
  sort(numbers, compare)
  sort(texts, compare)
  local n = 0
  for _, list in next, descending and { texts, numbers, empty } or { numbers, texts, empty } do
    for i = 1, #list do found[n + i] = list[i] end
    n = n + #list
  end
end

local combine = {
  sum = function(list, column)
    local total = 0
    for i = 1, #list do total = total + (tonumber(column[list[i]]) or 0) end
    return total
  end,
  count = function(list, column)
    local total = 0
    for i = 1, #list do total = total + (column[list[i]] ~= nil and column[list[i]] ~= "" and 1 or 0) end
    return total
  end,
  min = function(list, column)
    local found
    for i = 1, #list do
      local v = tonumber(column[list[i]])
      if v and (not found or v < found) then found = v end
    end
    return found
  end,
  max = function(list, column)
    local found
    for i = 1, #list do
      local v = tonumber(column[list[i]])
      if v and (not found or v > found) then found = v end
    end
    return found
  end,
}
function combine.mean(list, column)
  local n = combine.count(list, column)
  return n > 0 and combine.sum(list, column) / n or nil
end

local function totals_of(query, values, list)
  local totals = {}
  for name, kind in next, query.totals do totals[name] = (combine[kind] or combine.sum)(list, values[name]) end
  return totals
end

-- Put a heading before the rows of each group; those of closed groups are left out.
local function grouped(query, values, found)
  local column, items, groups, by_key = values[query.group], {}, {}, {}
  for i = 1, #found do
    local text = text_of(column[found[i]])
    local group = by_key[text]
    if not group then
      group = { group = text, list = {} }
      by_key[text] = group
      groups[#groups + 1] = group
    end
    group.list[#group.list + 1] = found[i]
  end
  for g = 1, #groups do
    local group = groups[g]
    group.open = not query.closed[group.group]
    group.totals = totals_of(query, values, group.list)
    items[#items + 1] = group
    for i = 1, group.open and #group.list or 0 do items[#items + 1] = group.list[i] end
  end
  return items
end

local function arrange(query, names, rows, n, used)
  local values, known = copy_values(rows, n, used), {}
  for i = 1, n do known[i] = rows[i] end
  local found = matching(query, names, values, n)
  if query.sort then sort_by(found, values[query.sort], query.descending) end
  local order = { n = n, rows = known, values = values, matching = #found, list = found }
  order.totals = totals_of(query, values, found)
  order.items = query.group and grouped(query, values, found) or found
  return order
end

-- The order for a query, the last one if nothing that decides it has changed; nil for the order of the list.
function orders.find(last, query, names, rows, n)
  local used = deciding(query, names)
  if not used then return nil end
  if last and last.query == query and unchanged(last, rows, n, used) then return last end
  local order = arrange(query, names, rows, n, used)
  order.query = query
  return order
end
