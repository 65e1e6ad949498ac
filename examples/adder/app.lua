-- Two numbers and their sum: the smallest app with fields, a computed value and an action.

Adder = session:prototype("Adder", {
    first = 2,
    second = 3,
})

local function number(value)
    return tonumber(value) or 0
end

function Adder:sum()
    return number(self.first) + number(self.second)
end

function Adder:swap()
    self.first, self.second = self.second, self.first
end

-- Tells the agent what the person has added up.
function Adder:share()
    mcp.pushState({ app = "adder", event = "sum", value = self:sum() })
end

if not session.reloading then
    adder = Adder:new()
end
