-- One page about the agent. What the server keeps (chat, questions) is fetched by the page and only shown here.

MissionControl = session:prototype("MissionControl", { chatJson = "", questionsJson = "", personUrl = "", asked = "", timeline = EMPTY, seen = EMPTY })

local KEPT = 100

function MissionControl:new()
    local app = session:create(MissionControl, { timeline = {}, seen = {} })
    app:note("Mission control was opened.")
    return app
end

function MissionControl:note(text)
    table.insert(self.timeline, 1, { at = os.date("%H:%M:%S"), text = text })
    self.timeline[KEPT + 1] = nil
end

-- Write down what has changed since the last look.
function MissionControl:look()
    local listening, waiting = mcp:pollingEvents(), mcp:pendingEventCount()
    if listening ~= self.seen.listening then self:note(listening and "The agent listens." or "The agent is away.") end
    if waiting ~= (self.seen.waiting or 0) then self:note(waiting .. " events wait for the agent.") end
    for _, step in ipairs(mcp.todos or {}) do
        if self.seen[step.content] ~= step.status then self:note(step.content .. ": " .. step.status:gsub("_", " ")) end
        self.seen[step.content] = step.status
    end
    self.seen.listening, self.seen.waiting = listening, waiting
end

function MissionControl:state() return mcp:pollingEvents() and "listening" or "away" end
function MissionControl:waiting() return mcp:pendingEventCount() end

function MissionControl:steps()
    local found = {}
    for at, step in ipairs(mcp.todos or {}) do
        found[at] = { text = step.content, done = step.status == "completed", doing = step.status == "in_progress" and "step" or nil, mark = step.status == "completed" and "✓" or step.status == "in_progress" and "▸" or "·" }
    end
    return found
end

function MissionControl:progress()
    local steps, done = self:steps(), 0
    for _, step in ipairs(steps) do if step.done then done = done + 1 end end
    return #steps > 0 and done .. " of " .. #steps or "–"
end

local function list(text, name)
    local found = text ~= "" and ui.json_decode(text)
    return type(found) == "table" and type(found[name]) == "table" and found[name] or {}
end

function MissionControl:messages()
    local found = {}
    for _, message in ipairs(list(self.chatJson, "messages")) do
        found[#found + 1] = { who = tostring(message.sender or message.role or "?"), text = tostring(message.text or message.content or "") }
    end
    return found
end

function MissionControl:questions()
    local found = {}
    for _, question in ipairs(list(self.questionsJson, "approvals")) do
        found[#found + 1] = { text = tostring(question.tool or question.title or "A call"), link = self.personUrl .. "/approvals#approval-" .. tostring(question.id) }
    end
    return found
end

function MissionControl:ask()
    if self.asked == "" then return end
    mcp.pushState({ app = "mission-control", event = "asked", text = self.asked })
    self:note("You asked: " .. self.asked)
    self.asked = ""
end

if not session.reloading then
    missionControl = MissionControl:new()
    session:setInterval(function() missionControl:look() end, 2000)
end
