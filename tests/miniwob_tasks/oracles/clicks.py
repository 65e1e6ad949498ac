"""Buttons, links, tabs, menus, dialogs."""

import re
import time
from collections.abc import Callable

from miniwob_tasks.hands import Ui, click, press
from miniwob_tasks.oracles import solves
from miniwob_tasks.outline import Line, Page

LAST_BLINK = 1.6
"""Seconds after which no further button of the sequence lights up."""


def quoted(text: str) -> list[str]:
    return re.findall(r'"(.*?)"(?=[\s.,]|$)', text)


@solves("click-test", "click-test-2", "click-test-transfer", "click-button", "unicode-test")
def click_button(ui: Ui) -> None:
    page = ui.look()
    named = quoted(page.goal) or re.findall(r"button (ONE|TWO)", page.goal)
    ui.do(click(page.one("button", *named[:1])))


@solves("click-button-sequence")
def click_in_order(ui: Ui) -> None:
    page = ui.look()
    ui.do(*(click(page.one("button", name)) for name in ("ONE", "TWO")))


@solves("button-delay")
def click_later(ui: Ui) -> None:
    page = ui.look()
    wait = int(re.findall(r"wait (\d+) second", page.goal)[0])
    ui.do(click(page.one("button", "ONE")))
    ui.wait(selector={"text": "there is no such text"}, timeoutMs=wait * 1000 + 300)
    ui.do(click(page.one("button", "TWO")))


@solves("click-link", "click-color")
def click_word(ui: Ui) -> None:
    page = ui.look()
    named = quoted(page.goal) or re.findall(r"the (\w+) colored", page.goal) or [page.goal.split()[-1]]
    ui.do(click(page.one("", named[0])))


@solves("click-dialog")
def close_dialog(ui: Ui) -> None:
    ui.do(click(ui.look().one("button", "Close", inside="")))


@solves("click-dialog-2")
def answer_dialog(ui: Ui) -> None:
    page = ui.look()
    wanted = quoted(page.goal)[0]
    ui.do(click(page.one("button", "Close" if wanted == "x" else wanted, inside="")))


@solves("click-tab")
def click_tab(ui: Ui) -> None:
    page = ui.look()
    ui.do(click(page.one("a", re.findall(r"Tab #\d", page.goal)[0])))


@solves("click-tab-2", "click-tab-2-easy", "click-tab-2-medium", "click-tab-2-hard")
def find_in_tabs(ui: Ui) -> None:
    page = ui.look()
    look_behind(ui, page, page.all("a"), quoted(page.goal)[0])


@solves("click-collapsible-2", "click-collapsible-2-nodelay")
def find_in_sections(ui: Ui) -> None:
    page = ui.look()
    look_behind(ui, page, page.all("h3[tab]"), quoted(page.goal)[0])


def look_behind(ui: Ui, page: Page, covers: list[Line], wanted: str) -> None:
    """Open one part after the other until the link shows, and click it."""
    found = page.all("span", wanted)
    for cover in covers:
        if found:
            break
        found = ui.do(click(cover), see="diff").all("span", wanted)
    ui.do(click(found[0]))


@solves("click-collapsible", "click-collapsible-nodelay")
def open_section(ui: Ui) -> None:
    page = ui.look()
    shown = ui.do(click(page.one("h3[tab]")), see="outline")
    ui.do(click(shown.one("button", "Submit")))


@solves("click-menu")
def choose_in_menu(ui: Ui) -> None:
    page = ui.look()
    *parents, last = page.goal.removeprefix("Select ").split(">")
    for name, below in zip(parents, [*parents, last][1:], strict=True):
        ui.do({"type": "hover", "target": next(line for line in page.lines if line.text == name).uid})
        ui.wait(selector={"text": below, "match": "equals", "predicate": {"visible": True}})
        page = ui.look()
    ui.do(click(next(line for line in page.lines if line.text == last)))


@solves("click-menu-2")
def choose_in_menu_button(ui: Ui) -> None:
    page = ui.look(include={"internals": True})
    icon = next((line.style for line in page.below("query") if line.style), "")
    wanted = (re.findall(r'item labeled "(.*?)"', page.goal) or [""])[0]
    shown = ui.do(click(page.one("button", "Menu")), see="outline")
    if not icon and not any(line.text == wanted for line in shown.lines):  # below the only entry with others below it
        ui.do({"type": "hover", "target": next(line for line in shown.lines if line.text == "Playback").uid})
        ui.wait(selector={"text": wanted, "match": "equals", "predicate": {"visible": True}})
    if not icon:
        ui.do({"type": "click", "target": {"text": wanted, "match": "equals"}})
        return
    ui.do({"type": "hover", "target": next(line for line in shown.lines if line.text == "Playback").uid})
    ui.wait(selector={"text": "Prev", "match": "equals", "predicate": {"visible": True}})
    inner = ui.look(include={"internals": True})
    ui.do(click(next(line for line in inner.below("menu") if line.style == icon)))


@solves("click-pie", "click-pie-nodelay")
def click_slice(ui: Ui) -> None:
    page = ui.look()
    wanted = quoted(page.goal)[0]
    opened = ui.do(click(page.one("text", "+")), see="outline")
    ui.do(click(opened.one("text", wanted)))


@solves("click-widget")
def click_kind(ui: Ui) -> None:
    page = ui.look()
    wanted = quoted(page.goal)[0]
    boxes = {line.uid for line in page.all("input") if line.states & {"checked", "unchecked"}}
    kinds = {
        "button": page.all("button"),
        "checkbox": [line for line in page.all("input") if line.uid in boxes],
        "radio": [line for line in page.all("input") if line.uid not in boxes and line.text],
        "text": [line for line in page.all("input") if not line.text],
        "textarea": page.all("textarea"),
    }
    ui.do(click(kinds[wanted][0]))


@solves("focus-text", "focus-text-2")
def focus(ui: Ui) -> None:
    page = ui.look()
    number = int((re.findall(r"the (\d)", page.goal) or ["1"])[0])
    ui.do(click(page.all("input")[number - 1]))


@solves("buy-ticket")
def buy(ui: Ui) -> None:
    page = ui.look()
    tickets = list(
        zip(page.all("button"), [line for line in page.all("div") if re.match(r"\d+h", line.text)], strict=True)
    )
    by_cost = sorted(tickets, key=lambda ticket: int(re.findall(r"\d+", ticket[0].text)[0]))
    by_time = sorted(tickets, key=lambda ticket: [int(number) for number in re.findall(r"\d+", ticket[1].text)])
    order = by_cost if re.search("cost|price|cheap|expensive", page.goal) else by_time
    ui.do(click(order[-1 if re.search("longest|expensive|highest|greatest|most", page.goal) else 0][0]))


@solves("navigate-tree")
def open_folders(ui: Ui) -> None:
    page = ui.look()
    wanted = quoted(page.goal)[0]
    tried: set[str] = set()
    lines = page.all(inside="tree")
    while not (found := [line for line in lines if line.text == wanted]):
        folder = next(line for line in reversed(lines) if line.kind == "span" and line.uid not in tried)
        tried.add(folder.uid)
        lines += ui.do(click(folder), see="diff").lines
    ui.do(click(found[0]))


@solves("phone-book")
def find_contact(ui: Ui) -> None:
    page = ui.look()
    name = re.findall(r"Find (\w+)", page.goal)[0]
    label = {"address": "Address:", "phone": "Phone:", "email": "Email:"}[
        re.findall("phone|email|address", page.goal)[0]
    ]
    while not page.all("h2", name):
        page = ui.do(click(page.one("a", ">")), see="outline")
    lines = page.all()
    at = next(at for at, line in enumerate(lines) if line.text == label)
    ui.do(click(next(line for line in lines[at:] if line.kind == "a")))


@solves("social-media", "social-media-all", "social-media-some")
def act_on_posts(ui: Ui) -> None:
    page = ui.look()
    user = re.findall(r"@\w+", page.goal)[0]
    wanted = quoted(page.goal)[0].lower()
    lines = page.all()
    heads = [at for at, line in enumerate(lines) if re.search(rf"{user}\b", line.text)]
    count = int((re.findall(r"on (\d+) post", page.goal) or ["99"])[0]) if "post" in page.goal else 1
    posts = [lines[at:] for at in heads[:count]]
    direct = [next((line for line in post if line.text == wanted), None) for post in posts]
    if direct[0] is None:  # below "more"
        menu = ui.do(click(next(line for line in posts[0] if line.text == "more")), see="diff")
        ui.do(click(next(line for line in menu.lines if line.text.lower().startswith(wanted))))
        return
    submit = [click(line) for line in page.all("button", "Submit")]
    ui.do(*(click(line) for line in direct if line is not None), *submit)


@solves("odd-or-even")
def mark_numbers(ui: Ui) -> None:
    page = ui.look()
    lines = page.all(inside="numbers")
    choices = [
        click(lines[at - 1 if int(line.text) % 2 else at + 1]) for at, line in enumerate(lines) if line.kind == "div"
    ]
    ui.do(*choices, click(page.one("button", "Submit")))


@solves("find-greatest")
def pick_card(ui: Ui) -> None:
    page = ui.look()
    cards = page.all("div", inside="cardholder")
    ui.do(click(max(cards, key=lambda card: int(card.text))), click(page.one("button", "Submit")))


@solves("grid-coordinate")
def click_coordinate(ui: Ui) -> None:
    page = ui.look()
    ui.do(click(page.id(re.findall(r"\(.*?\)", page.goal)[0])))


@solves("sign-agreement")
def sign(ui: Ui) -> None:
    page = ui.look()
    if not quoted(page.goal):
        ui.do(click(page.one("button", "Cancel")))
        return
    name, button = quoted(page.goal)
    scrolled = ui.do({"type": "scroll", "target": page.one("textarea").uid, "deltaY": -5000}, see="outline")
    field = scrolled.one("input")
    ui.do({"type": "setText", "target": field.uid, "text": name}, click(scrolled.one("button", button)))


@solves("scroll-text-2")
def scroll(ui: Ui) -> None:
    page = ui.look()
    delta = 9000 if "top" in page.goal else -9000
    ui.do({"type": "scroll", "target": page.one("textarea").uid, "deltaY": delta}, click(page.one("button", "Submit")))


@solves("generate-number")
def generate(ui: Ui) -> None:
    page = ui.look()
    limit = int((re.findall(r"\d+", page.goal) or ["0"])[0])
    button = page.one("button", "Generate")
    rules: dict[str, Callable[[int], bool]] = {
        "less": lambda number: number < limit,
        "greater": lambda number: number > limit,
        "odd": lambda number: number % 2 == 1,
        "even": lambda number: number % 2 == 0,
    }
    fits = rules[re.findall("less|greater|odd|even", page.goal)[0]]
    shown = ui.do(click(button), see="diff")
    while True:
        numbers = [line for line in shown.lines if line.id == "display-number"]
        if numbers and fits(int(numbers[0].text)):
            break
        shown = ui.do(click(button), see="diff")
    ui.do(click(page.one("button", "Submit")))


@solves("highlight-text")
def highlight(ui: Ui) -> None:
    page = ui.look()
    ui.do(click(page.id("randomText"), clickCount=3), click(page.one("button", "Submit")))


@solves("highlight-text-2")
def highlight_paragraph(ui: Ui) -> None:
    page = ui.look()
    number = int(re.findall(r"the (\d)", page.goal)[0])
    ui.do(click(page.all("p")[number - 1], clickCount=3), click(page.one("button", "Submit")))


@solves("stock-market")
def buy_stock(ui: Ui) -> None:
    page = ui.look()
    limit = float(re.findall(r"\$([\d.]+\d)", page.goal)[0])
    price = page.id("stock-price")
    while True:
        found = ui.look(root=price.uid).lines
        if found and found[0].text and float(found[0].text[1:]) < limit - 1:
            break
    ui.do(click(page.one("button", "Buy")))


@solves("simon-says")
def repeat_blinks(ui: Ui) -> None:
    seen: list[str] = []
    lit = time.monotonic()
    was = ""
    while not seen or time.monotonic() - lit < LAST_BLINK:
        now = (ui.find("button.push") or [""])[0]
        if now:
            lit = time.monotonic()
        if now and now != was:
            seen.append(now)
        was = now
    page = ui.look()
    ui.do(*(click(page.id(name)) for name in seen))


@solves("terminal")
def delete_file(ui: Ui) -> None:
    page = ui.look()
    field = page.id("terminal-target")
    shown = ui.do({"type": "typeText", "target": field.uid, "text": "ls"}, press("ENTER"), see="diff")
    wanted = (re.findall(r"extension (\.[\w.]+\w)", page.goal) or [""])[0]
    files = next(line.text.split() for line in shown.lines if line.kind == "div" and line.text and "$" not in line.text)
    name = next(name for name in files if (name.endswith(wanted) if wanted else "." not in name))
    ui.do({"type": "typeText", "target": field.uid, "text": f"rm {name}"}, press("ENTER"))
