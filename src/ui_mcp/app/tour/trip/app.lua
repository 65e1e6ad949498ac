-- A travel budget: what was spent, on what, and what is left.
Trip = session:prototype("Trip", { budget = 900, spent = EMPTY, item = "", amount = "" })

function Trip:new()
    return session:create(Trip, { spent = {
        { day = "Mon", item = "Train to Lisbon", kind = "Travel", amount = 184 },
        { day = "Mon", item = "Guest house, 4 nights", kind = "Stay", amount = 312 },
        { day = "Tue", item = "Tram day pass", kind = "Travel", amount = 6.8 },
        { day = "Tue", item = "Dinner in Alfama", kind = "Food", amount = 46.5 },
        { day = "Wed", item = "Tile museum", kind = "Fun", amount = 16 },
    } })
end

function Trip:total()
    local sum = 0
    for _, one in ipairs(self.spent) do sum = sum + one.amount end
    return sum
end

function Trip:left() return string.format("%.2f", self.budget - self:total()) end

function Trip:used() return math.floor(100 * self:total() / self.budget + 0.5) end

function Trip:byKind()
    local kinds, list = {}, {}
    for _, one in ipairs(self.spent) do
        if not kinds[one.kind] then
            kinds[one.kind] = { kind = one.kind, amount = 0 }
            list[#list + 1] = kinds[one.kind]
        end
        kinds[one.kind].amount = kinds[one.kind].amount + one.amount
    end
    return list
end

function Trip:choose(currency)
    mcp.pushState({ app = "trip", event = "chosen", currency = currency })
end

if not session.reloading then trip = Trip:new() end
