-- A kanban board: columns hold cards, cards move by drag and drop or by their arrows.

Board = session:prototype("Board", { draft = "", nextId = 1 })
Column = session:prototype("Board.Column", { key = "", title = "", hue = "" })
Card = session:prototype("Board.Card", { id = 0, title = "", tag = "", editing = false })

function Board:new()
    local made = session:create(Board, { columns = {} })
    for at, one in ipairs({ { "todo", "To do" }, { "doing", "In progress" }, { "done", "Done" } }) do
        made.columns[at] = session:create(Column, { key = one[1], title = one[2], cards = {} })
    end
    return made
end

function Board:column(key)
    for at, column in ipairs(self.columns) do
        if column.key == key then return column, at end
    end
end

function Board:put(title, tag, key)
    local card = session:create(Card, { id = self.nextId, title = title, tag = tag or "" })
    self.nextId = self.nextId + 1
    table.insert(self:column(key or "todo").cards, card)
    return card
end

function Board:add()
    local title = self.draft:match("^%s*(.-)%s*$")
    if title == "" then return end
    self.draft = ""
    self:put(title)
    mcp.pushState({ app = "board", event = "added", title = title })
end

function Board:where(id)
    for _, column in ipairs(self.columns) do
        for at, card in ipairs(column.cards) do
            if card.id == id then return card, column, at end
        end
    end
end

-- Move a card to a column, before the card that stands at `index` (at the end without one).
function Board:move(id, key, index)
    local card, from, at = self:where(id)
    local to = self:column(key)
    if not card or not to then return end
    table.remove(from.cards, at)
    table.insert(to.cards, math.min(index or #to.cards + 1, #to.cards + 1), card)
    if from ~= to then
        mcp.pushState({ app = "board", event = "moved", card = card.title, from = from.key, to = to.key })
    end
end

-- What the page says after a drop: "CARD COLUMN".
function Board:drop(text)
    local id, key = tostring(text):match("^(%d+) (%w+)$")
    if id then self:move(tonumber(id), key) end
end

function Board:summary()
    local done, all = #self:column("done").cards, 0
    for _, column in ipairs(self.columns) do all = all + #column.cards end
    return done .. " of " .. all .. " done"
end

function Column:count() return #self.cards end

function Card:neighbour(step)
    local _, column = board:where(self.id)
    local _, at = board:column(column.key)
    return board.columns[at + step]
end

function Card:left()
    local target = self:neighbour(-1)
    if target then board:move(self.id, target.key) end
end

function Card:right()
    local target = self:neighbour(1)
    if target then board:move(self.id, target.key) end
end

function Card:isFirst() return self:neighbour(-1) == nil end
function Card:isLast() return self:neighbour(1) == nil end
function Card:edit() self.editing = true end
function Card:save() self.editing = false end

function Card:remove()
    local _, column, at = board:where(self.id)
    table.remove(column.cards, at)
end

if not session.reloading then
    board = Board:new()
    board:put("Write the release notes", "docs", "todo")
    board:put("Answer the support mail", "people", "todo")
    board:put("Try the new theme on a phone", "design", "todo")
    board:put("Make the list scroll smoothly", "code", "doing")
    board:put("Measure a cold start", "code", "done")
end
