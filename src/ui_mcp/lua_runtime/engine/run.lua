-- `ui_run`: runs a chunk from the agent and returns its value as JSON.
local E = ...
local OP, FAULT = E.wire.op, E.wire.fault
local env, limits, json = E.env, E.limits, E.json
local type, tostring, next, concat, sort, sub = type, tostring, next, table.concat, table.sort, string.sub
local pcall = pcall

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
