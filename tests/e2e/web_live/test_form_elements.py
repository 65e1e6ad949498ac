"""The form elements in a real browser, each by keyboard: values go both ways, and what is wrong is said."""

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from . import gallery
from .conftest import Server
from .test_pages import accessible

pytestmark = pytest.mark.slow


def lua(server: Server, code: str) -> object:
    return server.call("ui_run", code=code)


def chips(page: Page, *texts: str) -> None:
    expect(page.locator(".chip")).to_have_text([f"{text}\u00d7" for text in texts])


@pytest.mark.covers("UI-ELEM-4")
def test_files_arrive_below_the_apps_storage_and_go_back(shelf: Server, page: Page, tmp_path: Path) -> None:
    gallery.show(shelf, page, "ui-upload")
    large = tmp_path / "large.txt"
    large.write_bytes(bytes(range(32, 127)) * 8000)
    with page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Receipts Choose files").press("Enter")
    chooser.value.set_files([large])
    expect(page.locator("#app > p")).to_have_text("large.txt has 760000 bytes")
    stored = Path(str(lua(shelf, "return receipts.files[1].path")))
    assert stored == shelf.base / "storage" / "receipts" / "uploads" / "large.txt"
    assert stored.read_bytes() == large.read_bytes()

    page.locator("ui-upload input").set_input_files([large])
    expect(page.get_by_label("Remove large.txt")).to_have_count(2)
    assert {file.name for file in stored.parent.iterdir()} == {"large.txt", "large (2).txt"}
    page.get_by_label("Remove large.txt").last.click()
    expect(page.locator("ui-upload li")).to_have_count(1)
    assert [file.name for file in stored.parent.iterdir()] == ["large.txt"]

    with page.expect_download() as saved:
        page.get_by_role("button", name="Download the list").click()
    assert saved.value.suggested_filename == "receipts.txt"
    assert Path(saved.value.path()).read_text() == "large.txt"


@pytest.mark.covers("UI-ELEM-4")
def test_a_file_beyond_the_limits_is_refused_by_name_and_nothing_stored(
    shelf: Server, page: Page, tmp_path: Path
) -> None:
    gallery.show(shelf, page, "ui-upload")
    page.evaluate("document.querySelector('ui-upload').setAttribute('max-size', '1 KB')")
    wrong, large = tmp_path / "program.exe", tmp_path / "large.csv"
    wrong.write_bytes(b"x")
    large.write_bytes(b"x" * 2000)
    page.locator("ui-upload input").set_input_files([wrong, large])
    expect(page.locator("ui-upload .refused")).to_have_text(
        ["This kind of file is not taken; .csv,.txt,.pdf,image/* is.", "It has 2 KB; the most is 1 KB."]
    )
    accessible(page)
    assert not list((shelf.base / "storage").glob("receipts/uploads/program*"))
    assert not list((shelf.base / "storage").glob("receipts/uploads/large.csv*"))


@pytest.mark.covers("UI-ELEM-4")
@pytest.mark.parametrize("css", ["ui-upload", ".choose", ".box"])
def test_an_agent_gives_files_to_the_element_its_button_or_its_drop_zone(
    shelf: Server, tmp_path: Path, css: str
) -> None:
    shelf.call("ui_display", name=gallery.write(shelf, "ui-upload"))
    sent = tmp_path / f"{css.removeprefix('.')}.txt"
    sent.write_text("12345")
    shelf.call("ui_wait_for", target="browser", selector={"css": ".choose"})
    give = {"type": "setFiles", "target": {"css": css}, "paths": [str(sent)]}
    done = shelf.call("ui_perform", target="browser", actions=[give])
    note = f"{sent.name} has 5 bytes"
    assert note in str(shelf.call("ui_wait_for", target="browser", selector={"text": note})), done


@pytest.mark.covers("UI-ELEM-4")
def test_a_file_of_the_app_is_offered_whole(shelf: Server, page: Page) -> None:
    data = bytes(range(256))
    gallery.add(
        shelf,
        "Files",
        'Files = session:prototype("Files", {})\n'
        'function Files:give() assert(session:downloadFile(mcp.status().base_dir .. "/storage/files/a.bin")) end\n'
        "files = Files:new()",
        '<button id="title" ui-action="give()">Give</button>',
    )
    (shelf.base / "storage" / "files").mkdir(parents=True)
    (shelf.base / "storage" / "files" / "a.bin").write_bytes(data)
    shelf.call("ui_display", name="files")
    page.goto(shelf.url)
    with page.expect_download() as saved:
        page.locator("#title").click()
    assert saved.value.suggested_filename == "a.bin"
    assert Path(saved.value.path()).read_bytes() == data
    assert "offered by an action" in str(lua(shelf, "return select(2, pcall(session.download, session, 'a', 'b'))"))


@pytest.mark.covers("UI-ELEM-5")
def test_a_date_is_typed_or_chosen_and_wrong_ones_are_told(shelf: Server, page: Page) -> None:
    gallery.show(shelf, page, "ui-date")
    day = page.get_by_role("textbox", name="Day")
    expect(day).to_have_value("Mar 1, 2026")
    day.fill("3/14/26")
    day.press("Enter")
    expect(day).to_have_value("Mar 14, 2026")
    assert lua(shelf, "return booking.day") == "2026-03-14"
    day.press("ArrowDown")
    expect(page.get_by_role("gridcell", name="Saturday, March 14, 2026")).to_be_focused()
    accessible(page)
    for key in ("ArrowRight", "ArrowDown", "PageDown", "Enter"):
        page.keyboard.press(key)
    expect(day).to_have_value("Apr 22, 2026")
    expect(day).to_be_focused()
    lua(shelf, "booking.day = '2030-01-02'")
    expect(day).to_have_value("Jan 2, 2030")
    day.fill("someday")
    day.press("Tab")
    expect(page.get_by_role("alert").first).to_have_text("Write a date, like 2026-03-01.")
    assert lua(shelf, "return booking.day") == "2030-01-02"


@pytest.mark.covers("UI-ELEM-5")
def test_a_range_of_dates_is_chosen_in_two_steps_within_its_limits(shelf: Server, page: Page) -> None:
    gallery.show(shelf, page, "ui-date")
    stay = page.get_by_role("textbox", name="Stay")
    stay.fill("2026-03-05 to 2026-03-01")
    stay.press("Enter")
    expect(page.locator("#app > p")).to_have_text("From 2026-03-01 to 2026-03-05")
    stay.press("ArrowDown")
    for key in ("Enter", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("#app > p")).to_have_text("From 2026-03-01 to 2026-03-08")
    stay.fill("2025-12-30 to 2026-01-02")
    stay.press("Tab")
    expect(page.get_by_role("alert").last).to_have_text("Not before Jan 1, 2026.")


@pytest.mark.covers("UI-ELEM-5")
def test_a_time_is_typed_or_chosen(shelf: Server, page: Page) -> None:
    gallery.show(shelf, page, "ui-time")
    starts = page.get_by_role("combobox", name="Starts")
    starts.fill("2pm")
    starts.press("Tab")
    expect(page.locator("#app b")).to_have_text("14:00")
    starts.press("ArrowDown")
    expect(page.get_by_role("option", name="14:00")).to_have_attribute("aria-selected", "true")
    starts.press("ArrowDown")
    starts.press("Enter")
    expect(page.locator("#app b")).to_have_text("14:15")
    starts.fill("7")
    starts.press("Tab")
    expect(page.get_by_role("alert")).to_have_text("Not before 08:00.")


@pytest.mark.covers("UI-ELEM-6")
def test_a_text_is_typed_checked_and_sent_and_lua_says_what_is_wrong(shelf: Server, page: Page) -> None:
    gallery.show(shelf, page, "ui-text")
    name, mail = page.get_by_role("textbox", name="Name"), page.get_by_role("textbox", name="E-mail")
    name.fill("admin")
    name.press("Enter")
    expect(page.get_by_role("alert").first).to_have_text("This name is taken.")
    expect(name).to_have_attribute("aria-invalid", "true")
    accessible(page)
    name.fill("Ada")
    mail.fill("ada")
    mail.press("Tab")
    expect(page.get_by_role("alert").last).to_have_text("Write an address like name@example.org.")
    mail.fill("ada@example.org")
    expect(page.get_by_text("Write an address")).to_be_hidden()
    about = page.get_by_role("textbox", name="About you")
    about.press_sequentially("one")
    about.press("Enter")
    about.press_sequentially("two")
    about.press("Control+Enter")
    expect(page.locator("#app > p")).to_have_text("Welcome, Ada!")
    assert lua(shelf, "return account.mail .. ' ' .. account.about") == "ada@example.org one\ntwo"
    lua(shelf, "account.name = 'Grace'")
    expect(name).to_have_value("Grace")
    name.fill("G")
    name.press("Escape")
    expect(name).to_have_value("Grace")


@pytest.mark.covers("UI-ELEM-6")
def test_a_password_is_hidden_until_it_is_shown_and_every_key_may_be_sent(shelf: Server, page: Page) -> None:
    gallery.show(shelf, page, "ui-text")
    secret = page.get_by_label("Password", exact=True)
    expect(secret).to_have_attribute("type", "password")
    secret.press_sequentially("short")
    page.get_by_role("button", name="Show password").press("Enter")
    expect(secret).to_have_attribute("type", "text")
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_role("alert").last).to_have_text("At least 8 characters; there are 5.")

    gallery.add(
        shelf,
        "Typed",
        'Typed = session:prototype("Typed", { text = "" })\ntyped = Typed:new()',
        '<ui-text label="Text" ui-value="text?keypress"></ui-text><p id="as" ui-value="text"></p>',
    )
    shelf.call("ui_display", name="typed")
    page.get_by_role("textbox", name="Text").press_sequentially("abc")
    expect(page.locator("#as")).to_have_text("abc")


@pytest.mark.covers("UI-ELEM-6")
def test_choices_are_searched_and_chosen_by_keyboard(shelf: Server, page: Page) -> None:
    gallery.show(shelf, page, "ui-combobox")
    owner = page.get_by_role("combobox", name="Owner")
    owner.press_sequentially("tur")
    expect(page.locator("ui-combobox [role=option]:visible")).to_have_text(["Alan Turing"])
    accessible(page)
    owner.press("Enter")
    expect(owner).to_have_value("Alan Turing")
    expect(page.locator("#app > p b")).to_have_text("alan")
    lua(shelf, "ticket.owner = 'ada'")
    expect(owner).to_have_value("Ada Lovelace")
    owner.fill("Nobody")
    owner.press("Tab")
    expect(page.get_by_role("alert").first).to_have_text("“Nobody” is none of the choices.")
    assert lua(shelf, "return ticket.owner") == "ada"

    labels = page.get_by_role("combobox", name="Labels")
    labels.press_sequentially("do")
    labels.press("Enter")
    chips(page, "bug", "docs")
    assert lua(shelf, "return table.concat(ticket.labels, ' ')") == "bug docs"
    labels.press("Escape")
    labels.press("Backspace")
    chips(page, "bug")


@pytest.mark.covers("UI-ELEM-6")
def test_tags_are_typed_and_removed(shelf: Server, page: Page) -> None:
    gallery.show(shelf, page, "ui-tags")
    tags = page.get_by_role("combobox", name="Tags")
    tags.press_sequentially("red,green")
    tags.press("Enter")
    chips(page, "idea", "red", "green")
    page.get_by_label("Remove red").click()
    assert lua(shelf, "return table.concat(note.tags, ' ')") == "idea green"
    lua(shelf, "table.insert(note.tags, 'blue')")
    chips(page, "idea", "green", "blue")


@pytest.mark.covers("UI-ELEM-6")
def test_a_number_is_typed_with_its_unit_and_stepped(shelf: Server, page: Page) -> None:
    gallery.show(shelf, page, "ui-number")
    weight, price = page.get_by_role("spinbutton", name="Weight"), page.get_by_role("spinbutton", name="Price")
    weight.fill("2.5 kg")
    weight.press("Enter")
    expect(page.locator("#app b")).to_have_text("2500")
    weight.press("ArrowUp")
    expect(weight).to_have_value("2,501")
    page.get_by_label("Unit").first.select_option("kg")
    expect(weight).to_have_value("2.501")
    weight.fill("99")
    weight.press("Enter")
    expect(page.get_by_role("alert").first).to_have_text("At most 30 kg.")
    lua(shelf, "parcel.weight = 1000")
    expect(weight).to_have_value("1")
    price.press("ArrowUp")
    expect(price).to_have_value("5.00")
    assert lua(shelf, "return parcel.price") == 5


@pytest.mark.covers("UI-ELEM-6")
def test_a_method_that_hears_of_a_change_finds_the_value_written(shelf: Server, page: Page) -> None:
    gallery.add(
        shelf,
        "Heard",
        'Heard = session:prototype("Heard", { n = 3, said = "" })\n'
        'function Heard:changed(now) self.said = self.n .. " " .. now end\nheard = Heard:new()',
        '<ui-number label="N" ui-value="n" ui-event-change="changed(_)"></ui-number><p id="said" ui-value="said"></p>',
    )
    shelf.call("ui_display", name="heard")
    page.goto(shelf.url)
    page.get_by_role("spinbutton", name="N").press("ArrowUp")
    expect(page.locator("#said")).to_have_text("4 4")


@pytest.mark.covers("UI-ELEM-6")
def test_stars_are_given_by_keyboard_and_pointer(shelf: Server, page: Page) -> None:
    gallery.show(shelf, page, "ui-rating")
    page.get_by_role("radio", name="3 of 5").press("ArrowRight")
    expect(page.locator("#app b")).to_have_text("4")
    expect(page.get_by_role("radio", name="4 of 5")).to_be_focused()
    page.get_by_role("radio", name="1 of 5").click()
    expect(page.locator("#app b")).to_have_text("1")
    lua(shelf, "review.stars = 5")
    expect(page.get_by_role("radio", name="5 of 5")).to_be_checked()


@pytest.mark.covers("UI-ELEM-6")
def test_a_step_with_something_missing_is_not_left(shelf: Server, page: Page) -> None:
    gallery.show(shelf, page, "ui-stepper")
    page.get_by_role("button", name="Next").press("Enter")
    assert lua(shelf, "return signup.step") == "who"
    page.get_by_label("Name").fill("Ada")
    page.get_by_role("button", name="Next").press("Enter")
    expect(page.get_by_role("button", name="Plan")).to_have_attribute("aria-current", "step")
    assert lua(shelf, "return signup.step") == "plan"
    page.get_by_role("button", name="Sign up").click()
    expect(page.get_by_role("alert")).to_have_text("This field is required.")
    accessible(page)
    page.get_by_role("combobox", name="Plan").press_sequentially("te")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Sign up").click()
    expect(page.get_by_text("Welcome, Ada!")).to_be_visible()
    lua(shelf, "signup.step = 'who'")
    expect(page.get_by_label("Name")).to_be_visible()
