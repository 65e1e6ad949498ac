"""The apps our texts show, built from them word for word and used."""

import shutil
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest

from docs.blocks import ROOT, Block, block, blocks, together
from ui_mcp.testing.project import open_app
from ui_mcp.ui.audit import audit
from ui_mcp.ui.sessions.session import Session

GUIDES = "src/ui_mcp/bundle/base/resources"
SKILL = "src/ui_mcp/bundle/claude/skills/ui-builder"
EXAMPLE = ROOT / SKILL / "examples"

WriteApp = Callable[..., Path]


@pytest.fixture
def write_app(tmp_path: Path) -> WriteApp:
    def write(name: str, lua: str, **viewdefs: str) -> Path:
        folder = tmp_path / "source" / name
        (folder / "viewdefs").mkdir(parents=True)
        (folder / "app.lua").write_text(lua)
        for key, html in viewdefs.items():
            (folder / "viewdefs" / f"{key.replace('__', '.').replace('_', '-')}.html").write_text(html)
        return folder

    return write


@pytest.fixture
def contacts(tmp_path: Path) -> Path:
    return Path(shutil.copytree(EXAMPLE, tmp_path / "source" / "contacts"))


@pytest.mark.covers("UI-INST-7")
@together("run", *blocks("README.md", "lua", "html"))
async def test_the_small_app_of_the_readme_works(
    given: tuple[Block, Block], write_app: WriteApp, tmp_path: Path
) -> None:
    lua, html = given
    async with open_app(write_app("counter", lua.code, Counter__DEFAULT=html.code), tmp_path) as (session, browser):
        await browser.click("press()")
        await browser.click("press()")

        assert browser.value("clicks") == 2
        assert session.events.peek()[0] == {"app": "counter", "event": "pressed", "clicks": 1}


@pytest.mark.covers("UI-INST-7")
@together("run", *blocks(f"{GUIDES}/reference.md", "lua", "html"))
async def test_the_first_app_of_the_reference_works(
    given: tuple[Block, Block], write_app: WriteApp, tmp_path: Path
) -> None:
    lua, html = given
    assert (lua.file, html.file) == ("apps/hello/app.lua", "apps/hello/viewdefs/Hello.DEFAULT.html")
    async with open_app(write_app("hello", lua.code, Hello__DEFAULT=html.code), tmp_path) as (session, browser):
        await browser.type("name", "Ada")
        await browser.click("press()")

        assert browser.value("greeting()") == "Hello, Ada!"
        assert browser.value("clicks") == 1
        assert session.events.peek() == [{"app": "hello", "event": "pressed", "clicks": 1}]


@pytest.mark.covers("UI-INST-7")
@together("run", *blocks(f"{GUIDES}/lua.md"))
async def test_the_app_of_the_lua_guide_works_and_moves_its_data(
    given: tuple[Block, ...], write_app: WriteApp, tmp_path: Path
) -> None:
    lua, mutate, *_ = given
    page = block(f"{SKILL}/SKILL.md", "wrapper=lua.ViewList").code
    row = '<template><p><span ui-value="title"></span><b ui-value="due"></b></p></template>'
    app = write_app("notes", lua.code, Notes__DEFAULT=page, Note__list_item=row)
    async with open_app(app, tmp_path) as (_, browser):
        await browser.type("draft", "milk")
        await browser.click("add()")
        assert "milk" in browser.text

        declared = lua.code.replace("done = false,", 'done = false,\n    place = "",')
        (tmp_path / ".claude/ui/apps/notes/app.lua").write_text(declared + mutate.code)
        await browser.until(lambda: "someday" in browser.text)
        assert "milk" in browser.text


async def test_what_the_lua_guide_says_lasts_is_there_again(write_app: WriteApp, tmp_path: Path) -> None:
    page = '<template><div><button ui-action="add()">+</button><pre ui-value="csv()"></pre></div></template>'
    app = write_app("expenses", block(f"{GUIDES}/lua.md", "session:store").code, Expenses__DEFAULT=page)
    async with open_app(app, tmp_path) as (_, browser):
        await browser.click("add()")
        await browser.until(lambda: "Tea" in browser.text)

    async with open_app(app, tmp_path) as (_, browser):
        await browser.until(lambda: "Tea" in browser.text)


@together("run", *blocks(f"{SKILL}/SKILL.md"))
async def test_the_app_of_the_skill_works(given: tuple[Block, Block], write_app: WriteApp, tmp_path: Path) -> None:
    lua, html = given
    row = '<template><p><span ui-value="title"></span><button ui-action="toggle()">Done</button></p></template>'
    app = write_app("tasks", lua.code, Tasks__DEFAULT=html.code, Task__list_item=row)
    async with open_app(app, tmp_path) as (session, browser):
        assert "Nothing to do." in browser.text
        await browser.type("draft", "sleep")
        await browser.click("add()")
        await browser.click("toggle()")

        assert "sleep" in browser.text
        assert "Nothing to do." not in browser.text
        assert await session.run_lua("return tasks.items[1].done") == "true"
        assert audit(app.parent, "tasks")["violations"] == []


async def listen(session: Session) -> None:
    async with session.events.taken(30):
        pass


CONTACTS = """
Contact = session:prototype("Contact", { first = "Ada", email = "ada@example.com", kept = 0 })
function Contact:fullName() return self.first .. " Lovelace" end
function Contact:save() self.kept = self.kept + 1 end
function Contact:remove() app.contacts = {} end
Person = session:prototype("Person", { id = "", name = "" })
App = session:prototype("App", { items = EMPTY, contacts = EMPTY, people = EMPTY, ownerId = "", result = "" })
if not session.reloading then
    app = App:new({ items = {}, contacts = { Contact:new() }, people = { Person:new({ id = "p1", name = "Grace" }) } })
    app.detail = app.contacts[1]
end
"""


SHOP = """
function App:sort(by) self.sorted = by end
function App:remove(at) self.sold = self.items[at].name end
function App:openCount() return self.count or 0 end
function App:showOrders() self.shown = true end
"""


@together("run", *blocks(f"{GUIDES}/viewdefs.md"))
async def test_the_templates_of_the_guide_show_and_act(
    given: tuple[Block, ...], write_app: WriteApp, tmp_path: Path
) -> None:
    article, hidden, lua, table, listed, row, select, tile, used, sent = given
    shown, option = select.code.split("<!-- Person.option.html -->")
    parts = f'{hidden.code}{table.code}{listed.code}{shown}{used.code}{sent.code}<div ui-view="detail"></div>'
    app = write_app(
        "app", CONTACTS.replace("if not", f"{lua.code}{SHOP}if not", 1),
        App__DEFAULT=f"<template><div>{parts}</div></template>",
        Contact__DEFAULT=article.code, Contact__list_item=row.code, Person__option=option.strip(),
        stat_tile__component=tile.code,
    )  # fmt: skip
    async with open_app(app, tmp_path) as (session, browser):
        assert browser.text.count("Ada Lovelace") == 2
        assert "Nothing here yet." in browser.text
        assert "Grace" in browser.text
        await browser.type("email", "a@example.org")
        await browser.click("save()")
        await browser.type("ownerId", "p1")
        await browser.type("result", "sent")
        assert await session.run_lua("local c = app.detail return {c.email, c.kept, app.ownerId, app.result}") == (
            '["a@example.org",1,"p1","sent"]'
        )
        await browser.click("remove()")
        assert "Nothing to sell." in browser.text
        await session.run_lua("app.count, app.items = 1, {{name = 'pear', price = 3}}")
        browser.catch_up()
        assert {"pear", "3"} <= set(browser.text.split())
        assert "Nothing" not in browser.text
        await browser.click("sort('date')")
        await browser.click("..remove(index)", view=browser.rows("items")[0])
        await browser.click("showOrders()")
        assert "Open orders today" in browser.text
        assert await session.run_lua("return {app.sorted, app.sold, app.shown}") == '["date","pear",true]'
        assert await session.run_lua("return app:canSave()") == "true"
        assert browser.page.errors == []


@together("run", *blocks("docs/howto/form.md"))
async def test_the_form_says_what_is_wrong_and_sends_when_it_is_right(
    given: tuple[Block, Block], write_app: WriteApp, tmp_path: Path
) -> None:
    lua, html = given
    async with open_app(write_app("signup", lua.code, Signup__DEFAULT=html.code), tmp_path) as (session, browser):
        assert browser.value("hint()") == ""
        await browser.type("email", "ada")
        assert "@" in str(browser.value("hint()"))
        await browser.type("email", "ada@example.com")
        await browser.type("age", "36")
        assert browser.value("hint()") == ""
        await browser.click("send()")
        assert session.events.peek() == [{"app": "signup", "event": "sent", "email": "ada@example.com", "age": 36}]


@together("run", *blocks("docs/howto/list.md"))
async def test_the_long_list_shows_a_window_of_its_rows(
    given: tuple[Block, ...], write_app: WriteApp, tmp_path: Path
) -> None:
    lua, html, row = given
    app = write_app("log", lua.code, Log__DEFAULT=html.code, LogLine__DEFAULT=row.code)
    async with open_app(app, tmp_path) as (_, browser):
        assert 0 < len(browser.rows("lines")) <= 80
        assert browser.text.count("line 1 ") <= 1
        assert "line 1" in browser.text


POLL = "if not session.reloading then poll = Poll:new() end"


@together("run", *blocks("docs/howto/talk.md", "lua", "html"))
async def test_the_agent_speaks_to_the_app_which_shows_that_somebody_listens(
    given: tuple[Block, ...], write_app: WriteApp, tmp_path: Path
) -> None:
    said, listens, html = given
    lua = f'Poll = session:prototype("Poll", {{ title = "" }})\n{listens.code}{POLL}'
    async with open_app(write_app("poll", lua, Poll__DEFAULT=html.code), tmp_path) as (session, browser):
        await session.run_lua(said.code)
        assert await session.run_lua("return poll.title") == '"Thank you"'
        assert "listening" not in browser.text
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen, session)
            await browser.until(lambda: "listening" in browser.text)
            tasks.cancel_scope.cancel()


@pytest.mark.covers("UI-INST-1", "UI-INST-7")
async def test_the_contacts_example_can_be_searched_edited_and_talked_to(contacts: Path, tmp_path: Path) -> None:
    async with open_app(contacts, tmp_path) as (session, browser):
        assert [name in browser.text for name in ("Ada Lovelace", "Alan Turing", "Grace Hopper")] == [True] * 3

        await browser.type("search", "example.org")
        assert "Ada Lovelace" not in browser.text
        await browser.click("choose()")
        await browser.type("selected.firstName", "Amazing Grace")
        assert "Amazing Grace Hopper" in browser.text

        await browser.type("draft", "who is she?")
        await browser.click("send()")
        assert session.events.peek() == [{"app": "contacts", "event": "chat", "text": "who is she?"}]

        await session.run_lua('contacts:addAgentMessage("A computer scientist.")')
        browser.catch_up()
        assert "A computer scientist." in browser.text
        assert browser.page.errors == []


async def test_the_contacts_example_adds_and_removes(contacts: Path, tmp_path: Path) -> None:
    async with open_app(contacts, tmp_path) as (session, browser):
        await browser.click("addContact()")
        assert "New contact" in browser.text

        await browser.click("toggleFavourite()")
        await browser.click("removeSelected()")

        assert "New contact" not in browser.text
        assert session.events.peek() == [{"app": "contacts", "event": "removed", "name": "New contact"}]


@pytest.mark.covers("UI-HOT-10")
def test_the_audit_has_nothing_to_say_about_the_example(contacts: Path) -> None:
    found = audit(contacts.parent, "contacts")

    assert (found["violations"], [one["rule"] for one in found["warnings"]]) == ([], ["external_method"])


@together("compared", *blocks(f"{SKILL}/examples/design.md"))
def test_the_sketch_of_the_example_names_what_its_page_has(given: tuple[Block]) -> None:
    [sketch] = given
    page = (EXAMPLE / "viewdefs/ContactApp.DEFAULT.html").read_text()

    for label in ("First name", "Last name", "Email", "Remove", "Add", "Send"):
        assert label in sketch.code
        assert label in page
