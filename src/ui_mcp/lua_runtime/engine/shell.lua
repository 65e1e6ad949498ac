-- Functions of `mcp` that apps expect of the shell around them. A shell that defines its own replaces them.
local E, host = ...
local OUTPUT = E.wire.output
local env, json, limits = E.env, E.json, E.limits
local type, tostring, tonumber, ipairs, floor, gsub, format = type, tostring, tonumber, ipairs, math.floor, string.gsub, string.format

local LEVELS = { danger = "error", error = "error", warning = "warning" }

-- How far a build is after a step, in per cent.
local PERCENT = {
  ["Read requirements"] = 5, Requirements = 10, Design = 20, ["Write code"] = 40, ["Write viewdefs"] = 60,
  ["Link and audit"] = 85, Simplify = 92, ["Set baseline"] = 98, ["Fast Design"] = 20, ["Fast code"] = 40,
  ["Fast viewdefs"] = 60, ["Fast verify"] = 60, ["Fast finish"] = 80,
}

local shell = {}

local function settings_file() return host.base_dir .. "/storage/settings.json" end

function shell:readSettings()
  local file = env.io.open(settings_file(), "r")
  if not file then return {} end
  local found = json.decode(file:read("*a"))
  file:close()
  return type(found) == "table" and found or {}
end

function shell:writeSettings(settings)
  local text = E.modules["mcp.json"].encode(settings)
  local file, why = env.io.open(settings_file(), "w")
  if not file then return nil, why end
  file:write(text == "[]" and "{}" or text)
  file:close()
  return true
end

function shell:notify(message, variant)
  local level = LEVELS[variant or "danger"] or "info"
  if type(self.note) == "function" then return self:note(message, level) end
  host.emit(OUTPUT.NOTICE, json.encode({ level = level, text = tostring(message) }), 0)
end

-- Call a method of the app console if it is loaded.
local function tell_console(name, ...)
  local console = env.appConsole
  local f = type(console) == "table" and console[name]
  if type(f) ~= "function" then return end
  local ok, fault = limits.call(f, console, ...)
  if not ok then E.report("appConsole:" .. name, fault) end
end

-- Tell the person's page what the agent has announced.
local function announce(facts) host.emit(OUTPUT.PROGRESS, json.encode(facts), 0) end

function shell:appProgress(name, progress, stage)
  announce({ app = tostring(name), progress = tonumber(progress), stage = stage and tostring(stage) or nil })
  tell_console("onAppProgress", name, progress, stage)
end

function shell:scanAvailableApps() end

function shell:appUpdated(name)
  self:scanAvailableApps()
  tell_console("onAppUpdated", name)
end

-- Messages of the agent: the list for a shell that shows them, the last one as the status.
local function add_message(mcp, message)
  mcp.messages = mcp.messages or {}
  message.sender = "Agent"
  mcp.messages[#mcp.messages + 1] = message
end

function shell:addAgentMessage(text)
  add_message(self, { text = tostring(text), html = E.markdown(tostring(text)), style = "normal" })
  self.statusLine, self.statusClass = "", ""
end

function shell:addAgentThinking(text)
  add_message(self, { text = tostring(text), html = E.markdown(tostring(text)), style = "thinking" })
  self.statusLine, self.statusClass = tostring(text), "thinking"
end

function shell:addRichMessage(html) add_message(self, { text = "", html = tostring(html), style = "normal" }) end

local ENTITIES = { ["&"] = "&amp;", ["<"] = "&lt;", [">"] = "&gt;", ['"'] = "&quot;", ["'"] = "&#39;" }
local function escaped(text) return (gsub(tostring(text), "[&<>\"']", ENTITIES)) end

function shell:highlightLink(id, label)
  local form = '<a href="#" data-highlight="%s" onclick="window.uiApp.highlight(this.dataset.highlight); return false">%s</a>'
  return format(form, escaped(id), escaped(label or id))
end

local function todo(item)
  return { content = tostring(item.content or ""), status = item.status or "pending", activeForm = item.activeForm or "" }
end

local function announce_todos(mcp) announce({ todos = mcp.todos or {} }) end

function shell:hasTodos() return type(self.todos) == "table" and #self.todos > 0 end

function shell:setTodos(items)
  self.todos = {}
  for i, item in ipairs(items or {}) do self.todos[i] = todo(item) end
  announce_todos(self)
end

function shell:createTodos(labels, app)
  self.todos, self.todoApp = {}, app
  for i, label in ipairs(labels or {}) do self.todos[i] = todo({ content = label, activeForm = tostring(label) .. "…" }) end
  announce_todos(self)
end

function shell:startTodoStep(n)
  local step = self:hasTodos() and self.todos[n]
  if not step then return end
  for i, item in ipairs(self.todos) do
    if i < n then item.status = "completed" end
  end
  step.status = "in_progress"
  announce_todos(self)
  self:addAgentThinking(step.activeForm)
  if self.todoApp then self:appProgress(self.todoApp, PERCENT[step.content] or floor(15 * n - 5), step.activeForm) end
end

function shell:completeTodos()
  for _, item in ipairs(self.todos or {}) do item.status = "completed" end
  announce_todos(self)
  self.statusLine, self.statusClass = "", ""
  if self.todoApp then self:appProgress(self.todoApp, nil, nil) end
end

function shell:clearTodos()
  self.todos, self.todoApp = {}, nil
  announce_todos(self)
end

function shell:toggleTodos() self.todosCollapsed = not self.todosCollapsed end

function shell:currentVersion() return self:status().version end

function shell:getUpdatePreference() return self:readSettings().checkUpdate == true end

function shell:setUpdatePreference(on)
  local settings = self:readSettings()
  settings.checkUpdate = on and true or false
  self:writeSettings(settings)
  if on then self:checkForUpdates() end
end

-- Programs are updated by the person; `ui_update` says whether there is a newer version.
function shell:checkForUpdates() self._needsUpdate, self.latestVersion = false, self:currentVersion() end

function shell:startTutorial()
  if type(self.goHome) == "function" then self:goHome() end
end

E.shell = shell
