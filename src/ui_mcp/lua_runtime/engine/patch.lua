-- Changes the running state by records: undo, redo and the return to a past moment. Objects keep their identity.
local E, host = ...
local OP, FAULT = E.wire.op, E.wire.fault
local json, limits, state, prototypes, restoring = E.json, E.limits, E.state, E.prototypes, E.restoring
local rawset, setmetatable, getupvalue, setupvalue, type, next = rawset, debug.setmetatable, debug.getupvalue, debug.setupvalue, type, next
local nodes = E.state_values.nodes
local null, LENGTH, value, DOES_NOT_EXIST = json.null, json.LENGTH, restoring.value, restoring.DOES_NOT_EXIST

-- What the numbers stand for now: number → object, number → { function, index } of a cell.
local function numbered()
  local objects, cells = {}, {}
  for object, node in next, nodes do
    objects[node.n] = state.is_globals(object) and E.env or object
    for i = 1, type(object) == "function" and 255 or 0 do
      if getupvalue(object, i) == nil then break end
      local n = state.cell_number(object, i)
      if n then cells[n] = cells[n] or { object, i } end
    end
  end
  return objects, cells
end

local function set(run, r)
  local t, key, v = run.objects[r[2]], value(run, r[3]), value(run, r[4])
  if type(t) == "table" and key ~= nil and key ~= DOES_NOT_EXIST and v ~= DOES_NOT_EXIST then rawset(t, key, v) end
end

local function delete(run, r)
  local t, key = run.objects[r[2]], value(run, r[3])
  if type(t) == "table" and key ~= nil and key ~= DOES_NOT_EXIST then rawset(t, key, nil) end
end

local function set_meta(run, r)
  local t, meta = run.objects[r[2]], value(run, r[3])
  if type(t) ~= "table" or meta == DOES_NOT_EXIST then return end
  setmetatable(t, meta)
  if meta and prototypes.known_as(meta) then prototypes.adopt(t) end
end

local function set_cell(run, r)
  local cell = run.cells[r[2]]
  if not cell or r[LENGTH] < 3 then return end
  local v = value(run, r[3])
  if v ~= DOES_NOT_EXIST then setupvalue(cell[1], cell[2], v) end
end

-- ["w", handle] cancels a timer, a longer record starts it.
local function set_timer(run, r)
  if r[LENGTH] == 2 then return E.env.session:clearTimeout(r[2]) end
  local f = value(run, r[3])
  if type(f) ~= "function" then return end
  local again, due = r[4] ~= null and r[4] or nil, r[5] ~= null and r[5] or nil
  E.start_timer(r[2], { run = f, again = again, due = due })
end

local changes = { s = set, d = delete, m = set_meta, c = set_cell, w = set_timer }

-- New objects first, since the other records refer to them.
local function make_new(run, records)
  for i = 1, records[LENGTH] do
    local r = records[i]
    local kind = r[1]
    if kind == "t" or kind == "f" then
      local garbage = run.objects[r[2]] -- not collected yet; two objects must not have one number
      if garbage then nodes[garbage], run.objects[r[2]] = nil, nil end
      restoring.readers[kind](run, r)
    elseif kind == "c" and not run.cells[r[2]] then restoring.readers.c(run, r) end
  end
  restoring.make_missing(run)
  for n, wanted in next, run.nodes do
    if wanted.kind == "t" and run.objects[n] then restoring.fill(run, wanted, run.objects[n]) end
  end
  for n in next, run.nodes do
    if run.objects[n] then state.number(run.objects[n], n) end
  end
  for n, cell in next, run.cells do
    if run.nodes[n] then state.number_cell(cell[1], cell[2], n) end
  end
end

E.ops[OP.PATCH] = function(text)
  local records, wrong = json.parse(text)
  if not records then return "null", limits.new_fault(FAULT.INVALID, wrong) end
  limits.finish()
  local run = restoring.new_run()
  run.objects, run.cells = numbered()
  make_new(run, records)
  for i = 1, records[LENGTH] do
    local r = records[i]
    local change = changes[r[1]]
    if change then change(run, r) end
    if r[1] == "v" then
      E.displayed = r[2]
      host.emit(E.wire.output.DISPLAYED, r[2], 0)
    end
  end
  host.arm()
  limits.begin()
  return json.encode(#run.lost > 0 and run.lost or {})
end
