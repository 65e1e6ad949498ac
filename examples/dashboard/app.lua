-- A shop's day in figures. The numbers are made up by a small random walk; the charts are SVG paths written here.

Dashboard = session:prototype("Dashboard", {
    period = "day",
    live = true,
    orders = 0,
    revenue = 0,
    visitors = 0,
})
Product = session:prototype("Dashboard.Product", { name = "", sold = 0 })
Sale = session:prototype("Dashboard.Sale", { customer = "", product = "", amount = 0, at = "" })

local WIDTH, HEIGHT = 640, 200
local POINTS = { day = 24, week = 28, month = 30 }
local PRODUCTS = { "Oak desk", "Desk lamp", "Ergo chair", "Wool rug", "Bookshelf" }
local PRICES = { 389, 64, 245, 159, 210 }
local NAMES = { "Ada", "Grace", "Alan", "Edsger", "Barbara", "Linus", "Margaret", "Donald", "Radia", "Tim" }

local seed = 7
local function random(limit)
    seed = (seed * 16807) % 2147483647
    return seed % limit
end

function Dashboard:new()
    local board = session:create(Dashboard, { series = {}, products = {}, sales = {} })
    for at, name in ipairs(PRODUCTS) do
        board.products[at] = session:create(Product, { name = name, sold = 12 + random(30) })
    end
    for name, count in pairs(POINTS) do
        local walk, level = {}, 55
        for at = 1, count do
            level = math.max(12, math.min(96, level + random(23) - 11))
            walk[at] = level
        end
        board.series[name] = walk
    end
    board.revenue, board.orders, board.visitors = 18240, 143, 2911
    for _ = 1, 5 do board:sell() end
    return board
end

-- One more order: figures, the newest point of the chart, the best sellers and the list of sales follow.
function Dashboard:sell()
    local at = 1 + random(#PRODUCTS)
    local product, price = self.products[at], PRICES[at]
    product.sold = product.sold + 1
    self.orders = self.orders + 1
    self.visitors = self.visitors + 3 + random(9)
    self.revenue = self.revenue + price
    local clock = os.date("%H:%M:%S")
    table.insert(self.sales, 1, session:create(Sale, { customer = NAMES[1 + random(#NAMES)], product = product.name, amount = price, at = clock }))
    self.sales[7] = nil
    local points = self:points()
    points[#points] = math.max(8, math.min(98, points[#points] + random(15) - 6))
end

function Dashboard:tick()
    if self.live then self:sell() end
end

function Dashboard:bestSellers()
    local ranked = {}
    for at, product in ipairs(self.products) do ranked[at] = product end
    table.sort(ranked, function(one, other)
        if one.sold ~= other.sold then return one.sold > other.sold end
        return one.name < other.name
    end)
    return ranked
end

function Dashboard:showDay() self.period = "day" end
function Dashboard:showWeek() self.period = "week" end
function Dashboard:showMonth() self.period = "month" end

local function look(chosen) return chosen and "primary" or "default" end
function Dashboard:dayLook() return look(self.period == "day") end
function Dashboard:weekLook() return look(self.period == "week") end
function Dashboard:monthLook() return look(self.period == "month") end

function Dashboard:points()
    return self.series[self.period]
end

-- Digits in groups of three.
local function grouped(number)
    local text = tostring(math.floor(number))
    while true do
        local done, count = text:gsub("^(%d+)(%d%d%d)", "%1,%2")
        text = done
        if count == 0 then return text end
    end
end

function Dashboard:revenueText() return "€ " .. grouped(self.revenue) end
function Dashboard:ordersText() return grouped(self.orders) end
function Dashboard:visitorsText() return grouped(self.visitors) end
function Dashboard:conversion() return self.orders / self.visitors * 100 end
function Dashboard:conversionText() return string.format("%.1f %%", self:conversion()) end

local function place(points, at)
    return (at - 1) / (#points - 1) * WIDTH, HEIGHT - points[at] / 100 * HEIGHT
end

-- The curve as an SVG path, with soft bends between the points.
function Dashboard:linePath()
    local points, parts = self:points(), {}
    for at = 1, #points do
        local x, y = place(points, at)
        if at == 1 then
            parts[at] = string.format("M%.1f %.1f", x, y)
        else
            local px, py = place(points, at - 1)
            local middle = (px + x) / 2
            parts[at] = string.format("C%.1f %.1f %.1f %.1f %.1f %.1f", middle, py, middle, y, x, y)
        end
    end
    return table.concat(parts, " ")
end

function Dashboard:areaPath()
    return self:linePath() .. string.format(" L%d %d L0 %d Z", WIDTH, HEIGHT, HEIGHT)
end

-- Share of visitors who buy, as a piece of the ring; the ring is 100 long.
function Dashboard:ring()
    return string.format("%.1f 100", math.min(100, self:conversion() * 10))
end

function Product:share()
    local most = 1
    for _, product in ipairs(dashboard.products) do most = math.max(most, product.sold) end
    return string.format("%.0f%%", self.sold / most * 100)
end

function Sale:price() return "€ " .. grouped(self.amount) end

if not session.reloading then
    dashboard = Dashboard:new()
    session:setInterval(function() dashboard:tick() end, 1500)
end
