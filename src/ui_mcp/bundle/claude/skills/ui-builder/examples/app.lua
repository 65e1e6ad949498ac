-- Contacts: a searchable address book with a line to the agent.

Contact = session:prototype("Contact", {
    firstName = "",
    lastName = "",
    email = "",
    favourite = false,
})

function Contact:fullName()
    local name = (self.firstName .. " " .. self.lastName):match("^%s*(.-)%s*$")
    return name ~= "" and name or "New contact"
end

function Contact:isPlain()
    return not self.favourite
end

function Contact:matches(term)
    local text = (self:fullName() .. " " .. self.email):lower()
    return text:find(term, 1, true) ~= nil
end

function Contact:choose()
    contacts.selected = self
end

function Contact:isChosen()
    return contacts.selected == self
end

ChatMessage = session:prototype("ChatMessage", {
    author = "you",
    text = "",
})

function ChatMessage:fromAgent()
    return self.author == "agent"
end

ContactApp = session:prototype("ContactApp", {
    contacts = EMPTY,
    messages = EMPTY,
    selected = EMPTY,
    search = "",
    draft = "",
})

function ContactApp:new(data)
    local app = session:create(ContactApp, data)
    app.contacts = app.contacts or {}
    app.messages = app.messages or {}
    return app
end

-- The list

function ContactApp:found()
    local term, result = self.search:lower(), {}
    for _, contact in ipairs(self.contacts) do
        if contact:matches(term) then table.insert(result, contact) end
    end
    table.sort(result, function(a, b) return a:fullName():lower() < b:fullName():lower() end)
    return result
end

function ContactApp:somethingFound()
    return #self:found() > 0
end

function ContactApp:addContact()
    self.selected = Contact:new()
    table.insert(self.contacts, self.selected)
    self.search = ""
end

-- The selected contact

function ContactApp:nothingSelected()
    return self.selected == nil
end

function ContactApp:somethingSelected()
    return self.selected ~= nil
end

function ContactApp:starIcon()
    return self.selected and self.selected.favourite and "star-fill" or "star"
end

function ContactApp:toggleFavourite()
    if self.selected then self.selected.favourite = not self.selected.favourite end
end

function ContactApp:removeSelected()
    for index, contact in ipairs(self.contacts) do
        if contact == self.selected then
            table.remove(self.contacts, index)
            self.selected = nil
            mcp.pushState({ app = "contacts", event = "removed", name = contact:fullName() })
            return
        end
    end
end

-- The line to the agent

function ContactApp:send()
    if self.draft == "" then return end
    table.insert(self.messages, ChatMessage:new({ text = self.draft }))
    mcp.pushState({ app = "contacts", event = "chat", text = self.draft })
    self.draft = ""
end

function ContactApp:addAgentMessage(text)
    table.insert(self.messages, ChatMessage:new({ author = "agent", text = text }))
end

function ContactApp:agentListens()
    return mcp:pollingEvents()
end

if not session.reloading then
    contacts = ContactApp:new({
        contacts = {
            Contact:new({ firstName = "Ada", lastName = "Lovelace", email = "ada@example.com", favourite = true }),
            Contact:new({ firstName = "Alan", lastName = "Turing", email = "alan@example.com" }),
            Contact:new({ firstName = "Grace", lastName = "Hopper", email = "grace@example.org" }),
        },
    })
end
