"""The tutorial is followed word for word: a server in one terminal, a page, and the shell's listener in another."""

import json
import subprocess
from functools import partial
from pathlib import Path

import anyio
import pytest

from docs.blocks import Block, block, blocks, together
from docs.terminal import Terminal
from integration.lineclient import LineClient
from introspection.demos import needs
from ui_mcp.testing.browser import Browser, open_socket


def write(block: Block, project: Path) -> None:
    """Save a file the text names."""
    assert block.file is not None
    file = project / block.file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(block.code)


async def choose(browser: Browser, title: str) -> None:
    """Open the menu of the page, again if the list in it is a second old, and take an app from it."""
    with anyio.fail_after(120):
        while browser.value("shellTitle()") != title:
            listed = title in page_text(browser)
            await browser.click("open()" if listed else "toggleMenu()")  # an entry that is taken away hears no click
            with anyio.move_on_after(1):
                await browser.until(partial(moved, browser, title, listed))


def page_text(browser: Browser) -> str:
    assert browser.page.root is not None
    return browser.page.root.text


def moved(browser: Browser, title: str, listed: bool) -> bool:
    """Whether the app is open, or its entry has come or gone."""
    return browser.value("shellTitle()") == title or (title in page_text(browser)) != listed


@pytest.mark.covers("DOC-RUN-1")
@together("run", *blocks("docs/tutorial.md"))
async def test_the_tutorial_works_word_for_word(given: tuple[Block, ...], terminal: Terminal) -> None:
    start, small, view, lua, list_view, row, told, listen = given
    enter, serve = start.commands
    terminal.run(enter)
    project = terminal.folder
    with terminal.serving(serve) as (ui, *_):
        async with open_socket(f"{ui}/") as browser:
            assert "None yet" in page_text(browser)
            write(small, project)
            write(view, project)
            await choose(browser, "Groceries")
            await browser.until(lambda: browser.value("title") == "Groceries")

            for saved in (lua, list_view, row):
                write(saved, project)
            await browser.until(lambda: browser.value("left()") == 0)
            for count, name in enumerate(("milk", "bread"), 1):
                await browser.type("typed", name)
                await browser.click("add()")
                await browser.until(lambda: len(browser.rows("items")) == count)  # noqa: B023 - asked at once
            await browser.type("done", True, view=browser.rows("items")[0])
            await browser.until(lambda: browser.value("left()") == 1)

            write(told, project)
            with terminal.going(*listen.commands) as second:
                heard = await said_after_adding("eggs", browser, second)
            assert heard == [{"app": "groceries", "event": "added", "name": "eggs"}]
            assert {"milk", "bread"} <= set(browser.text.split())


async def said_after_adding(name: str, browser: Browser, listener: "subprocess.Popen[str]") -> object:
    """Add something until the listener has heard of it: it says nothing when it has begun to wait."""
    output = listener.stdout
    assert output is not None
    heard: list[str] = []

    async def read() -> None:
        heard.append(await anyio.to_thread.run_sync(output.readline))
        tasks.cancel_scope.cancel()

    with anyio.fail_after(120):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)
            while True:
                await browser.type("typed", name)
                await browser.click("add()")
                await anyio.sleep(0.2)
    return json.loads(heard[0])[:1]


@pytest.mark.slow
@together("run", block("docs/howto/look.md", '"steps"'))
def test_the_scenario_passes_on_the_tutorials_app(given: tuple[Block], tmp_path: Path) -> None:
    needs("chromium")
    for saved in blocks("docs/tutorial.md"):
        if saved.file:
            write(saved, tmp_path)
    with LineClient(cwd=tmp_path) as agent:
        agent.call("ui_start")

        assert agent.call("ui_test", **json.loads(given[0].code)) == {"ok": True, "steps": 3}
