"""`ui_checkpoint` keeps and restores files together with the state."""

import pytest

from ui_mcp.jsontypes import Json
from ui_mcp.toolkit.functions import FunctionToolset
from ui_mcp.toolkit.tool import Call, Text
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.states import Running
from ui_mcp.ui.tools.checkpoint import checkpoint

APP = """
local Item = session:prototype("Item", { name = "" })
MyList = session:prototype("MyList", { items = EMPTY, color = "red" })
function MyList:add(name) table.insert(self.items, Item:new({ name = name, list = self })) end
if not session.reloading then myList = MyList:new({ items = {} }) end
"""
SHOWN = """
local names = {}
for i, item in ipairs(myList.items) do
  names[i] = item.name .. (item.list == myList and getmetatable(item).type or "?")
end
return table.concat(names, " ") .. " " .. myList.color .. " " .. tostring(mcp.value == myList)
"""

pytestmark = [pytest.mark.anyio, pytest.mark.covers("STATE-7")]


async def call(host: UiServer, **arguments: Json) -> str:
    [text] = (await FunctionToolset(host, [checkpoint]).call("ui_checkpoint", arguments, Call())).content
    assert isinstance(text, Text)
    return text.text


async def test_files_and_state_go_back_together_and_return(host: UiServer, running: Running) -> None:
    folder = running.workspace.apps / "my-list"
    folder.mkdir(parents=True)
    (folder / "app.lua").write_text(APP)
    session = running.sessions.get("1")
    await session.display("my-list")
    await session.run_lua("myList:add('a'); myList:add('b'); other = { n = 1 }")
    assert await call(host, action="save", app="my-list", message="two") == "Saved checkpoint: two"
    assert await call(host, action="save", app="my-list", message="again") == "No changes to checkpoint"
    await session.run_lua("myList:add('c'); other.n = 2")
    async with running.sessions.writing() as load:
        (folder / "app.lua").write_text(APP.replace('"red"', '"blue"'))
        await load([folder / "app.lua"])
    assert await session.run_lua(SHOWN) == '"aItem bItem cItem blue true"'

    said = await call(host, action="rollback", app="my-list", number=1)
    assert (said, await session.run_lua(SHOWN)) == (
        "Rolled back to checkpoint: two, with its state", '"aItem bItem red true"'
    )  # fmt: skip
    assert (folder / "app.lua").read_text() == APP
    assert await session.run_lua("return other.n") == "2"

    assert await call(host, action="rollback", app="my-list") == "Undid the last rollback, with its state"
    assert await session.run_lua(SHOWN) == '"aItem bItem cItem blue true"'
