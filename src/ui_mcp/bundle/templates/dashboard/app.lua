-- {{title}}: figures and charts of what the agent or a timer records. It keeps the last hour.
{{type}} = session:prototype("{{type}}", { points = EMPTY, kinds = EMPTY, live = true })

local KEPT = 60

function {{type}}:new()
    local app = session:create({{type}}, { points = {}, kinds = {} })
    for at = 1, KEPT do app:record(at * 37 % 50 + 20, at % 3 == 0 and "north" or "south") end
    return app
end

-- Record one value; the oldest leaves, so that the app can stay open.
function {{type}}:record(value, kind)
    table.insert(self.points, { time = os.date("%H:%M:%S"), value = value, kind = kind or "other" })
    if #self.points > KEPT then table.remove(self.points, 1) end
end

function {{type}}:latest() return self.points[#self.points] and self.points[#self.points].value or "–" end

function {{type}}:mean()
    local sum = 0
    for _, point in ipairs(self.points) do sum = sum + point.value end
    return #self.points > 0 and math.floor(sum / #self.points * 10 + 0.5) / 10 or "–"
end

function {{type}}:byKind()
    local sums, found = {}, {}
    for _, point in ipairs(self.points) do
        if not sums[point.kind] then
            sums[point.kind] = { kind = point.kind, value = 0 }
            found[#found + 1] = sums[point.kind]
        end
        sums[point.kind].value = sums[point.kind].value + point.value
    end
    return found
end

function {{type}}:tick()
    if self.live then self:record(os.time() * 37 % 50 + 20, os.time() % 3 == 0 and "north" or "south") end
end

if not session.reloading then
    {{global}} = {{type}}:new()
    session:setInterval(function() {{global}}:tick() end, 2000)
end
