-- An order in steps. A step can be opened when those before it are complete.

Wizard = session:prototype("Wizard", {
    step = 1, frame = "city", size = "M", colour = "forest", lights = true, rack = false, basket = false,
    name = "", email = "", street = "", city = "", postcode = "", tried = false, ordered = false,
})

local STEPS = { { name = "bicycle", title = "Bicycle" }, { name = "extras", title = "Extras" }, { name = "delivery", title = "Delivery" }, { name = "review", title = "Review" } }
local PRICES = { city = 690, gravel = 1190, electric = 2390 }
local EXTRAS = { lights = 49, rack = 39, basket = 12 }

-- What is missing in a step: field → message.
function Wizard:problems(step)
    local found = {}
    if step == 3 then
        if self.name == "" then found.name = "Who is it for?" end
        if not self.email:match("^[^@%s]+@[^@%s]+%.[^@%s]+$") then found.email = "An address such as ada@example.com." end
        if self.street == "" then found.street = "Street and number." end
        if self.city == "" then found.city = "Which town?" end
        if not self.postcode:match("^%w[%w%- ]+$") then found.postcode = "The postcode of that town." end
    end
    return found
end

function Wizard:problem(field) return self.tried and self:problems(self.step)[field] or nil end
function Wizard:complete(step) return next(self:problems(step)) == nil end

function Wizard:go(step)
    for before = 1, step - 1 do
        if not self:complete(before) then step = before break end
    end
    self.step, self.tried = step, false
end

function Wizard:forward()
    self.tried = true
    if self:complete(self.step) and self.step < #STEPS then self:go(self.step + 1) end
end

function Wizard:back() self:go(math.max(1, self.step - 1)) end

function Wizard:steps()
    local found = {}
    for at, step in ipairs(STEPS) do
        found[at] = { number = at, title = step.title, current = at == self.step and "step" or nil, done = at < self.step }
    end
    return found
end

function Wizard:price()
    local sum = PRICES[self.frame]
    for name, price in pairs(EXTRAS) do if self[name] then sum = sum + price end end
    return "€ " .. sum
end

function Wizard:lines()
    local extras = {}
    for _, name in ipairs({ "lights", "rack", "basket" }) do if self[name] then extras[#extras + 1] = name end end
    return {
        { name = "Bicycle", text = self.frame .. ", size " .. self.size .. ", " .. self.colour },
        { name = "Extras", text = #extras > 0 and table.concat(extras, ", ") or "none" },
        { name = "For", text = self.name .. " <" .. self.email .. ">" },
        { name = "To", text = self.street .. ", " .. self.postcode .. " " .. self.city },
        { name = "Price", text = self:price() },
    }
end

function Wizard:order()
    self.ordered = true
    mcp.pushState({ app = "wizard", event = "ordered", frame = self.frame, price = self:price(), email = self.email })
end

function Wizard:again()
    self.ordered = false
    self:go(1)
end

function Wizard:address() return STEPS[self.step].name, STEPS[self.step].title end

function Wizard:visit(path)
    for at, step in ipairs(STEPS) do if step.name == path then self:go(at) end end
end

if not session.reloading then wizard = Wizard:new() end
