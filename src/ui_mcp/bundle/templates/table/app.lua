-- {{title}}: rows that are saved, in a table with a form to add to them.
{{type}}Row = session:prototype("{{type}}.Row", { name = "", amount = 0, date = "" })
{{type}} = session:prototype("{{type}}", { name = "", amount = "", problem = "", rows = EMPTY })

function {{type}}:new()
    return session:create({{type}}, { rows = session:store("rows", {{type}}Row) })
end

function {{type}}:add()
    self.problem = self.name == "" and "Give it a name." or not tonumber(self.amount) and "An amount is a number." or ""
    if self.problem ~= "" then return end
    table.insert(self.rows, {{type}}Row:new({ name = self.name, amount = tonumber(self.amount), date = os.date("%Y-%m-%d") }))
    mcp.pushState({ app = "{{name}}", event = "added", name = self.name })
    self.name, self.amount = "", ""
end

function {{type}}:remove(row)
    for at, one in ipairs(self.rows) do
        if one == row then table.remove(self.rows, at) end
    end
end

if not session.reloading then
    {{global}} = {{type}}:new()
end
