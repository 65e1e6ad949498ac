"""Shows the snippets of the elements' contracts as apps."""

import re
from collections.abc import Iterable

from playwright.sync_api import Page, expect

from ui_mcp.ui.elements import contracts

from .conftest import Server


def write(server: Server, tag: str) -> str:
    """Make an app of an element's snippet; return its name."""
    example = contracts()[tag]["example"]
    assert isinstance(example, dict)
    lua, html = ("\n".join(_lines(example[part])) for part in ("lua", "html"))
    kind = re.search(r'session:prototype\("(\w+)"', lua)
    assert kind is not None
    add(server, kind[1], lua, f'<section id="app"><h1 id="title">{tag}</h1>{html}</section>')
    return kind[1].lower()


def _lines(found: object) -> Iterable[str]:
    assert isinstance(found, list)
    return map(str, found)


def add(server: Server, kind: str, lua: str, html: str) -> None:
    """Write an app with one type, unless it is there."""
    folder = server.base / "apps" / kind.lower()
    if folder.exists():
        return
    (folder / "viewdefs").mkdir(parents=True)
    (folder / "app.lua").write_text(lua)
    (folder / "viewdefs" / f"{kind}.DEFAULT.html").write_text(f"<template>{html}</template>")


def show(server: Server, page: Page, tag: str) -> None:
    """Open the snippet of an element and wait until the element is there."""
    server.call("ui_display", name=write(server, tag))
    page.goto(server.url)
    ready(page, tag)


def ready(page: Page, tag: str) -> None:
    expect(page.locator("#title")).to_have_text(tag)
    page.wait_for_function("(tag) => customElements.get(tag) !== undefined", arg=tag)
    page.wait_for_function("(tag) => document.querySelector(tag).shadowRoot.childElementCount > 0", arg=tag)
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
