-- A CSV text as a table with statistics and a chart. Everything is computed from `rows` when it is shown.

CsvExplorer = session:prototype("CsvExplorer", {
    pasted = "", problem = "", files = EMPTY, by = "", number = "", chart = "bar", rows = EMPTY, names = EMPTY, numeric = EMPTY,
})

local SAMPLE = [[
city,country,continent,population,area,founded
Tokyo,Japan,Asia,37.1,2194,1457
Delhi,India,Asia,33.8,1484,1052
Shanghai,China,Asia,29.9,6341,1291
Dhaka,Bangladesh,Asia,23.9,306,1608
São Paulo,Brazil,South America,22.8,1521,1554
Mexico City,Mexico,North America,22.5,1485,1325
Cairo,Egypt,Africa,22.6,3085,969
Lagos,Nigeria,Africa,16.5,1171,1600
Istanbul,Turkey,Europe,16.0,5343,-660
Buenos Aires,Argentina,South America,15.6,203,1536
Kinshasa,DR Congo,Africa,17.0,9965,1881
Paris,France,Europe,11.3,105,-250
London,United Kingdom,Europe,9.7,1572,47
New York,United States,North America,7.9,778,1624
Bogotá,Colombia,South America,11.5,1775,1538
Lima,Peru,South America,11.4,2672,1535
Luanda,Angola,Africa,9.3,113,1576
Berlin,Germany,Europe,3.6,892,1237
Madrid,Spain,Europe,6.8,604,865
Toronto,Canada,North America,6.4,630,1793
]]

-- One line of CSV as a list; quotes may hold commas, and a doubled quote is a quote.
local function cells(line)
    local found, at = {}, 1
    while at <= #line + 1 do
        local quoted, after
        if line:sub(at, at) == '"' then
            local text, from = "", at + 1
            while true do
                local stop = line:find('"', from, true)
                if not stop then text, after = text .. line:sub(from), #line + 1 break end
                text = text .. line:sub(from, stop - 1)
                if line:sub(stop + 1, stop + 1) ~= '"' then after = stop + 1 break end
                text, from = text .. '"', stop + 2
            end
            quoted = text
        end
        local stop = line:find(",", after or at, true) or #line + 1
        found[#found + 1] = quoted or line:sub(at, stop - 1)
        at = stop + 1
    end
    return found
end

function CsvExplorer:new()
    local app = session:create(CsvExplorer, { rows = {}, names = {}, numeric = {}, files = {} })
    app:load(SAMPLE)
    return app
end

-- Take a text with a heading; whole columns of numbers become numbers.
function CsvExplorer:load(text)
    local lines = {}
    for line in (text .. "\n"):gmatch("([^\r\n]*)\r?\n") do
        if line:match("%S") then lines[#lines + 1] = cells(line) end
    end
    if #lines < 2 then
        self.problem = "A table needs a heading and at least one row, with commas between the cells."
        return
    end
    local names, rows, numeric = lines[1], {}, {}
    for at, name in ipairs(names) do
        numeric[at] = true
        for row = 2, #lines do
            local cell = lines[row][at] or ""
            if cell ~= "" and not tonumber(cell) then numeric[at] = false end
        end
        names[at] = name ~= "" and name or "column " .. at
    end
    for row = 2, #lines do
        local made = {}
        for at, name in ipairs(names) do
            local cell = lines[row][at]
            made[name] = numeric[at] and tonumber(cell) or cell
        end
        rows[row - 1] = made
    end
    self.rows, self.names, self.numeric, self.problem = rows, names, {}, ""
    for at, name in ipairs(names) do
        if numeric[at] then table.insert(self.numeric, name) end
    end
    self.by, self.number = names[math.min(3, #names)], self.numeric[1] or ""
end

function CsvExplorer:import()
    self:load(self.pasted)
    if self.problem == "" then self.pasted = "" end
end

function CsvExplorer:arrived(file)
    self:load(io.open(file.path):read("*a"))
end

function CsvExplorer:choices()
    local found = { { value = "", label = "number of rows" } }
    for _, name in ipairs(self.numeric) do found[#found + 1] = { value = name, label = name } end
    return found
end

function CsvExplorer:table()
    return { rows = self.rows, columns = self.names }
end

function CsvExplorer:summary()
    return #self.rows .. " rows, " .. #self.names .. " columns, " .. #self.numeric .. " of them numbers"
end

local function round(number) return math.floor(number * 100 + 0.5) / 100 end

-- What each column holds: range and mean of numbers, the number of different texts.
function CsvExplorer:columns()
    local found = {}
    for at, name in ipairs(self.names) do
        local seen, different, least, most, sum, count = {}, 0, nil, nil, 0, 0
        for _, row in ipairs(self.rows) do
            local value = row[name]
            if value ~= nil and not seen[value] then seen[value], different = true, different + 1 end
            if type(value) == "number" then
                least, most = math.min(least or value, value), math.max(most or value, value)
                sum, count = sum + value, count + 1
            end
        end
        local text = different .. " different"
        if count > 0 then text = round(least) .. " to " .. round(most) .. ", mean " .. round(sum / count) end
        found[at] = { name = name, text = text }
    end
    return found
end

-- The sums of the chosen number, or counts of rows, by the chosen column; the largest first.
function CsvExplorer:points()
    local sums, points = {}, {}
    for _, row in ipairs(self.rows) do
        local key = tostring(row[self.by] or "–")
        if not sums[key] then
            sums[key] = { label = key, value = 0 }
            points[#points + 1] = sums[key]
        end
        sums[key].value = round(sums[key].value + (self.number == "" and 1 or row[self.number] or 0))
    end
    table.sort(points, function(a, b) return a.value > b.value end)
    while #points > 30 do table.remove(points) end
    return points
end

function CsvExplorer:chartTitle()
    return (self.number == "" and "Rows" or self.number:sub(1, 1):upper() .. self.number:sub(2)) .. " by " .. self.by
end

if not session.reloading then csvExplorer = CsvExplorer:new() end
