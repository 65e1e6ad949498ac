Expense = session:prototype("Expense", { date = "", item = "", category = "Food", amount = 0 })
Expenses = session:prototype("Expenses", { date = os.date("%Y-%m-%d"), item = "", category = "Food", amount = "", note = "", list = EMPTY, files = EMPTY })

function Expenses:new()
    local app = session:create(Expenses, { list = session:store("expenses", Expense), files = {} })
    if #app.list == 0 then app.list:import("csv", "date,item,category,amount\n2026-01-05,Rent,Home,850\n2026-01-09,Groceries,Food,64.20\n2026-02-05,Rent,Home,850\n2026-02-14,Dinner,Food,48.50\n2026-03-02,Train to Lyon,Travel,119\n2026-03-05,Rent,Home,850\n") end
    return app
end

function Expenses:problem()
    if not self.date:match("^%d%d%d%d%-%d%d%-%d%d$") then return "Give the date as 2026-03-31." end
    if self.item == "" then return "What did you pay for?" end
    if (tonumber(self.amount) or 0) <= 0 then return "An amount is more than 0." end
end

function Expenses:add()
    self.note = self:problem() or ""
    if self.note ~= "" then return end
    table.insert(self.list, Expense:new({ date = self.date, item = self.item, category = self.category, amount = tonumber(self.amount) }))
    self.item, self.amount = "", ""
end

function Expenses:remove(row)
    for at, one in ipairs(self.list) do if one == row then table.remove(self.list, at) end end
end

function Expenses:arrived(file)
    local count, why, left_out = self.list:import("csv", io.open(file.path):read("*a"))
    self.note = count and count .. " expenses added" .. (#left_out > 0 and ", " .. #left_out .. " left out." or ".") or why
end

function Expenses:months()
    local months, at = {}, {}
    for _, one in ipairs(self.list) do
        local name = one.date:sub(1, 7)
        if not at[name] then at[name] = { month = name, Food = 0, Home = 0, Travel = 0, Other = 0 } months[#months + 1] = at[name] end
        at[name][one.category] = (at[name][one.category] or 0) + one.amount
    end
    table.sort(months, function(a, b) return a.month < b.month end)
    return months
end

if not session.reloading then expenses = Expenses:new() end
