-- Change detection over views: one walk from the root, parents first. A binding that raises does not affect others.
local E, host = ...
local FAULT = E.wire.fault
local views, limits, paths = E.views, E.limits, E.paths
local getinfo, getlocal, rawequal, next, tonumber = debug.getinfo, debug.getlocal, rawequal, next, tonumber
local tostring, remove = tostring, table.remove
local record = E.view_record
local SHAPE, OBJECT, UNSENT, RARE = record.SHAPE, record.OBJECT, record.UNSENT, record.RARE

local MAX_EXPIRIES, MAX_PASSES, MAX_DIAGS = 3, 4, 20
local queue, cursor, tail, expiries = {}, 0, 0, 0
local timing, running = false, nil
local next_row, failed_row = nil, nil
local computing, computing_pos = nil, nil
local read_each

local function enqueue_one(s)
  if s then
    tail = tail + 1
    queue[tail] = s
  end
end

-- A list is queued as a whole if its rows have no nested views, so that one loop can read them.
local function enqueue_rows(rows)
  local first = rows[rows.from]
  if first and first[SHAPE].leaf and not timing then
    tail = tail + 1
    queue[tail] = rows
    return
  end
  for i = rows.from, rows.to do enqueue_one(rows[i]) end
end

local function enqueue(s, kids)
  for j = 1, #kids do
    local b = kids[j]
    local below = s[b.slot + 1]
    if below and b.kind == "view" then enqueue_one(below)
    elseif below then enqueue_rows(below) end
  end
end

local function walk_rows(rows, level)
  if level ~= 2 then return end
  local shape = rows[rows.from][SHAPE]
  running = shape.level2
  running.rows(rows, next_row or rows.from, rows.to, shape, enqueue_one)
  next_row = nil
end

local function walk_view(s, level, name)
  local shape = s[SHAPE]
  running = shape[name]
  if level == 2 and s[UNSENT] and shape.level1 then read_each(s, 1, 0) end
  if running then
    local rare = s[RARE]
    if timing or (rare and (rare.errors or rare.timed_out)) then read_each(s, level, 0) else running.run(s, s[OBJECT]) end
  end
  local kids = shape.kids
  if kids then enqueue(s, kids) end
end

-- Read all views from the cursor on. An error ends the walk; `level_pass` resumes it.
local function walk(level)
  local name = "level" .. level
  while cursor < tail do
    cursor = cursor + 1
    local s = queue[cursor]
    if s.elements then walk_rows(s, level) else walk_view(s, level, name) end
  end
end

local function row_at(up)
  for slot = 1, 20 do
    local name, value = getlocal(up + 1, slot)
    if name == "i" then return value end
    if name == nil then return nil end
  end
end

-- The position of the binding that was being read when the error occurred; in a list also sets `failed_row`.
local function position()
  failed_row = nil
  for up = 3, 200 do
    local info = getinfo(up, "fl")
    if not info or not running then return nil end
    if info.func == running.run then return running.lines[info.currentline] end
    if info.func == running.rows then
      failed_row = row_at(up)
      return running.lines[info.currentline]
    end
  end
end

local function note_failure(s, pos, fault)
  if fault.code == FAULT.TIMEOUT then
    local x = views.rare(s)
    x.timed_out = x.timed_out or {}
    x.timed_out[pos] = true
    expiries = expiries + 1
    limits.begin()
  end
  views.fail(s, pos, fault)
end

local function dispatch(s, b)
  local o = b.path.ups == 0 and s[OBJECT] or nil
  if b.path.ups > 0 then o = views.up(s, b.path.ups) end
  local v = paths.reader(b.path)(o, s[OBJECT])
  if b.kind == "viewlist" then views.listed(s, b.pos, v)
  elseif b.kind == "view" and b.inline then views.branched(s, b.pos, v)
  elseif b.kind == "view" and b.wrapper then views.wrapped(s, b.pos, v)
  elseif b.data then views.data(s, b.pos, v)
  elseif b.kind == "view" then
    if not rawequal(v, s[b.slot]) then views.viewed(s, b.pos, v) end
  elseif v ~= s[b.slot] then views.changed(s, b.pos, v) end
end

local function read_timed(s, b)
  local x = views.rare(s)
  x.times = x.times or {}
  local from = host.clock()
  local ok, fault = limits.call(dispatch, s, b)
  local took = host.clock() - from
  local old = x.times[b.pos]
  x.times[b.pos] = { last = took, max = old and old.max > took and old.max or took }
  return ok, fault
end

-- Read the bindings of a view one by one, each in a protected call.
function read_each(s, level, from)
  for pos = from, s[SHAPE].count - 1 do
    local b = s[SHAPE][pos]
    local timed_out = s[RARE] and s[RARE].timed_out and s[RARE].timed_out[pos]
    if b.reads and b.level == level and not timed_out and expiries <= MAX_EXPIRIES then
      computing, computing_pos = s, pos
      local ok, fault
      if timing then ok, fault = read_timed(s, b) else ok, fault = limits.call(dispatch, s, b) end
      computing = nil
      if ok then views.clear_error(s, pos) else note_failure(s, pos, fault) end
    end
  end
end

-- Record the failure and read the rest of that view; a list is resumed at the next row.
local function resume_after(fault, level)
  local s = queue[cursor]
  if s.elements then
    next_row = failed_row + 1
    s, cursor = s[failed_row], cursor - 1
  end
  note_failure(s, fault.at, fault)
  read_each(s, level, fault.at + 1)
  local kids = s[SHAPE].kids
  if kids then enqueue(s, kids) end
end

-- Read all views of a level, resuming after each error.
local function level_pass(page, level)
  if not page.root_view then return end
  queue[1], cursor, tail, next_row = page.root_view, 0, 1, nil
  while cursor < tail and expiries <= MAX_EXPIRIES do
    local ok, fault = limits.call_found(walk, position, level)
    if not ok then
      if fault.code == FAULT.MEMORY or not fault.at then
        E.report("change detection", fault)
        break
      end
      resume_after(fault, level)
    end
  end
  if expiries > MAX_EXPIRIES then E.log_error("change detection", "dropped: too many bindings ran out of time") end
  for i = 1, tail do queue[i] = nil end
end

-- diag(level, text): keeps a diagnostic text with the variable that is being computed.
function E.env.diag(level, text)
  if (tonumber(level) or 0) > host.verbosity then return end
  local s, pos = computing, computing_pos
  if not s then
    s, pos = queue[cursor], position()
    if s and s.elements then s = failed_row and s[failed_row] end
  end
  if not s or not pos then return end
  local x = views.rare(s)
  x.diags = x.diags or {}
  local list = x.diags[pos] or {}
  x.diags[pos] = list
  if #list >= MAX_DIAGS then remove(list, 1) end
  list[#list + 1] = tostring(text)
end

-- Detect changes in order of priority, and again while lists change their items.
function E.scan_views(page)
  timing, expiries = E.context.timing, 0
  for _ = 1, MAX_PASSES do
    E.items_changed = false
    if page.expand then views.root(E.root) end
    if page.has_high then level_pass(page, 1) end
    level_pass(page, 2)
    if page.has_low then level_pass(page, 3) end
    if not E.items_changed or expiries > MAX_EXPIRIES then break end
  end
end

-- Read bindings that timed out again.
function E.retry_timed_out()
  for _, page in next, E.connections do
    for _, s in next, page.views do
      if s[RARE] then s[RARE].timed_out = nil end
    end
    for _, var in next, page.vars do var.timed_out = nil end
  end
end
