-- Tasks of days and meetings of hours, on a calendar and, what takes days, as bars on a time line.

Task = session:prototype("Planner.Task", { title = "", from = "", to = "", who = "Ada", project = "Site", color = "" })
Planner = session:prototype("Planner", {
    view = "month", day = "", month = "", title = "", from = "", to = "", who = "Ada", project = "Site", problem = "", chosen = EMPTY, tasks = EMPTY,
})

local COLOURS = { Site = "#3b5bdb", App = "#c2410c", Docs = "#0f766e" }
local NAMES = { "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December" }

local function noon(text)
    local year, month, day = text:match("^(%d%d%d%d)-(%d%d)-(%d%d)")
    return year and os.time({ year = tonumber(year), month = tonumber(month), day = tonumber(day), hour = 12 })
end
local function text_of(time) return os.date("%Y-%m-%d", time) end
local function after(text, days) return text_of(noon(text) + days * 86400) .. text:sub(11) end
local function length_of(month) return tonumber(os.date("%d", noon(after(month .. "-28", 4):sub(1, 7) .. "-01") - 86400)) end
local function days_between(from, to) return math.floor((noon(to) - noon(from)) / 86400 + 0.5) end
-- Fields for a date with a time write midnight if only a day was chosen.
local function without_midnight(moment) return (moment:gsub("T00:00$", "")) end

-- Tasks used to have a number of days instead of a last one.
function Task:mutate()
    if self.days then self.to, self.color, self.days = after(self.from, self.days - 1), COLOURS[self.project], nil end
end

function Planner:new()
    local today = text_of(os.time())
    local app = session:create(Planner, { day = today, month = today:sub(1, 7), from = today, tasks = session:store("tasks", Task) })
    if #app.tasks == 0 then app:fill(after(today, -((os.date("*t").wday + 5) % 7))) end
    return app
end

-- Something to look at: the weeks around a Monday.
function Planner:fill(monday)
    local function at(days, hours) return after(monday, days) .. (hours and "T" .. hours or "") end
    self:plan("Sketch the start page", at(-7), at(-5), "Ada", "Site")
    self:plan("Sign-in", at(-6), at(-3), "Grace", "App")
    self:plan("Build the start page", at(0), at(4), "Ada", "Site")
    self:plan("Interview five users", at(1), at(2), "Alan", "Docs")
    self:plan("Offline mode", at(3), at(10), "Grace", "App")
    self:plan("Write the guide", at(7), at(12), "Alan", "Docs")
    self:plan("Release", at(15), "", "Ada", "App")
    for day = 0, 4 do self:plan("Stand-up", at(day, "09:30"), "09:45", "Ada", "App") end
    self:plan("Review the sketch", at(0, "13:00"), "14:30", "Ada", "Site")
    self:plan("Interview: Lin", at(1, "10:00"), "11:00", "Alan", "Docs")
    self:plan("Interview: Sam", at(1, "10:30"), "11:30", "Alan", "Docs")
    self:plan("Pair on sync", at(2, "13:00"), "15:30", "Grace", "App")
    self:plan("Texts", at(2, "14:00"), "15:00", "Alan", "Docs")
    self:plan("Demo", at(4, "15:00"), "16:00", "Grace", "App")
end

function Planner:plan(title, from, to, who, project)
    project = project or "Site"
    table.insert(self.tasks, Task:new({ title = title, from = from, to = to or "", who = who or "Ada", project = project, color = COLOURS[project] }))
end

function Planner:add()
    local late = self.to ~= "" and self.to < self.from
    self.problem = self.title == "" and "What is to be done?" or not noon(self.from) and "On which day does it begin?" or late and "It ends before it begins." or ""
    if self.problem ~= "" then return end
    local from = without_midnight(self.from)
    self:plan(self.title, from, without_midnight(self.to), self.who, self.project)
    mcp.pushState({ app = "planner", event = "planned", title = self.title, from = from })
    self.title = ""
end

-- A day was clicked, or an hour.
function Planner:pick(moment)
    self.from, self.to = moment, ""
    local hour = moment:match("T(%d%d)")
    if hour then self.to = moment:sub(1, 11) .. string.format("%02d:00", math.min(tonumber(hour) + 1, 23)) end
end

function Planner:choose(task) self.chosen = task end
function Planner:hint() return self.chosen.title and self.chosen.title .. ", " .. self.chosen.who .. " for " .. self.chosen.project or "" end

function Planner:remove(task)
    for at, one in ipairs(self.tasks) do if one == task then table.remove(self.tasks, at) end end
    self.chosen = EMPTY
end

function Planner:look(view) self.view = view end
function Planner:turn(day) self.day, self.month = day, day:sub(1, 7) end
function Planner:monthTitle() return NAMES[tonumber(self.month:sub(6))] .. " " .. self.month:sub(1, 4) end

-- What takes days of the month, as bars; places are in per cent of it.
function Planner:bars()
    local bars, length, first = {}, length_of(self.month), self.month .. "-01"
    for _, task in ipairs(self.tasks) do
        local begin = days_between(first, task.from)
        local from, to = math.max(0, begin), math.min(length, begin + 1 + (noon(task.to) and days_between(task.from, task.to) or 0))
        if to > from and #task.from == 10 then
            bars[#bars + 1] = {
                task = task, title = task.title, who = task.who, color = task.color,
                left = from / length * 100 .. "%", width = (to - from) / length * 100 .. "%",
            }
        end
    end
    table.sort(bars, function(a, b) return a.task.from < b.task.from end)
    return bars
end

function Planner:address() return self.view .. "/" .. self.day, self.view == "month" and self:monthTitle() or "From " .. self.day end
function Planner:visit(path)
    local view, day = path:match("^(%l+)/(%d%d%d%d%-%d%d%-%d%d)$")
    if day and noon(day) and (view == "month" or view == "week" or view == "day") then
        self.view = view
        self:turn(day)
    end
end

if not session.reloading then planner = Planner:new() end
