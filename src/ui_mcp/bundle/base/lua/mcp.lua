-- The shell around apps: the menu, the start page, notes to the person. Extends the `mcp` table; yours to change.

local AppEntry = session:prototype("MCP.AppEntry", { name = "", title = "", about = "" })
local Note = session:prototype("MCP.Note", { text = "", level = "info" })
local TodoItem = session:prototype("MCP.TodoItem", { content = "", status = "pending", activeForm = "" })

mcp.opened = mcp.opened or {} -- when each app was opened last
mcp.notes = mcp.notes or {}
mcp.themeChoice = mcp.themeChoice or ""

function AppEntry:open()
    mcp:thisPage().menuOpen = false
    local ok, problem = mcp:openHere(self.name)
    if not ok then mcp:note(problem, "error") end
end

-- Pictures for light and dark themes; the server draws one for an app that has none.
function AppEntry:light()
    return "/app/" .. self.name .. "/preview-light"
end

function AppEntry:dark()
    return "/app/" .. self.name .. "/preview-dark"
end

function AppEntry:current()
    return mcp:pageApp() ~= nil and mcp:pageTitle() == self.title
end

function Note:dismiss()
    for at, note in ipairs(mcp.notes) do
        if note == self then
            table.remove(mcp.notes, at)
            return
        end
    end
end

-- Show a note at the edge of every page of this session until it is dismissed.
function mcp:note(text, level)
    table.insert(self.notes, session:create(Note, { text = tostring(text), level = level or "info" }))
end

local entries, listed, fingerprint = {}, nil, nil -- the apps, when they were listed, and what they were made of

-- The menu is open in one tab only: the others show something else.
function mcp:menuShown()
    return self:thisPage().menuOpen == true
end

function mcp:toggleMenu()
    self:thisPage().menuOpen = not self:menuShown()
    listed = nil
end

local MARKS = { completed = "✓", in_progress = "▸" }

function TodoItem:mark()
    return MARKS[self.status] or "·"
end

function TodoItem:shownText()
    return self.status == "in_progress" and self.activeForm ~= "" and self.activeForm or self.content
end

-- The steps that the agent has announced (mcp:createTodos), as objects that keep their identity while they change.
local steps = {}

function mcp:shownTodos()
    local todos = self.todos or EMPTY
    for at, item in ipairs(todos) do
        steps[at] = steps[at] or session:create(TodoItem, {})
        steps[at].content, steps[at].status, steps[at].activeForm = item.content, item.status, item.activeForm
    end
    while #steps > #todos do table.remove(steps) end
    return steps
end

function mcp:todoTitle()
    local done, todos = 0, self.todos or EMPTY
    for _, item in ipairs(todos) do
        if item.status == "completed" then done = done + 1 end
    end
    return done .. " of " .. #todos .. " steps done"
end

-- Keep the theme in storage/settings.json, for browsers in which none was chosen; "auto" keeps none.
function mcp:keepTheme()
    local settings = self:readSettings()
    settings.theme = self.themeChoice ~= "auto" and self.themeChoice or nil
    local ok, problem = self:writeSettings(settings)
    if not ok then self:note(problem, "error") end
end

function mcp:goHome()
    self:thisPage().menuOpen, listed = false, nil
    self.displayedName, self.displayedTitle = nil, nil
    self:openHere(nil)
end

-- Every app of the project, what was opened or changed last first; asked again at most once a second while it is shown,
-- and the same list as long as nothing changed.
local function touched(app)
    return math.max(mcp.opened[app.name] or 0, app.changed)
end

function mcp:availableApps()
    if listed == os.time() then return entries end
    listed = os.time()
    local found, words = mcp.apps(), {}
    table.sort(found, function(a, b)
        local one, other = touched(a), touched(b)
        if one ~= other then return one > other end
        return a.name < b.name
    end)
    for _, app in ipairs(found) do
        words[#words + 1] = app.name .. "\n" .. app.title .. "\n" .. app.about
    end
    local now = table.concat(words, "\n\n")
    if now ~= fingerprint then
        fingerprint, entries = now, {}
        for at, app in ipairs(found) do
            local entry = { name = app.name, title = app.title, about = app.about }
            entries[at] = session:create(AppEntry, entry)
        end
    end
    return entries
end

-- What the menu lists; nothing while it is not shown.
function mcp:menuApps()
    return self:menuShown() and self:availableApps() or EMPTY
end

function mcp:hasApps()
    return #self:availableApps() > 0
end

local folder

function mcp:appsFolder()
    folder = folder or self:status().base_dir .. "/apps"
    return folder
end

function mcp:shellTitle()
    local shown = self:pageApp()
    if shown == nil then return "ui-mcp" end
    return self:pageTitle() or shown.type or "App"
end

-- An agent that has listened before is taken to be at work while it does not; nothing here shows whether it left.
local heard = false

function mcp:agentLabel()
    local listening = self:pollingEvents()
    heard = heard or listening
    if listening then return "Agent listening" end
    return heard and "Agent working" or "Connect an agent"
end

function mcp:agentHint()
    if self:pollingEvents() then return "The agent hears what you do here at once." end
    local waiting = self:pendingEventCount()
    if waiting > 0 then return waiting .. " events wait until the agent listens again." end
    return "What you do here waits until the agent listens again."
end

-- Remember which app is shown, by person or by code.
local display = mcp.display
function mcp.display(first, ...)
    local name = first
    if first == mcp then name = ... end
    local ok, problem = display(name)
    if ok then
        mcp.displayedName, mcp.displayedTitle = name, nil
        if name then mcp.opened[name] = os.time() end
        for _, app in ipairs(mcp:availableApps()) do
            if app.name == name then mcp.displayedTitle = app.title end
        end
    end
    return ok, problem
end
