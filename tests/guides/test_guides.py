"""The apps our texts show, built from them word for word and used."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from ui_mcp.session.audit.app_audit import audit
from ui_mcp.testing.project import open_app
from ui_mcp.workspace import BUNDLE

ROOT = Path(__file__).parents[2]
GUIDES = BUNDLE / "base" / "resources"
EXAMPLE = BUNDLE / "claude" / "skills" / "ui-builder" / "examples"

WriteApp = Callable[..., Path]


def code(file: Path, language: str, holding: str) -> str:
    """Return the code block of a text that holds the given words."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```", file.read_text(), re.MULTILINE | re.DOTALL)
    [found] = [block for block in blocks if holding in block]
    return str(found)


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
async def test_the_first_app_of_the_reference_works(write_app: WriteApp, tmp_path: Path) -> None:
    reference = GUIDES / "reference.md"
    app = write_app("hello", code(reference, "lua", "Hello ="), Hello__DEFAULT=code(reference, "html", "Press me"))

    async with open_app(app, tmp_path) as (session, browser):
        await browser.type("name", "Ada")
        await browser.click("press()")

        assert browser.value("greeting()") == "Hello, Ada!"
        assert browser.value("clicks") == 1
        assert session.events.peek() == [{"app": "hello", "event": "pressed", "clicks": 1}]


@pytest.mark.covers("UI-INST-7")
async def test_the_small_app_of_the_readme_works(write_app: WriteApp, tmp_path: Path) -> None:
    readme = ROOT / "README.md"
    app = write_app("counter", code(readme, "lua", "Counter ="), Counter__DEFAULT=code(readme, "html", "press()"))

    async with open_app(app, tmp_path) as (_, browser):
        await browser.click("press()")
        await browser.click("press()")

        assert browser.value("clicks") == 2


@pytest.mark.covers("UI-INST-7")
async def test_the_app_of_the_lua_guide_works(write_app: WriteApp, tmp_path: Path) -> None:
    skill = BUNDLE / "claude" / "skills" / "ui-builder" / "SKILL.md"
    page = code(skill, "html", "wrapper=lua.ViewList")
    row = '<template><p><span ui-value="title"></span><button ui-action="toggle()"></button></p></template>'
    app = write_app("notes", code(GUIDES / "lua.md", "lua", "Notes ="), Notes__DEFAULT=page, Note__list_item=row)

    async with open_app(app, tmp_path) as (_, browser):
        for title in ("milk", "bread"):
            await browser.type("draft", title)
            await browser.click("add()")

        assert "milk" in browser.text
        assert "bread" in browser.text
        assert browser.value("draft") == ""


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
