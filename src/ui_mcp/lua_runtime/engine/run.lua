-- `ui_run`: runs a chunk from the agent and returns its value as JSON.
local E = ...
local OP, FAULT = E.wire.op, E.wire.fault
local env, limits, json = E.env, E.limits, E.json
local type, tostring, next, concat, sort, sub = type, tostring, next, table.concat, table.sort, string.sub
local pcall, pack, select, setmetatable = pcall, table.pack, select, setmetatable

local LIMIT = 20000

local function to_text(v)
  local ok, text = pcall(tostring, v)
  return ok and type(text) == "string" and text or "<" .. type(v) .. ">"
end

-- Print a table that JSON cannot represent, up to LIMIT bytes.
local function print_value(v, out, open, depth)
  if out.size > LIMIT then return end
  local function put(text)
    out[#out + 1] = text
    out.size = out.size + #text
  end
  if type(v) ~= "table" then return put(type(v) == "string" and json.quote(v) or to_text(v)) end
  if open[v] then return put("<cycle>") end
  if depth > 20 then return put("…") end
  open[v] = true
  local keys = {}
  for k in next, v do keys[#keys + 1] = k end
  sort(keys, function(a, b) return to_text(a) < to_text(b) end)
  put("{")
  for i = 1, #keys do
    if out.size > LIMIT then break end
    put((i > 1 and ", " or "") .. to_text(keys[i]) .. " = ")
    print_value(v[keys[i]], out, open, depth + 1)
  end
  put("}")
  open[v] = nil
end

local function describe(v)
  if type(v) ~= "table" then return to_text(v) end
  local out = { size = 0 }
  print_value(v, out, {}, 0)
  return sub(concat(out), 1, LIMIT)
end

E.ops[OP.RUN] = function(code)
  code = type(code) == "string" and code or ""
  local f, problem = limits.load(code, "=mcp-run", "t", env)
  if not f then return "null", limits.new_fault(FAULT.LUA_SYNTAX, tostring(problem)) end
  local ok, value = limits.call(f)
  E.prototypes.run_mutations()
  if not ok then return "null", value end
  return json.encode_strict(value) or json.encode({ ["non-json"] = describe(value) })
end

-- A value as a console shows it: JSON if possible, else printed.
local function shown(v)
  if type(v) == "string" then return json.quote(v) end
  if v == nil then return "nil" end
  return json.encode_strict(v) or describe(v)
end

local MAX_LINES = 500

E.ops[OP.CONSOLE] = function(code)
  code = type(code) == "string" and code or ""
  local printed, dropped = {}, 0
  local function print(...)
    local parts = { ... }
    for i = 1, select("#", ...) do parts[i] = to_text(parts[i]) end
    if #printed < MAX_LINES then printed[#printed + 1] = sub(concat(parts, "\t"), 1, LIMIT) else dropped = dropped + 1 end
  end
  -- Reads and writes go to the globals of all apps; only `print` is the console's own.
  local scope = setmetatable({ print = print }, { __index = env, __newindex = env })
  local f = limits.load("return " .. code, "=console", "t", scope)
  local is_expression, problem = f ~= nil, nil
  if not f then f, problem = limits.load(code, "=console", "t", scope) end
  local values, fault = {}, nil
  if f then
    local results = pack(limits.call(f))
    if results[1] and results.n == 2 and results[2] == nil and not is_expression then
      values = {}
    elseif results[1] then
      for i = 2, results.n do values[i - 1] = shown(results[i]) end
    else
      fault = results[2]
    end
    E.prototypes.run_mutations()
  else
    fault = limits.new_fault(FAULT.LUA_SYNTAX, tostring(problem))
  end
  if dropped > 0 then printed[#printed + 1] = "… " .. dropped .. " more lines" end
  local error = fault and { message = fault.message, traceback = fault.traceback } or nil
  return json.encode({ values = values, printed = printed, error = error })
end
