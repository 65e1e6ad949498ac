-- Tasks with a first day and a number of days, on a calendar and a time line of one month.

Task = session:prototype("Planner.Task", { title = "", from = "", days = 1, who = "Ada", project = "Site" })
Planner = session:prototype("Planner", { month = "", title = "", from = "", days = "1", who = "Ada", project = "Site", problem = "", tasks = EMPTY })

local COLOURS = { Site = "#3b5bdb", App = "#c2410c", Docs = "#0f766e" }
local NAMES = { "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December" }

local function noon(text)
    local year, month, day = text:match("^(%d%d%d%d)-(%d%d)-(%d%d)$")
    return year and os.time({ year = tonumber(year), month = tonumber(month), day = tonumber(day), hour = 12 })
end
local function text_of(time) return os.date("%Y-%m-%d", time) end
local function after(text, days) return text_of(noon(text) + days * 86400) end
local function length_of(month) return tonumber(os.date("%d", noon(after(month .. "-28", 4):sub(1, 7) .. "-01") - 86400)) end

function Planner:new()
    local app = session:create(Planner, { month = os.date("%Y-%m"), tasks = session:store("tasks", Task) })
    if #app.tasks == 0 then
        local first = app.month .. "-01"
        app:plan("Sketch the start page", after(first, 1), 3, "Ada", "Site")
        app:plan("Build the start page", after(first, 6), 5, "Ada", "Site")
        app:plan("Sign-in", after(first, 3), 4, "Grace", "App")
        app:plan("Offline mode", after(first, 9), 8, "Grace", "App")
        app:plan("Interview five users", after(first, 8), 2, "Alan", "Docs")
        app:plan("Write the guide", after(first, 13), 6, "Alan", "Docs")
        app:plan("Release", after(first, 22), 1, "Ada", "App")
    end
    app.from = text_of(os.time())
    return app
end

function Planner:plan(title, from, days, who, project)
    table.insert(self.tasks, Task:new({ title = title, from = from, days = days or 1, who = who or "Ada", project = project or "Site" }))
end

function Planner:add()
    local days = tonumber(self.days)
    self.problem = self.title == "" and "What is to be done?" or not noon(self.from) and "On which day does it begin?"
        or not (days and days >= 1 and days <= 60) and "It takes 1 to 60 days." or ""
    if self.problem ~= "" then return end
    self:plan(self.title, self.from, math.floor(days), self.who, self.project)
    mcp.pushState({ app = "planner", event = "planned", title = self.title, from = self.from })
    self.title = ""
end

function Planner:pick(day) self.from = day end

function Planner:move(task, days)
    task.from = after(task.from, days)
end

function Planner:remove(task)
    for at, one in ipairs(self.tasks) do if one == task then table.remove(self.tasks, at) end end
end

function Planner:turn(months)
    local year, month = self.month:match("(%d+)-(%d+)")
    self.month = os.date("%Y-%m", os.time({ year = tonumber(year), month = tonumber(month) + months, day = 1, hour = 12 }))
end

function Planner:monthTitle()
    local year, month = self.month:match("(%d+)-(%d+)")
    return NAMES[tonumber(month)] .. " " .. year
end

local function on(tasks, day)
    local found = {}
    for _, task in ipairs(tasks) do
        if task.from <= day and day < after(task.from, task.days) then
            found[#found + 1] = { title = task.from == day and task.title or "", colour = COLOURS[task.project], hint = task.title .. ", " .. task.who }
        end
    end
    return found
end

-- The weeks of the month from Monday on, each with seven days.
function Planner:weeks()
    local first = self.month .. "-01"
    local start = after(first, -((tonumber(os.date("%w", noon(first))) + 6) % 7))
    local weeks, today = {}, text_of(os.time())
    repeat
        local days = {}
        for at = 0, 6 do
            local day = after(start, at)
            days[at + 1] = { day = day, number = tonumber(day:sub(9)), other = day:sub(1, 7) ~= self.month, today = day == today, tasks = on(self.tasks, day) }
        end
        weeks[#weeks + 1] = { days = days }
        start = after(start, 7)
    until start:sub(1, 7) ~= self.month
    return weeks
end

-- The tasks of the month as bars; places are in per cent of it.
function Planner:bars()
    local bars, length, first = {}, length_of(self.month), self.month .. "-01"
    for _, task in ipairs(self.tasks) do
        local begin = (noon(task.from) - noon(first)) / 86400
        local from, to = math.max(0, begin), math.min(length, begin + task.days)
        if to > from then
            bars[#bars + 1] = {
                task = task, title = task.title, who = task.who, colour = COLOURS[task.project],
                left = from / length * 100 .. "%", width = (to - from) / length * 100 .. "%",
            }
        end
    end
    table.sort(bars, function(a, b) return a.task.from < b.task.from end)
    return bars
end

function Planner:address() return self.month, self:monthTitle() end
function Planner:visit(path) if path:match("^%d%d%d%d%-%d%d$") then self.month = path end end

if not session.reloading then planner = Planner:new() end
