-- The last lines of a log. It keeps 2,000 of them, so that it can stay open for days.

Logs = session:prototype("Logs", { level = "all", wanted = "", paused = false, lines = EMPTY, rates = EMPTY, written = 0, failed = 0 })

local KEPT, SECONDS = 2000, 60
local RANK = { debug = 1, info = 2, warn = 3, error = 4 }
local MESSAGES = {
    { "info", "api", "GET /orders 200 in %d ms" },
    { "debug", "cache", "hit rate %d %%" },
    { "info", "worker", "sent invoice %d" },
    { "warn", "db", "query took %d ms" },
    { "info", "api", "POST /orders 201 in %d ms" },
    { "error", "payments", "card declined for order %d" },
    { "debug", "gc", "freed %d KB" },
}

function Logs:new()
    local app = session:create(Logs, { lines = {}, rates = {} })
    for second = 1, SECONDS do
        app.rates[second] = { second = second - SECONDS, lines = 0, errors = 0 }
        for at = 1, 3 + second % 5 do app:simulate(app.written + at) end
    end
    return app
end

function Logs:write(level, source, text)
    self.written = self.written + 1
    local line = { at = os.date("%H:%M:%S"), level = RANK[level] and level or "info", source = tostring(source), text = tostring(text) }
    table.insert(self.lines, line)
    if #self.lines > KEPT then table.remove(self.lines, 1) end
    local now = self.rates[#self.rates]
    now.lines = now.lines + 1
    if line.level == "error" then
        self.failed = self.failed + 1
        now.errors = now.errors + 1
    end
end

function Logs:simulate(at)
    local pick = MESSAGES[at % 11 == 0 and 6 or at % 7 == 0 and 4 or 1 + at * 5 % 3]
    self:write(pick[1], pick[2], string.format(pick[3], at * 37 % 900 + 12))
end

-- A second has passed: the rates move on by one.
function Logs:tick()
    if self.paused then return end
    table.remove(self.rates, 1)
    for at, rate in ipairs(self.rates) do rate.second = at - SECONDS end
    self.rates[SECONDS] = { second = 0, lines = 0, errors = 0 }
    for at = 1, 3 + os.time() % 5 do self:simulate(self.written + at) end
end

function Logs:shown()
    local found, least, wanted = {}, RANK[self.level] or 0, self.wanted:lower()
    for _, line in ipairs(self.lines) do
        local fits = RANK[line.level] >= least
        if fits and (wanted == "" or (line.source .. " " .. line.text):lower():find(wanted, 1, true)) then found[#found + 1] = line end
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

if not session.reloading then
    logs = Logs:new()
    session:setInterval(function() logs:tick() end, 1000)
end
