-- {{title}}: a conversation between the person and the agent inside the app.
{{type}}Message = session:prototype("{{type}}.Message", { who = "you", text = "", at = "" })
{{type}} = session:prototype("{{type}}", { draft = "", messages = EMPTY })

function {{type}}:new()
    return session:create({{type}}, { messages = session:store("messages", {{type}}Message) })
end

-- What the person writes goes to the agent as an event; the agent answers with {{global}}:answer("…").
function {{type}}:send()
    if self.draft == "" then return end
    self:write("you", self.draft)
    mcp.pushState({ app = "{{name}}", event = "said", text = self.draft })
    self.draft = ""
end

function {{type}}:answer(text)
    self:write("agent", text)
end

function {{type}}:write(who, text)
    table.insert(self.messages, {{type}}Message:new({ who = who, text = text, at = os.date("%H:%M") }))
end

function {{type}}:shown()
    local found = {}
    for at, message in ipairs(self.messages) do
        found[at] = { who = message.who, at = message.at, html = mcp:renderMarkdown(message.text) }
    end
    return found
end

function {{type}}:state()
    return mcp:pollingEvents() and "The agent listens." or "The agent will read this when it listens again."
end

if not session.reloading then
    {{global}} = {{type}}:new()
end
