-- {{title}}: cards in columns, saved as they move.
{{type}}Card = session:prototype("{{type}}.Card", { title = "", column = "todo" })
{{type}} = session:prototype("{{type}}", { draft = "", chosen = EMPTY, cards = EMPTY })

function {{type}}:new()
    return session:create({{type}}, { cards = session:store("cards", {{type}}Card) })
end

function {{type}}:add()
    if self.draft == "" then return end
    table.insert(self.cards, {{type}}Card:new({ title = self.draft }))
    self.draft = ""
end

-- The board has set the column already.
function {{type}}:moved(card)
    mcp.pushState({ app = "{{name}}", event = "moved", title = card.title, to = card.column })
end

function {{type}}:choose(card) self.chosen = card end

function {{type}}:remove()
    for at, one in ipairs(self.cards) do
        if one == self.chosen then table.remove(self.cards, at) end
    end
    self.chosen = EMPTY
end

function {{type}}:open()
    local count = 0
    for _, card in ipairs(self.cards) do if card.column ~= "done" then count = count + 1 end end
    return count .. " open"
end

if not session.reloading then
    {{global}} = {{type}}:new()
end
