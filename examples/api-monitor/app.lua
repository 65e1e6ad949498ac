-- Calls of APIs over a rolling window: the last five minutes in steps of ten seconds, and the last 500 calls.

ApiMonitor = session:prototype("ApiMonitor", { service = "all", live = true, real = false, calls = EMPTY, steps = EMPTY, clock = 0 })

local KEPT, STEPS, SECONDS = 500, 30, 10
local SERVICES = { { "shop", "listOrders", 60 }, { "shop", "createOrder", 140 }, { "github", "listIssues", 210 }, { "stripe", "refund", 320 } }

function ApiMonitor:new()
    local app = session:create(ApiMonitor, { calls = {}, steps = {} })
    for at = 1, STEPS do
        app:step()
        for call = 1, at < STEPS and SECONDS or 0 do app:simulate(at * 7 + call, (STEPS - at) * SECONDS - call) end
    end
    return app
end

-- Begin a step of the window; the oldest leaves.
function ApiMonitor:step()
    table.insert(self.steps, { sums = {}, counts = {}, errors = 0, all = 0 })
    if #self.steps > STEPS then table.remove(self.steps, 1) end
end

function ApiMonitor:record(call)
    if type(call) ~= "table" or not tonumber(call.ms) then return end
    local row = {
        at = os.date("%H:%M:%S", os.time() - (call.ago or 0)), service = tostring(call.service or "?"), operation = tostring(call.operation or "?"),
        status = tonumber(call.status) or 0, ms = math.floor(tonumber(call.ms)),
    }
    table.insert(self.calls, 1, row)
    self.calls[KEPT + 1] = nil
    local now = self.steps[#self.steps]
    now.sums[row.service], now.counts[row.service] = (now.sums[row.service] or 0) + row.ms, (now.counts[row.service] or 0) + 1
    now.all = now.all + 1
    if row.status >= 400 or row.status == 0 then now.errors = now.errors + 1 end
end

function ApiMonitor:simulate(seed, ago)
    local pick = SERVICES[1 + seed % #SERVICES]
    local slow = seed % 23 == 0
    self:record({ ago = ago, service = pick[1], operation = pick[2], ms = pick[3] * (slow and 4 or 0.7 + seed * 31 % 60 / 100), status = slow and 503 or seed % 17 == 0 and 404 or 200 })
end

function ApiMonitor:tick()
    self.clock = self.clock + 1
    if self.clock % SECONDS == 0 then self:step() end
    if self.live and not self.real then self:simulate(os.time() % 1000 + self.clock) end
end

function ApiMonitor:published(call)
    if not self.real then
        self.real, self.calls, self.steps = true, {}, {}
        self:step()
    end
    self:record(call)
end

-- The mean latency of each service, step by step.
function ApiMonitor:latency()
    local points = {}
    for at, step in ipairs(self.steps) do
        points[at] = { time = "−" .. (#self.steps - at) * SECONDS .. " s" }
        for service, sum in pairs(step.sums) do points[at][service] = math.floor(sum / step.counts[service]) end
    end
    return points
end

function ApiMonitor:errors()
    local points = {}
    for at, step in ipairs(self.steps) do points[at] = { time = "−" .. (#self.steps - at) * SECONDS .. " s", calls = step.all - step.errors, errors = step.errors } end
    return points
end

local function totals(steps)
    local all, errors, sum = 0, 0, 0
    for _, step in ipairs(steps) do
        all, errors = all + step.all, errors + step.errors
        for _, part in pairs(step.sums) do sum = sum + part end
    end
    return all, errors, sum
end

function ApiMonitor:callCount() return (totals(self.steps)) end
function ApiMonitor:errorRate()
    local all, errors = totals(self.steps)
    return all == 0 and "–" or string.format("%.1f %%", errors / all * 100)
end
function ApiMonitor:meanLatency()
    local all, _, sum = totals(self.steps)
    return all == 0 and "–" or math.floor(sum / all) .. " ms"
end
function ApiMonitor:source() return self.real and "calls that were published" or "a simulation, until calls are published" end

function ApiMonitor:shown()
    if self.service == "all" then return self.calls end
    local found = {}
    for _, call in ipairs(self.calls) do if call.service == self.service then found[#found + 1] = call end end
    return found
end

function ApiMonitor:services()
    local seen, found = {}, { { value = "all" } }
    for _, call in ipairs(self.calls) do
        if not seen[call.service] then
            seen[call.service] = true
            found[#found + 1] = { value = call.service }
        end
    end
    table.sort(found, function(a, b) return a.value < b.value end)
    return found
end

if not session.reloading then
    apiMonitor = ApiMonitor:new()
    session:setInterval(function() apiMonitor:tick() end, 1000)
end
