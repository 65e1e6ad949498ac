-- {{title}}: a form in steps; each is checked before the next.
{{type}} = session:prototype("{{type}}", { step = 1, name = "", email = "", plan = "small", problem = "", sent = false })

local STEPS = { "you", "plan", "review" }

function {{type}}:check()
    if self.step == 1 and self.name == "" then return "What is your name?" end
    if self.step == 1 and not self.email:match("^[^@%s]+@[^@%s]+$") then return "An address such as ada@example.com." end
    return ""
end

function {{type}}:forward()
    self.problem = self:check()
    if self.problem == "" and self.step < #STEPS then self.step = self.step + 1 end
end

function {{type}}:back()
    self.step, self.problem = math.max(1, self.step - 1), ""
end

function {{type}}:send()
    self.sent = true
    mcp.pushState({ app = "{{name}}", event = "sent", name = self.name, email = self.email, plan = self.plan })
end

function {{type}}:progress() return "Step " .. self.step .. " of " .. #STEPS end

-- Each step has an address, so that back and forward work.
function {{type}}:address() return STEPS[self.step] end

function {{type}}:visit(path)
    for at, step in ipairs(STEPS) do
        if step == path and at <= self.step then self.step = at end
    end
end

if not session.reloading then
    {{global}} = {{type}}:new()
end
