"""Elements that show texts and data, in a real browser: they follow Lua, and Lua hears of what is done to them."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from . import gallery
from .conftest import Server
from .test_form_elements import lua

pytestmark = pytest.mark.slow


@pytest.mark.covers("UI-ELEM-7")
def test_markdown_follows_its_text(shelf: Server, page: Page) -> None:
    gallery.show(shelf, page, "ui-markdown")
    expect(page.get_by_role("heading", name="Plan")).to_be_visible()
    page.get_by_label("Text").fill("## Other\n\n<b>bold</b>")
    expect(page.locator("ui-markdown h2")).to_have_text("Other")
    expect(page.locator("ui-markdown p")).to_have_text("<b>bold</b>")


@pytest.mark.covers("UI-ELEM-7")
def test_a_log_follows_its_end_only_while_the_reader_is_there(shelf: Server, page: Page) -> None:
    gallery.show(shelf, page, "ui-log")
    expect(page.locator("ui-log .bold")).to_have_text("error")
    lua(shelf, "for i = 1, 300 do table.insert(build.lines, 'line ' .. i) end")
    body = page.get_by_role("log", name="Build")
    expect(body.locator(".line").last).to_have_text("line 300")
    expect(body.locator(".line").last).to_be_in_viewport()
    body.press("Home")
    expect(page.get_by_role("button", name="↓ End")).to_be_visible()
    lua(shelf, "table.insert(build.lines, 'late')")
    expect(page.get_by_role("button", name="↓ 1 new")).to_be_visible()
    expect(body.locator(".line").first).to_be_in_viewport()
    page.get_by_role("button", name="↓ 1 new").press("Enter")
    expect(body.locator(".line").last).to_be_in_viewport()

    command = page.get_by_label("Command for Build")
    command.fill("make")
    command.press("Enter")
    expect(body.locator(".line").last).to_have_text("$ make")
    command.press("ArrowUp")
    expect(command).to_have_value("make")
    page.get_by_label("Filter lines").fill("line 29")
    expect(body.locator(".line")).to_have_count(11)
    with page.expect_download() as saved:
        page.get_by_label("Download").click()
    assert Path(saved.value.path()).read_text().startswith("ok compiled\nerror in main.c\nline 1\n")


@pytest.mark.covers("UI-ELEM-7")
def test_a_long_log_is_whole_above_the_end_that_is_drawn_first(shelf: Server, page: Page) -> None:
    gallery.write(shelf, "ui-log")
    page.goto(f"{shelf.url}/app/build")
    lua(shelf, "build.lines = {} for i = 1, 3210 do build.lines[i] = 'line ' .. i .. (i == 7 and ' \\27[1m' or '') end")
    page.reload()
    body = page.get_by_role("log", name="Build")
    expect(body.locator(".line")).to_have_count(3210)
    assert body.evaluate(
        "(body) => [...body.querySelectorAll('.line')].every((row, at) => row.textContent.trim() == `line ${at + 1}`)"
    )
    expect(body.locator(".bold")).to_have_count(3203)
    expect(body).to_have_attribute("aria-busy", "false")
    expect(body.locator(".line").last).to_be_in_viewport()

    lua(shelf, "for i = 1, 40 do table.remove(build.lines, 1) build.lines[3210] = 'line ' .. 3210 + i end")
    expect(body.locator(".line").last).to_have_text("line 3250")
    expect(body.locator(".line").first).to_have_text("line 41")


@pytest.mark.covers("UI-ELEM-7")
def test_code_is_edited_with_colours_and_saved(shelf: Server, page: Page) -> None:
    gallery.show(shelf, page, "ui-editor")
    editor = page.get_by_role("textbox", name="Script")
    expect(editor).to_contain_text("print(1 + 1)")
    editor.click()
    page.keyboard.press("Control+End")
    page.keyboard.type("return 'x'")
    page.keyboard.press("Control+s")
    expect(page.locator("#app b").last).to_have_text("1")
    assert lua(shelf, "return script.code") == "print(1 + 1)\nreturn 'x'"
    lua(shelf, "script.code = 'local y = 2'")
    page.locator("#title").click()
    expect(editor).to_have_text("local y = 2")
    page.evaluate("document.querySelector('ui-editor').setAttribute('language', 'python')")
    lua(shelf, "script.code = 'def f(): pass'")
    colour = "() => document.querySelector('ui-editor').shadowRoot.querySelectorAll('.cm-line span').length > 0"
    page.wait_for_function(colour)


@pytest.mark.covers("UI-ELEM-7")
def test_a_diff_names_its_lines_and_folds_the_rest(shelf: Server, page: Page) -> None:
    gallery.show(shelf, page, "ui-diff")
    expect(page.locator("ui-diff .summary")).to_have_text("notes.txt: 2 added, 1 removed")
    page.get_by_label("Line 4 of the new text").press("Enter")
    expect(page.locator("#app > p")).to_have_text("new line 4")
    lua(shelf, "change.before = ('same\\n'):rep(40) change.after = change.before .. 'end\\n'")
    page.get_by_role("button", name="Show 37 unchanged lines").press("Enter")
    expect(page.locator("ui-diff tr")).to_have_count(41)
    page.evaluate("document.querySelector('ui-diff').setAttribute('split', '')")
    expect(page.locator("ui-diff td.none")).to_have_count(1)


@pytest.mark.covers("UI-ELEM-7")
def test_data_and_trees_are_walked_by_keyboard(shelf: Server, page: Page) -> None:
    gallery.show(shelf, page, "ui-json")
    page.get_by_role("treeitem", name="answer: {3}").press("ArrowDown")
    for key in ("ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    expect(page.get_by_role("treeitem", name="id: 1")).to_be_visible()

    gallery.show(shelf, page, "ui-tree")
    page.get_by_role("treeitem", name="src").press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#app b")).to_have_text("main.lua")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    expect(page.get_by_role("treeitem", name="src")).to_have_attribute("aria-expanded", "false")
    assert lua(shelf, "return folder.files[1].open") is False
    lua(shelf, "table.insert(folder.files, { name = 'new.txt' })")
    page.keyboard.type("ne")
    expect(page.get_by_role("treeitem", name="new.txt")).to_be_focused()


@pytest.mark.covers("UI-ELEM-8")
def test_cards_move_by_keyboard_and_by_pointer(shelf: Server, page: Page) -> None:
    gallery.show(shelf, page, "ui-board")
    page.get_by_role("button", name="Write").focus()
    for key in ("Space", "ArrowRight", "ArrowRight", "Space"):
        page.keyboard.press(key)
    expect(page.locator("#app > p")).to_have_text("Write is done")
    expect(page.get_by_role("region", name="Done").locator(".card")).to_have_text(["⠿Write"])
    page.keyboard.press("Space")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Escape")
    assert lua(shelf, "return tasks.cards[#tasks.cards].status") == "done"

    card, target = page.get_by_role("button", name="Read"), page.get_by_role("region", name="To do")
    box, end = card.bounding_box(), target.bounding_box()
    assert box
    assert end
    page.mouse.move(box["x"] + 20, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(end["x"] + 40, end["y"] + 60, steps=5)
    page.mouse.up()
    expect(page.locator("#app > p")).to_have_text("Read is todo")
    lua(shelf, "tasks.cards[2].status = 'done'")
    expect(page.get_by_role("region", name="Done").locator(".card")).to_have_count(2)


@pytest.mark.covers("UI-ELEM-8")
def test_a_list_is_sorted_by_keyboard(shelf: Server, page: Page) -> None:
    gallery.show(shelf, page, "ui-sortable")
    page.get_by_role("button", name="Outro").focus()
    for key in ("Space", "ArrowUp", "ArrowUp", "Space"):
        page.keyboard.press(key)
    expect(page.locator("#app > p")).to_have_text("Outro, Intro, Verse")
    lua(shelf, "table.insert(playlist.songs, 'Encore')")
    expect(page.locator("ui-sortable .card")).to_have_count(4)


@pytest.mark.covers("UI-ELEM-8")
def test_entries_of_a_calendar_are_read_and_moved(shelf: Server, page: Page) -> None:
    gallery.show(shelf, page, "ui-calendar")
    page.get_by_role("button", name="09:00 Launch").press("Alt+ArrowRight")
    expect(page.locator("#app > p")).to_have_text("Launch on 2026-03-11")
    expect(page.get_by_role("button", name="09:00 Launch")).to_be_focused()
    page.get_by_role("gridcell", name="Wednesday, March 18, 2026 Fair").click()
    page.get_by_role("button", name="Fair").press("Alt+ArrowDown")
    expect(page.locator("#app > p")).to_have_text("Fair on 2026-03-24")
    assert lua(shelf, "return plan.entries[3].to") == "2026-03-26"
    page.locator("ui-calendar .entry", has_text="Launch").drag_to(page.locator("[data-date='2026-03-02']"))
    expect(page.locator("#app > p")).to_have_text("Launch on 2026-03-02")


@pytest.mark.covers("UI-ELEM-8")
def test_toasts_can_be_undone_and_dismissed(shelf: Server, page: Page) -> None:
    gallery.show(shelf, page, "ui-toast")
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#app b")).to_have_text("1")
    page.get_by_role("button", name="Undo").press("Enter")
    expect(page.locator("#app b")).to_have_text("0")
    expect(page.locator("ui-toast .toast")).to_have_count(0)
    lua(shelf, "table.insert(mailer.messages, { text = 'It failed', level = 'error' })")
    expect(page.get_by_role("alert")).to_contain_text("It failed")
    page.get_by_role("button", name="Dismiss").click()
    expect(page.locator("ui-toast .toast")).to_have_count(0)
    assert lua(shelf, "return #mailer.messages") == 0


@pytest.mark.covers("UI-ELEM-8")
def test_regions_of_a_picture_are_drawn_moved_and_removed(shelf: Server, page: Page) -> None:
    gallery.show(shelf, page, "ui-image")
    page.get_by_role("button", name="Sun").press("ArrowRight")
    expect(page.get_by_role("button", name="Sun, at 63 %, 12 %")).to_be_focused()
    page.keyboard.press("Shift+ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#app b")).to_have_text("Sun")
    assert lua(shelf, "return { photo.regions[1].x, photo.regions[1].h }") == [63, 35]
    area = page.locator("ui-image .area").bounding_box()
    assert area
    page.mouse.move(area["x"] + 20, area["y"] + 20)
    page.mouse.down()
    page.mouse.move(area["x"] + 120, area["y"] + 120, steps=4)
    page.mouse.up()
    expect(page.locator("ui-image .region")).to_have_count(2)
    page.get_by_role("button", name="New region").press("Delete")
    expect(page.locator("ui-image .region")).to_have_count(1)


@pytest.mark.covers("UI-ELEM-7")
def test_a_diagram_is_drawn_and_a_mistake_is_told(shelf: Server, page: Page) -> None:
    gallery.show(shelf, page, "ui-mermaid")
    expect(page.locator("ui-mermaid svg")).to_contain_text("In stock?")
    lua(shelf, "flow.text = 'flowchart LR\\n A --> '")
    expect(page.get_by_role("alert")).to_contain_text("Parse error")
    lua(shelf, "flow.text = 'sequenceDiagram\\n Ada->>Alan: Hello'")
    expect(page.locator("ui-mermaid svg")).to_contain_text("Hello")
    expect(page.get_by_role("alert")).to_be_hidden()


@pytest.mark.covers("UI-ELEM-8")
def test_places_of_a_map_are_chosen_and_the_map_moves(shelf: Server, page: Page) -> None:
    gallery.show(shelf, page, "ui-map")
    page.get_by_role("button", name="Berlin").press("Enter")
    expect(page.locator("#app b")).to_have_text("Berlin")
    before = page.locator("ui-map circle").first.get_attribute("cx")
    page.get_by_role("group", name="Stops, 3 features").press("+")
    expect(page.locator("ui-map circle").first).not_to_have_attribute("cx", before or "")
    page.get_by_role("button", name="All").click()
    expect(page.locator("ui-map circle").first).to_have_attribute("cx", before or "")
    line = '{"type":"Feature","properties":{"name":"Way"},"geometry":{"type":"LineString","coordinates":[[0,0],[9,9]]}}'
    lua(shelf, f"trip.stops = '{line}'")
    expect(page.locator("ui-map path.line")).to_have_count(1)


@pytest.mark.covers("UI-ELEM-8")
def test_a_command_is_found_and_run(shelf: Server, page: Page) -> None:
    gallery.show(shelf, page, "ui-palette")
    page.keyboard.press("Control+k")
    page.keyboard.type("clo")
    expect(page.locator("ui-palette [role=option]")).to_have_text(["Close shop"])
    page.keyboard.press("Enter")
    expect(page.locator("#app > p")).to_have_text("Closed")
    expect(page.get_by_role("dialog")).to_be_hidden()
