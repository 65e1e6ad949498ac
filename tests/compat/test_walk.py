"""A project in the shape of frictionless's, written here: a shell and an app with the usual habits, walked through."""

from pathlib import Path

import pytest

from compat.walk import walk

SHELL = """
local json = require("mcp.json")
MCP.Item = session:prototype("MCP.Item", { _name = "" })
function MCP.Item:name() return self._name end
function MCP.Item:select() mcp:display(self._name) end

local function dirs(path)
    local found, handle = {}, io.popen('ls -1d "' .. path .. '"/*/ 2>/dev/null')
    for line in handle:lines() do found[#found + 1] = line:match("([^/]+)/$") end
    handle:close()
    return found
end

local push = mcp.pushState
function mcp.pushState(event)
    event.handler = "/ui-fast"
    return push(event)
end

function mcp:items()
    if not self._items then
        self._items = {}
        for _, name in ipairs(dirs(self:status().base_dir .. "/apps")) do
            if name ~= "mcp" then self._items[#self._items + 1] = session:create(MCP.Item, { _name = name }) end
        end
    end
    return self._items
end

mcp.code = "window.shellReady()"
mcp:writeSettings({ theme = json.decode('{"theme": "dark"}').theme })
"""
SHELL_VIEW = """<template><div>
  <style>.menu { display: flex }</style>
  <div class="menu" ui-class-hidden="noMenu" ui-view="items()?wrapper=lua.ViewList"></div>
  <div ui-view="value"></div><span ui-code="code"></span>
  <script>window.shellReady = () => { document.documentElement.dataset.shell = "ready" }</script>
</div></template>"""
ITEM_VIEW = '<template><button ui-action="select()" ui-value="name()"></button></template>'
APP = """
Todo = session:prototype("Todo", { items = EMPTY, text = "" })
Todo.Item = session:prototype("Todo.Item", { text = "" })
local FILE = ".ui/storage/todo/todos.json"
local json = require("mcp.json")

function Todo:save()
    os.execute('mkdir -p "' .. FILE:match("(.+)/") .. '"')
    local list = {}
    for _, item in ipairs(self.items) do list[#list + 1] = { text = item.text } end
    local file = io.open(FILE, "w")
    file:write(json.encode(list))
    file:close()
end

function Todo:load()
    self.items = {}
    local file = io.open(FILE, "r")
    if not file then return end
    for _, one in ipairs(json.decode(file:read("*a"))) do table.insert(self.items, session:create(Todo.Item, one)) end
    file:close()
end

function Todo:add()
    table.insert(self.items, session:create(Todo.Item, { text = self.text }))
    self:save()
    mcp.pushState({ app = "todo", event = "added", count = #self.items })
end

function Todo:count() return #self.items end

if not session.reloading then
    todo = Todo:new()
    todo:load()
end
"""
APP_VIEW = """<template><div>
  <h2 class="panel-header-left">Todo <b ui-value="count()"></b></h2>
  <sl-input ui-value="text?keypress"></sl-input>
  <sl-button ui-action="add()"><sl-icon name="rocket-takeoff"></sl-icon>Add</sl-button>
  <div ui-view="items?wrapper=lua.ViewList"></div>
</div></template>"""


@pytest.mark.slow
@pytest.mark.covers("UI-COMPAT-11")
def test_a_project_with_a_shell_of_its_own_is_operated_edited_and_restarted(tmp_path: Path) -> None:
    base = tmp_path / "original" / ".ui"
    for name, text in {
        "README.md": "# Frictionless\n\n**Version: 0.25.1**\n",
        "html/index.html": "<!doctype html><div ui-app></div><script src='/main-OLD.js'></script>",
        "lua/mcp.lua": SHELL,
        "viewdefs/MCP.DEFAULT.html": SHELL_VIEW,
        "viewdefs/MCP.Item.list-item.html": ITEM_VIEW,
        "apps/todo/app.lua": APP,
        "apps/todo/viewdefs/Todo.DEFAULT.html": APP_VIEW,
        "apps/todo/viewdefs/Todo.Item.list-item.html": '<template><p ui-value="text"></p></template>',
    }.items():
        (base / name).parent.mkdir(parents=True, exist_ok=True)
        (base / name).write_text(text)

    shell, outcome = walk(base.parent)

    assert (shell.app, shell.errors, outcome.errors) == ("mcp", [], [])
    assert (shell.edited, shell.restarted, shell.lost(), shell.forgotten()) == (True, True, set(), set())
    assert (outcome.works, outcome.refused, outcome.clicks) == (True, [], 1)
    # The shell was operated first, with the app in it.
    assert {path for path in outcome.changed() if path.startswith("/items")} >= {"/items/2/text"}
    assert "/items/2/text" in outcome.back()
    assert outcome.lost() | outcome.forgotten() | outcome.strange() == set()
    assert outcome.saved == {"storage/settings.json", "storage/todo/todos.json"}
