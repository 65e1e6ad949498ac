function Trip:add()
    local amount = tonumber(self.amount)
    if self.item == "" or not amount then return end
    table.insert(self.spent, { day = "Wed", item = self.item, kind = "Food", amount = amount })
    self.item, self.amount = "", ""
end

