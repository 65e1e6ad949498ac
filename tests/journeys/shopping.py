"""A shopping list, an app without a line about undo."""

LUA = """\
Shopping = session:prototype("Shopping", { items = EMPTY })
Item = session:prototype("Item", { name = "" })

function Shopping:add(name)
    table.insert(self.items, Item:new({ name = name, list = self }))
    session:label("Add " .. name)
end

function Shopping:addMilk() self:add("milk") end
function Shopping:addBread() self:add("bread") end
function Shopping:addTea() self:add("tea") end

function Item:delete()
    for i, item in ipairs(self.list.items) do
        if item == self then table.remove(self.list.items, i) end
    end
    session:label("Delete " .. self.name)
end

if not session.reloading then shopping = Shopping:new({ items = {} }) end
"""
VIEW = """\
<template>
  <h2>What do we need?</h2>
  <p>
    <sl-button id="milk" ui-action="addMilk()">Milk</sl-button>
    <sl-button id="bread" ui-action="addBread()">Bread</sl-button>
    <sl-button id="tea" ui-action="addTea()">Tea</sl-button>
  </p>
  <div ui-viewlist="items"></div>
</template>
"""
ROW = """\
<template>
  <p class="item">
    <b ui-value="name"></b>
    <sl-button class="delete" size="small" ui-action="delete()">Delete</sl-button>
  </p>
</template>
"""
FILES = (
    ("app.lua", "lua", LUA),
    ("viewdefs/Shopping.DEFAULT.html", "html", VIEW),
    ("viewdefs/Item.list-item.html", "html", ROW),
)
