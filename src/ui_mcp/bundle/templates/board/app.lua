-- {{title}}: cards in columns, saved as they move.
{{type}}Card = session:prototype("{{type}}.Card", { title = "", column = "todo" })
{{type}} = session:prototype("{{type}}", { draft = "", cards = EMPTY })

local COLUMNS = { { id = "todo", title = "To do" }, { id = "doing", title = "Doing" }, { id = "done", title = "Done" } }

function {{type}}:new()
    return session:create({{type}}, { cards = session:store("cards", {{type}}Card) })
end

function {{type}}:add()
    if self.draft == "" then return end
    table.insert(self.cards, {{type}}Card:new({ title = self.draft }))
    self.draft = ""
end

function {{type}}:columns()
    local found = {}
    for at, column in ipairs(COLUMNS) do
        local cards = {}
        for _, card in ipairs(self.cards) do
            if card.column == column.id then cards[#cards + 1] = { card = card, title = card.title } end
        end
        found[at] = { title = column.title, count = #cards, cards = cards }
    end
    return found
end

-- Move a card by a number of columns.
function {{type}}:move(card, by)
    for at, column in ipairs(COLUMNS) do
        local to = COLUMNS[at + by]
        if column.id == card.column and to then
            card.column = to.id
            mcp.pushState({ app = "{{name}}", event = "moved", title = card.title, to = to.id })
            return
        end
    end
end

function {{type}}:remove(card)
    for at, one in ipairs(self.cards) do
        if one == card then table.remove(self.cards, at) end
    end
end

if not session.reloading then
    {{global}} = {{type}}:new()
end
