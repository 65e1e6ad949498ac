-- A thousand rows with five bindings each: one click touches one row, and only that row travels.

Row = session:prototype("Row", {
    name = "",
    stars = 0,
    done = false,
})

function Row:shown()
    return string.rep("★", self.stars)
end

function Row:star()
    self.stars = self.stars % 5 + 1
end

function Row:finish()
    self.done = not self.done
end

ThousandRows = session:prototype("ThousandRows", { rows = EMPTY })

function ThousandRows:done()
    local done = 0
    for _, row in ipairs(self.rows) do
        done = done + (row.done and 1 or 0)
    end
    return done .. " of " .. #self.rows .. " done"
end

function ThousandRows:reverse()
    local reversed = {}
    for index = #self.rows, 1, -1 do
        reversed[#reversed + 1] = self.rows[index]
    end
    self.rows = reversed
end

function ThousandRows:drop()
    table.remove(self.rows, 1)
end

if not session.reloading then
    local rows = {}
    for index = 1, 1000 do
        rows[index] = Row:new({ name = "Row " .. index })
    end
    thousandRows = ThousandRows:new({ rows = rows })
end
