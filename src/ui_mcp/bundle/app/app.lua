-- {{title}}: what the app knows and does. Saved changes are live at once and keep its state.
{{type}} = session:prototype("{{type}}", { draft = "", items = EMPTY })
{{type}}.Item = session:prototype("{{type}}.Item", { text = "", done = false, owner = EMPTY })

function {{type}}:new()
    return session:create({{type}}, { items = {} })
end

function {{type}}:add()
    if self.draft == "" then return end
    table.insert(self.items, session:create({{type}}.Item, { text = self.draft, owner = self }))
    mcp.pushState({ app = "{{name}}", event = "added", text = self.draft })
    self.draft = ""
end

function {{type}}:remove(item)
    for at, one in ipairs(self.items) do
        if one == item then return table.remove(self.items, at) end
    end
end

function {{type}}:hasItems()
    return #self.items > 0
end

function {{type}}:summary()
    local done = 0
    for _, item in ipairs(self.items) do
        if item.done then done = done + 1 end
    end
    return done .. " of " .. #self.items .. " done"
end

function {{type}}.Item:toggle()
    self.done = not self.done
end

function {{type}}.Item:drop()
    self.owner:remove(self)
end

if not session.reloading then
    {{global}} = {{type}}:new()
end
