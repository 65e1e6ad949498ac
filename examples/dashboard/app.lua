-- A shop's figures by the hour, day or month. Orders are made up; windows of fixed length roll on, so they never run away.

Dashboard = session:prototype("Dashboard", { period = "day", live = true, series = EMPTY, sales = EMPTY, sold = EMPTY, ticks = 0 })

local LENGTHS = { day = 24, week = 7, month = 30 }
local SCALES = { day = 1, week = 24, month = 24 }
local PRODUCTS = { { "Oak desk", 389 }, { "Desk lamp", 64 }, { "Ergo chair", 245 }, { "Wool rug", 159 }, { "Bookshelf", 210 } }
local NAMES = { "Ada", "Grace", "Alan", "Edsger", "Barbara", "Linus", "Margaret", "Donald", "Radia", "Tim" }
local SHOWN, RECENT, TICKS = 8, 200, 20

local seed = 7
local function random(limit)
    seed = (seed * 16807) % 2147483647
    return seed % limit
end

local function point(period)
    local orders = (14 + random(9)) * SCALES[period]
    return { orders = orders, revenue = orders * (180 + random(60)), visitors = orders * (14 + random(6)) }
end

function Dashboard:new()
    local board = session:create(Dashboard, { series = {}, sales = {}, sold = {} })
    for period, length in pairs(LENGTHS) do
        board.series[period] = {}
        for at = 1, length do board.series[period][at] = point(period) end
    end
    for at = 1, RECENT do board.sold[at] = PRODUCTS[1 + random(#PRODUCTS)][1] end
    for period in pairs(LENGTHS) do board:roll(period) end
    for _ = 1, SHOWN do board:sell() end
    return board
end

-- One more order: the newest point of every period, the last sales and the best sellers follow.
function Dashboard:sell()
    local product = PRODUCTS[1 + random(#PRODUCTS)]
    for _, points in pairs(self.series) do
        local last = points[#points]
        last.orders, last.revenue, last.visitors = last.orders + 1, last.revenue + product[2], last.visitors + 12 + random(9)
    end
    table.insert(self.sales, 1, { at = os.date("%H:%M:%S"), customer = NAMES[1 + random(#NAMES)], product = product[1], amount = product[2] })
    self.sales[SHOWN + 1] = nil
    table.insert(self.sold, 1, product[1])
    self.sold[RECENT + 1] = nil
end

-- An hour or a day is over: the oldest leaves its window, and a new one begins with nothing.
function Dashboard:roll(period)
    table.remove(self.series[period], 1)
    table.insert(self.series[period], { orders = 0, revenue = 0, visitors = 0 })
end

function Dashboard:tick()
    if not self.live then return end
    self.ticks = self.ticks + 1
    for period, hours in pairs(SCALES) do
        if self.ticks % (TICKS * hours) == 0 then self:roll(period) end
    end
    self:sell()
end

function Dashboard:show(period) self.period = period end
function Dashboard:look(period) return self.period == period and "primary" or "default" end

-- The points of the chosen period with their places on the axis. The last is the hour or day up to now, so the curve never begins at nothing.
function Dashboard:points()
    local found, points = {}, self.series[self.period]
    local length = TICKS * SCALES[self.period]
    local before = 1 - self.ticks % length / length
    for at, one in ipairs(points) do
        local ago = #points - at
        local rest = ago == 0 and points[at - 1].revenue * before or 0
        found[at] = { time = ago == 0 and "now" or "−" .. ago .. (self.period == "day" and " h" or " d"), revenue = math.floor(one.revenue + rest) }
    end
    return found
end

local function sum(points, name, from, to)
    local total = 0
    for at = from, to do total = total + points[at][name] end
    return total
end

-- Digits in groups of three.
local function grouped(number)
    local text, count = tostring(math.floor(number)), 1
    while count > 0 do text, count = text:gsub("^(%d+)(%d%d%d)", "%1,%2") end
    return text
end

-- The figures of the period, each with its change from the first half to the second.
function Dashboard:figures()
    local points = self.series[self.period]
    local length, half = #points, math.floor(#points / 2)
    local function figure(name, label, before)
        local early, late = sum(points, name, 1, half), sum(points, name, length - half + 1, length)
        local change = (late - early) / early * 100
        return { label = label, text = before .. grouped(sum(points, name, 1, length)), change = string.format("%+.1f %% in the second half", change) }
    end
    local orders, visitors = sum(points, "orders", 1, length), sum(points, "visitors", 1, length)
    local bought = { label = "Visitors who buy", text = string.format("%.1f %%", orders / visitors * 100), change = "of " .. grouped(visitors) .. " visitors" }
    return { figure("revenue", "Revenue", "€ "), figure("orders", "Orders", ""), figure("visitors", "Visitors", ""), bought }
end

function Dashboard:bestSellers()
    local counts, ranked = {}, {}
    for _, name in ipairs(self.sold) do counts[name] = (counts[name] or 0) + 1 end
    for _, product in ipairs(PRODUCTS) do ranked[#ranked + 1] = { product = product[1], sold = counts[product[1]] or 0 } end
    table.sort(ranked, function(one, other)
        if one.sold ~= other.sold then return one.sold > other.sold end
        return one.product < other.product
    end)
    return ranked
end

if not session.reloading then
    dashboard = Dashboard:new()
    session:setInterval(function() dashboard:tick() end, 1500)
end
