-- A list with search, selection, presenters for its rows, and a form.

Contact = session:prototype("Contact", {
    firstName = "",
    lastName = "",
    email = "",
})

function Contact:fullName()
    return self.firstName .. " " .. self.lastName
end

function Contact:matches(text)
    local all = (self:fullName() .. " " .. self.email):lower()
    return all:find(text:lower(), 1, true) ~= nil
end

-- A row: knows the contact it shows and the list it belongs to, so that the contact need not.
ContactRow = session:prototype("ContactRow", {})

function ContactRow:new(item)
    return session:create(ContactRow, { contact = item.baseItem, index = item.index })
end

function ContactRow:name()
    return self.contact:fullName()
end

function ContactRow:initials()
    return self.contact.firstName:sub(1, 1) .. self.contact.lastName:sub(1, 1)
end

function ContactRow:selected()
    return contacts.current == self.contact
end

function ContactRow:select()
    contacts.current = self.contact
end

Contacts = session:prototype("Contacts", {
    list = EMPTY,
    search = "",
    current = EMPTY,
})

function Contacts:found()
    local found = {}
    for _, contact in ipairs(self.list) do
        if contact:matches(self.search) then
            found[#found + 1] = contact
        end
    end
    return found
end

function Contacts:summary()
    return #self:found() .. " of " .. #self.list
end

function Contacts:add()
    self.current = Contact:new({ firstName = "New", lastName = "contact" })
    table.insert(self.list, self.current)
    self.search = ""
end

function Contacts:remove()
    for index, contact in ipairs(self.list) do
        if contact == self.current then
            table.remove(self.list, index)
            break
        end
    end
    self.current = nil
end

function Contacts:nobody()
    return self.current == nil
end

function Contacts:mail()
    mcp.pushState({ app = "contacts", event = "mail", to = self.current.email })
end

if not session.reloading then
    contacts = Contacts:new({
        list = {
            Contact:new({ firstName = "Ada", lastName = "Lovelace", email = "ada@example.org" }),
            Contact:new({ firstName = "Grace", lastName = "Hopper", email = "grace@example.org" }),
            Contact:new({ firstName = "Alan", lastName = "Turing", email = "alan@example.org" }),
        },
    })
end
