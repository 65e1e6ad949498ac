-- io and os for app code: log files behind the standard streams, everything else behind the permission policy.
local E, host = ...
local env, limits = E.env, E.limits
local io_open, io_type, io_lines = io.open, io.type, io.lines
local type, tostring, select, error, setmetatable = type, tostring, select, error, setmetatable
local unpack = table.unpack
local concat, find, sub, match = table.concat, string.find, string.sub, string.match
debug.getmetatable(io.stdout).__metatable = false -- a finalizer set there would run outside the time limit

-- Open a file by `how` if the policy permits it. Python returns a name that means the very file it checked, even if the
-- path is replaced meanwhile.
local function opened(how, path, mode, ...)
  local name, why, code = host.open(tostring(path), mode)
  host.arm()
  if not name then return nil, why, code end
  local file, reason, number = how(name, ...)
  host.release()
  return file, reason, number
end

local function joined(...)
  local parts = {}
  for i = 1, select("#", ...) do
    local v = select(i, ...)
    if type(v) ~= "string" and type(v) ~= "number" then
      error("bad argument #" .. i .. " to 'write' (string expected, got " .. type(v) .. ")", 3)
    end
    parts[i] = tostring(v)
  end
  return concat(parts)
end

-- A stream that writes to a log file.
local stream = {}
stream.__index = stream
stream.__name = "FILE*"
stream.__tostring = function(s) return "file (" .. s.which .. ")" end
function stream:write(...)
  host.log(self.which, joined(...))
  return self
end
function stream:close() return true end
function stream:flush() return self end
function stream:setvbuf() return true end
function stream:seek() return 0 end
function stream:read() return nil end
function stream:lines() return function() end end

-- The output of a finished process, readable like a file.
local output = {}
output.__index = output
output.__name = "FILE*"
local function line(s, keep)
  if s.at > #s.text then return nil end
  local stop = find(s.text, "\n", s.at, true) or #s.text + 1
  local found = sub(s.text, s.at, keep and stop or stop - 1)
  s.at = stop + 1
  return found
end
local function read_one(s, what)
  if type(what) == "number" then
    if s.at > #s.text and what > 0 then return nil end
    local found = sub(s.text, s.at, s.at + what - 1)
    s.at = s.at + #found
    return found
  end
  what = match(tostring(what), "^%*?(.)")
  if what == "a" then
    local found = sub(s.text, s.at)
    s.at = #s.text + 1
    return found
  end
  if what ~= "n" then return line(s, what == "L") end
  local stop, digits = select(2, find(s.text, "^%s*([-+]?%d*%.?%d*)", s.at))
  s.at = (stop or s.at - 1) + 1
  return env.tonumber(digits)
end
function output:read(...)
  if select("#", ...) == 0 then return line(self) end
  local found = {}
  for i = 1, select("#", ...) do found[i] = read_one(self, (select(i, ...))) end
  return unpack(found, 1, select("#", ...))
end
function output:lines() return function() return line(self) end end
function output:close() return self.status == 0 or nil, "exit", self.status end
function output:write() return nil, "not opened for writing" end
function output:flush() return self end
function output:setvbuf() return true end
function output:seek() return nil, "cannot seek in a process" end

local stdout, stderr = setmetatable({ which = "out" }, stream), setmetatable({ which = "err" }, stream)
local current_out, current_in = stdout, nil

local lib = { stdout = stdout, stderr = stderr, stdin = setmetatable({ which = "out" }, stream) }
env.io = lib

function lib.open(path, mode)
  mode = tostring(mode or "r")
  if not find(mode, "^[rwa]%+?b?$") then error("bad argument #2 to 'open' (invalid mode)", 2) end
  return opened(io_open, path, mode, mode)
end

E.open_file = lib.open -- as the engine found it; apps may replace theirs

function lib.type(f)
  local meta = type(f) == "table" and getmetatable(f)
  if meta == stream or meta == output then return "file" end
  return io_type(f)
end

function lib.write(...)
  current_out:write(...)
  return current_out
end

function lib.output(file)
  if file == nil then return current_out end
  if type(file) == "string" then
    local opened, why = lib.open(file, "w")
    if not opened then error(why, 2) end
    file = opened
  end
  current_out = file
  return file
end

function lib.input(file)
  if type(file) == "string" then
    local opened, why = lib.open(file, "r")
    if not opened then error(why, 2) end
    file = opened
  end
  current_in = file or current_in or lib.stdin
  return current_in
end

function lib.read(...) return lib.input():read(...) end
function lib.close(file) return (file or current_out):close() end

function lib.lines(path, ...)
  if path == nil then return lib.input():lines(...) end
  local lines, why = opened(io_lines, path, "r", ...)
  if not lines then error(why, 2) end
  return lines
end

function lib.tmpfile() return lib.open(env.os.tmpname(), "w+") end

function lib.popen(command, mode)
  if mode == "w" then return nil, "processes have no input here" end
  local text, status = host.shell(tostring(command))
  host.arm()
  if not text then return nil, status end
  return setmetatable({ text = text, at = 1, status = status }, output)
end

env.os = { clock = os.clock, date = os.date, difftime = os.difftime, time = os.time }

function env.os.getenv(name)
  local value = host.getenv(tostring(name))
  host.arm()
  return value
end

function env.os.remove(path)
  local done, why, code = host.remove(tostring(path))
  host.arm()
  return done, why, code
end

function env.os.rename(from, to)
  local done, why, code = host.rename(tostring(from), tostring(to))
  host.arm()
  return done, why, code
end

function env.os.tmpname()
  local name = host.tmpname()
  host.arm()
  if not name then error("no temporary file: storage/tmp is a link that leads out of storage/", 2) end
  return name
end

function env.os.execute(command)
  if command == nil then return host.may_execute and 1 or 0 end
  local text, status = host.shell(tostring(command))
  host.arm()
  if not text then return -1, status end
  return status
end

function env.os.exit() error("os.exit is not available: the session belongs to the server", 2) end
function env.os.setlocale() return "C" end

function env.print(...)
  local parts = {}
  for i = 1, select("#", ...) do
    local text = tostring((select(i, ...)))
    if type(text) ~= "string" then error("'tostring' must return a string to 'print'", 2) end
    parts[i] = text
  end
  host.log("out", concat(parts, "\t") .. "\n")
end

function env.loadfile(path, _, scope)
  local text, reason = host.load(tostring(path))
  host.arm()
  if not text then return nil, reason end
  return limits.load(text, "@" .. tostring(path), "t", scope or env)
end

function env.dofile(path)
  local f, why = env.loadfile(path)
  if not f then error(why, 0) end
  return f()
end
