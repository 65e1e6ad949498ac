-- {{title}}: lines of a log, filtered while they come. It keeps 2,000 of them.
{{type}} = session:prototype("{{type}}", { level = "all", wanted = "", lines = EMPTY })

local KEPT = 2000
local RANK = { debug = 1, info = 2, warn = 3, error = 4 }

function {{type}}:new()
    local app = session:create({{type}}, { lines = {} })
    app:write("info", "Waiting for lines.")
    return app
end

function {{type}}:write(level, text)
    table.insert(self.lines, { at = os.date("%H:%M:%S"), level = RANK[level] and level or "info", text = tostring(text) })
    if #self.lines > KEPT then table.remove(self.lines, 1) end
end

function {{type}}:shown()
    local found, least, wanted = {}, RANK[self.level] or 0, self.wanted:lower()
    for _, line in ipairs(self.lines) do
        if RANK[line.level] >= least and line.text:lower():find(wanted, 1, true) then found[#found + 1] = line end
    end
    return found
end

function {{type}}:clear()
    self.lines = {}
end

if not session.reloading then
    {{global}} = {{type}}:new()
end
