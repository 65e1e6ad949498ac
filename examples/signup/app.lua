-- A form with validation. A field complains only after it was used; sending tells the agent.

Signup = session:prototype("Signup", {
    name = "",
    email = "",
    password = "",
    plan = "team",
    seats = 5,
    news = true,
    terms = false,
    about = "",
    sent = false,
})

local LABELS = { "too short", "weak", "fair", "good", "strong" }

function Signup:new()
    return session:create(Signup, { used = {} })
end

function Signup:useName() self.used.name = true end
function Signup:useEmail() self.used.email = true end
function Signup:usePassword() self.used.password = true end

function Signup:nameProblem()
    if #self.name < 2 then return "Please tell us your name." end
end

function Signup:emailProblem()
    if not self.email:match("^[^%s@]+@[^%s@]+%.%a%a+$") then return "That does not look like a mail address." end
end

-- 0 to 4: length, then kinds of characters.
function Signup:strength()
    local word = self.password
    if #word < 8 then return 0 end
    local kinds = 0
    for _, kind in ipairs({ "%l", "%u", "%d", "[^%w]" }) do
        if word:find(kind) then kinds = kinds + 1 end
    end
    return math.min(4, kinds + (#word >= 14 and 1 or 0))
end

function Signup:passwordProblem()
    if #self.password < 8 then return "At least eight characters." end
    if self:strength() < 2 then return "Mix in capitals, digits or signs." end
end

function Signup:strengthPercent() return self:strength() * 25 end
function Signup:strengthLabel() return self.password == "" and "" or LABELS[self:strength() + 1] end

function Signup:nameHint() return self.used.name and self:nameProblem() or "" end
function Signup:emailHint() return self.used.email and self:emailProblem() or "We write only about your account." end
function Signup:passwordHint() return self.used.password and self:passwordProblem() or "" end
function Signup:nameBad() return self.used.name and self:nameProblem() ~= nil end
function Signup:emailBad() return self.used.email and self:emailProblem() ~= nil end
function Signup:passwordBad() return self.used.password and self:passwordProblem() ~= nil end

function Signup:seatsLabel() return "Seats: " .. math.floor(self.seats) end
function Signup:isSolo() return self.plan == "solo" end

function Signup:price()
    if self.plan == "solo" then return "Free" end
    local each = self.plan == "team" and 8 or 15
    return "€ " .. each * self.seats .. " a month"
end

function Signup:incomplete()
    return not self.terms or self:nameProblem() ~= nil or self:emailProblem() ~= nil or self:passwordProblem() ~= nil
end

function Signup:send()
    self.used = { name = true, email = true, password = true }
    if self:incomplete() then return end
    self.sent = true
    mcp.pushState({ app = "signup", event = "signed_up", name = self.name, email = self.email, plan = self.plan, seats = self.seats })
end

function Signup:again()
    for _, field in ipairs({ "name", "email", "password", "about" }) do self[field] = "" end
    self.used, self.sent, self.terms = {}, false, false
end

function Signup:greeting() return "Welcome, " .. self.name .. "!" end

if not session.reloading then
    signup = Signup:new()
end
