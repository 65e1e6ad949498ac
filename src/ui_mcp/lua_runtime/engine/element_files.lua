-- Files between a page and an app: those of `ui-upload` arrive in parts and are stored below storage/APP/uploads;
-- `session:download` offers one to the person.
local E, host = ...
local FAULT, PROPERTY = E.wire.fault, E.wire.property
local json, limits = E.json, E.limits
local type, tostring, tonumber, next, error = type, tostring, tonumber, next, error
local gsub, match, sub, find, insert = string.gsub, string.match, string.sub, string.find, table.insert
local concat, min, lower, gmatch = table.concat, math.min, string.lower, string.gmatch

local MOST_BYTES, MOST_SENT = 200 * 1024 * 1024, 20 * 1024 * 1024
local DEFAULT_SIZE, DEFAULT_FILES = "25 MB", 100
local UNITS = { b = 1, kb = 1024, mb = 1024 ^ 2, gb = 1024 ^ 3 }

local files = {}
E.data_kinds.files = files

-- `5 MB` in bytes; nil if it is no size.
local function bytes_of(text)
  local number, unit = match(lower(text), "^%s*([%d.]+)%s*([kmg]?b?)%s*$")
  return number and tonumber(number) and tonumber(number) * (UNITS[unit] or 1)
end

-- What the viewdef says of an upload; false is an attribute that is bound, which only the page knows.
local function limits_of(options)
  local size, count = options["max-size"], options["max-files"]
  if options.multiple == nil and count == nil then count = "1" end
  if size == nil or size and not bytes_of(size) then size = DEFAULT_SIZE end
  return {
    accept = options.accept or "",
    shown_size = size,
    size = size and min(MOST_BYTES, bytes_of(size)) or MOST_BYTES,
    files = count ~= false and (tonumber(count) or DEFAULT_FILES) or nil,
  }
end

function files.start(app, options)
  return { app = app or E.displayed or "app", open = {}, kept = {}, limits = limits_of(options or {}) }
end

local function accepts(accept, name, kind)
  name, kind = lower(name), lower(kind)
  for wanted in gmatch(lower(accept), "[^,%s]+") do
    local family = match(wanted, "^(.*/)%*$")
    if sub(wanted, 1, 1) == "." then
      if sub(name, -#wanted) == wanted then return true end
    elseif family and sub(kind, 1, #family) == family or kind == wanted then
      return true
    end
  end
  return not find(accept, "[^,%s]")
end

-- Why a file is not taken. The page says it sooner; this holds whatever a page does.
local function refusal(state, name, kind, size)
  local rules, present = state.limits, state.list and #state.list or 0
  for _ in next, state.open do present = present + 1 end
  if not accepts(rules.accept, name, kind) then return "This kind of file is not taken; " .. rules.accept .. " is." end
  if size > rules.size then return "The file is too large; the most is " .. (rules.shown_size or "200 MB") .. "." end
  if rules.files and present >= rules.files then return "At most " .. rules.files .. (rules.files == 1 and " file." or " files.") end
end

function files.read(state, v)
  state.list = type(v) == "table" and v or nil
  local out = {}
  for i = 1, state.list and #state.list or 0 do
    local file = state.list[i]
    if type(file) == "table" then
      state.kept[E.id_of(file)] = file
      out[#out + 1] = json.encode({ id = E.id_of(file), name = tostring(file.name or ""), size = tonumber(file.size) or 0 })
    end
  end
  return '{"files":[' .. concat(out, ",") .. "]}"
end

-- A name that is a file's own in any directory: no separators, no leading dot, not too long.
local function safe_name(name)
  name = gsub(gsub(tostring(name), "[%c/\\:*?\"<>|]", "_"), "^%.+", "_")
  local stem, ending = match(name, "^(.*)(%.%w+)$")
  stem, ending = stem or name, ending or ""
  stem = sub(stem, 1, 120)
  return stem ~= "" and stem or "file", sub(ending, 1, 20)
end

local function exists(path)
  local file = E.open_file(path, "r")
  if file then file:close() end
  return file ~= nil
end

local function free_path(folder, name)
  local stem, ending = safe_name(name)
  local path, at = folder .. stem .. ending, 1
  while exists(path) or exists(path .. ".part") do
    at = at + 1
    path = folder .. stem .. " (" .. at .. ")" .. ending
  end
  return path
end

local function answer(serial, fields)
  fields.serial = serial
  return '{"upload":' .. json.encode(fields) .. "}"
end

local function abandon(state, serial, problem)
  local upload = state.open[serial]
  state.open[serial] = nil
  if upload then host.remove(upload.path .. ".part") host.arm() end
  return answer(serial, { problem = problem })
end

local function begin(state, q, serial)
  local size = tonumber(q.size) or 0
  local problem = refusal(state, q.begin, tostring(q.type or ""), size)
  if problem then return answer(serial, { problem = problem }) end
  local folder = host.base_dir .. "/storage/" .. gsub(state.app, "[^%w_.-]", "_") .. "/uploads/"
  local upload = { path = free_path(folder, q.begin), name = tostring(q.begin), kind = tostring(q.type or ""), size = size, got = 0 }
  state.open[serial] = upload
  local made, why = E.open_file(upload.path .. ".part", "wb")
  if not made then return abandon(state, serial, "It could not be stored: " .. tostring(why)) end
  made:close()
  return answer(serial, { got = 0 })
end

local function finish(state, serial, upload)
  local done, why = host.rename(upload.path .. ".part", upload.path)
  host.arm()
  if not done then return abandon(state, serial, "It could not be stored: " .. tostring(why)) end
  state.open[serial] = nil
  local file = { name = upload.name, size = upload.got, kind = upload.kind, path = upload.path }
  if state.list then insert(state.list, file) end
  state.kept[E.id_of(file)] = file -- until the page has named it in an event
  return answer(serial, { got = upload.got, done = E.id_of(file) })
end

local function take(state, q, serial)
  local upload = state.open[serial]
  if not upload then return answer(serial, { problem = "The connection was lost; choose the file again." }) end
  local got, why = host.append(upload.path .. ".part", q.part)
  host.arm()
  if not got then return abandon(state, serial, "It could not be stored: " .. tostring(why)) end
  upload.got = upload.got + got
  if upload.got > min(MOST_BYTES, upload.size) then return abandon(state, serial, "The file is larger than it said.") end
  if q.last then return finish(state, serial, upload) end
  return answer(serial, { got = upload.got })
end

-- Forget a file of the list and remove it from the disk.
local function drop(state, id)
  local file = state.kept[id]
  for i = 1, state.list and #state.list or 0 do
    if state.list[i] == file then
      table.remove(state.list, i)
      if type(file.path) == "string" then host.remove(file.path) host.arm() end
      return
    end
  end
end

function files.ask(state, q)
  if type(q) ~= "table" or not state.open then return nil end
  local serial = tonumber(q.serial) or 0
  if type(q.begin) == "string" then return begin(state, q, serial) end
  if type(q.part) == "string" then return take(state, q, serial) end
  if q.cancel then return abandon(state, serial, "") end
  if q.remove then drop(state, tonumber(q.remove) or 0) end
end

local HEAD = E.message_head(E.wire.message.UPDATE)

local function offer(about)
  local page = E.acting
  if not page then error("a download is offered by an action, to the page that called it", 3) end
  local texts = page.out[2]
  texts[#texts + 1] = HEAD .. '"varId":1,"properties":{' .. json.quote(PROPERTY.DOWNLOAD) .. ":" .. json.quote(json.encode(about)) .. "}}}"
  return true
end

local function checked(name)
  if type(name) ~= "string" or name == "" then error("a download needs a name, such as \"report.csv\"", 3) end
  return (gsub(name, "[%c/\\]", "_"))
end

-- Offer a text as a file.
function E.env.session:download(name, text)
  name, text = checked(name), tostring(text)
  if #text > MOST_SENT then error("a text of more than 20 MB is written to storage/ and offered with downloadFile", 2) end
  return offer({ name = name, text = text })
end

-- Offer a file that the app may read; nil and the reason if it cannot be read.
function E.env.session:downloadFile(path, name)
  local data, why = host.base64(tostring(path), MOST_SENT)
  host.arm()
  if not data then return nil, why end
  return offer({ name = checked(name or match(tostring(path), "[^/\\]*$")), data = data })
end
