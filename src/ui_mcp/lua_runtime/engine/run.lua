-- `ui_run`: a chunk from the agent and the JSON of what it returns.
local E = ...
local OP, FAULT = E.wire.op, E.wire.fault
local env, limits, json = E.env, E.limits, E.json
local type, tostring, next, concat, sort, sub = type, tostring, next, table.concat, table.sort, string.sub
local pcall = pcall

local LIMIT = 20000

local function say(v)
  local ok, text = pcall(tostring, v)
  return ok and type(text) == "string" and text or "<" .. type(v) .. ">"
end

-- A bounded, readable print of a table that JSON cannot hold.
local function draw(v, out, open, depth)
  if out.size > LIMIT then return end
  local function put(text)
    out[#out + 1] = text
    out.size = out.size + #text
  end
  if type(v) ~= "table" then return put(type(v) == "string" and json.quote(v) or say(v)) end
  if open[v] then return put("<cycle>") end
  if depth > 20 then return put("…") end
  open[v] = true
  local keys = {}
  for k in next, v do keys[#keys + 1] = k end
  sort(keys, function(a, b) return say(a) < say(b) end)
  put("{")
  for i = 1, #keys do
    if out.size > LIMIT then break end
    put((i > 1 and ", " or "") .. say(keys[i]) .. " = ")
    draw(v[keys[i]], out, open, depth + 1)
  end
  put("}")
  open[v] = nil
end

local function describe(v)
  if type(v) ~= "table" then return say(v) end
  local out = { size = 0 }
  draw(v, out, {}, 0)
  return sub(concat(out), 1, LIMIT)
end

E.ops[OP.RUN] = function(code)
  code = type(code) == "string" and code or ""
  local f, problem = limits.load(code, "=mcp-run", "t", env)
  if not f then return "null", limits.new_fault(FAULT.LUA_SYNTAX, tostring(problem)) end
  local ok, value = limits.call(f)
  E.prototypes.settle()
  if not ok then return "null", value end
  return json.encode_strict(value) or json.encode({ ["non-json"] = describe(value) })
end
