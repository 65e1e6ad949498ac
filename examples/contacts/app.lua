-- A list with search, selection, presenters for its rows, and a form.

Contact = session:prototype("Contact", {
    firstName = "",
    lastName = "",
    company = "",
    email = "",
    phone = "",
})

function Contact:fullName()
    return self.firstName .. " " .. self.lastName
end

function Contact:matches(text)
    local all = table.concat({ self:fullName(), self.company, self.email, self.phone }, " "):lower()
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
    order = "lastName",
    current = EMPTY,
})

function Contacts:found()
    local found = {}
    for _, contact in ipairs(self.list) do
        if contact:matches(self.search) then
            found[#found + 1] = contact
        end
    end
    table.sort(found, function(one, other)
        local a, b = tostring(one[self.order]):lower(), tostring(other[self.order]):lower()
        if a == b then
            return one.firstName:lower() < other.firstName:lower()
        end
        return a < b
    end)
    return found
end

function Contacts:sort(field)
    self.order = field
end

function Contacts:nothingFound()
    return #self:found() == 0
end

function Contacts:summary()
    return #self:found() .. " of " .. #self.list
end

function Contacts:add()
    self.current = Contact:new({ firstName = "New", lastName = "Contact" })
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

-- Back to the whole list.
function Contacts:close()
    self.current = nil
end

function Contacts:mail()
    mcp.pushState({ app = "contacts", event = "mail", to = self.current.email })
end

local function person(firstName, lastName, company, phone)
    local email = firstName:lower() .. "@example.org"
    return Contact:new({ firstName = firstName, lastName = lastName, company = company, email = email, phone = phone })
end

if not session.reloading then
    contacts = Contacts:new({
        list = {
            person("Ada", "Lovelace", "Analytical Engines", "+44 20 5550 0110"),
            person("Alan", "Turing", "Bletchley Park", "+44 20 5550 0123"),
            person("Annie", "Easley", "Lewis Research", "+1 216 555 0147"),
            person("Barbara", "Liskov", "Abstraction Lab", "+1 617 555 0139"),
            person("Claude", "Shannon", "Bell Works", "+1 908 555 0116"),
            person("Donald", "Knuth", "Literate Press", "+1 650 555 0138"),
            person("Edsger", "Dijkstra", "Shortest Path", "+31 20 555 0130"),
            person("Grace", "Hopper", "Harbour Compilers", "+1 202 555 0106"),
            person("Hedy", "Lamarr", "Frequency Studio", "+43 1 555 0114"),
            person("John", "Backus", "Speed Code", "+1 415 555 0124"),
            person("Karen", "Spärck Jones", "Term Weights", "+44 122 355 0135"),
            person("Katherine", "Johnson", "Flight Research", "+1 757 555 0118"),
            person("Konrad", "Zuse", "Relay Machines", "+49 30 555 0110"),
            person("Margaret", "Hamilton", "Apollo Software", "+1 617 555 0136"),
            person("Radia", "Perlman", "Spanning Trees", "+1 978 555 0151"),
            person("Tim", "Berners-Lee", "Open Web", "+41 22 555 0155"),
        },
    })
end
