-- The last lines of a log, and a terminal for its service. It keeps 2,000 lines, so that it can stay open for days.

Logs = session:prototype("Logs", { level = "all", paused = false, lines = EMPTY, rates = EMPTY, written = 0, failed = 0 })

local KEPT, SECONDS = 2000, 60
local RANK = { debug = 1, info = 2, warn = 3, error = 4 }
local COLORS = { debug = "2", info = "36", warn = "33", error = "1;31" }
local MESSAGES = {
    { "info", "api", "GET /orders 200 in %d ms" },
    { "debug", "cache", "hit rate %d %%" },
    { "info", "worker", "sent invoice %d" },
    { "warn", "db", "query took %d ms" },
    { "info", "api", "POST /orders 201 in %d ms" },
    { "error", "payments", "card declined for order %d" },
    { "debug", "gc", "freed %d KB" },
}

-- How many lines a second has: some are busier.
local function many(second)
    local at = second % 60
    return 3 + (at * at * 5 + at * 3) % 7 % 5
end

function Logs:new()
    local app = session:create(Logs, { lines = {}, rates = {} })
    for second = 1, SECONDS do
        app.rates[second] = { second = second - SECONDS, lines = 0, errors = 0 }
        for at = 1, many(second) do app:simulate(app.written + at, SECONDS - second) end
    end
    return app
end

function Logs:write(level, source, text, ago)
    self.written = self.written + 1
    local line = { level = RANK[level] and level or "info" }
    local mark, at = "\27[" .. COLORS[line.level] .. "m", os.date("%H:%M:%S", os.time() - (ago or 0))
    line.text = string.format("\27[2m%s\27[0m  %s%-5s\27[0m  \27[2m%-8s\27[0m  %s%s\27[0m", at, mark, line.level, tostring(source), RANK[line.level] > 2 and mark or "", tostring(text))
    table.insert(self.lines, line)
    if #self.lines > KEPT then table.remove(self.lines, 1) end
    local now = self.rates[#self.rates]
    now.lines = now.lines + 1
    if line.level == "error" then
        self.failed = self.failed + 1
        now.errors = now.errors + 1
    end
end

function Logs:simulate(at, ago)
    local pick = MESSAGES[at % 11 == 0 and 6 or at % 7 == 0 and 4 or 1 + at * 5 % 3]
    self:write(pick[1], pick[2], string.format(pick[3], at * 37 % 900 + 12), ago)
end

-- A second has passed: the rates move on by one.
function Logs:tick()
    if self.paused then return end
    table.remove(self.rates, 1)
    for at, rate in ipairs(self.rates) do rate.second = at - SECONDS end
    self.rates[SECONDS] = { second = 0, lines = 0, errors = 0 }
    for at = 1, many(os.time()) do self:simulate(self.written + at) end
end

function Logs:shown()
    local found, least = {}, RANK[self.level] or 0
    for _, line in ipairs(self.lines) do
        if not line.level or RANK[line.level] >= least then found[#found + 1] = line.text end
    end
    return found
end

function Logs:count()
    return #self:shown() .. " of " .. #self.lines .. " lines"
end

function Logs:toggle() self.paused = not self.paused end
function Logs:pauseLabel() return self.paused and "Resume" or "Pause" end

function Logs:clear()
    self.lines = {}
end

-- What the terminal understands; its answers have no level and are always shown.
local COMMANDS = {
    help = function() return "help, pause, resume, clear, fail TEXT, stats" end,
    pause = function(self) self.paused = true return "paused" end,
    resume = function(self) self.paused = false return "running" end,
    clear = function(self) self:clear() end,
    fail = function(self, text) self:write("error", "you", text ~= "" and text or "something failed") end,
    stats = function(self) return self.written .. " lines written, " .. self.failed .. " errors" end,
}

function Logs:run(command)
    local name, rest = command:match("^%s*(%S*)%s*(.*)$")
    table.insert(self.lines, { text = "\27[1m❯ " .. command .. "\27[0m" })
    local known = COMMANDS[name]
    local answer = not known and "no command " .. name .. "; try help" or known and known(self, rest)
    if answer then table.insert(self.lines, { text = answer }) end
end

if not session.reloading then
    logs = Logs:new()
    session:setInterval(function() logs:tick() end, 1000)
end
