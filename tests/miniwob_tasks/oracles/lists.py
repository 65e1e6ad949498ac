"""Check boxes, radio buttons, choices, shades, orders."""

import re

from miniwob_tasks.hands import Action, Ui, click, fill
from miniwob_tasks.oracles import solves
from miniwob_tasks.oracles.clicks import quoted
from miniwob_tasks.outline import Line, Page


@solves("click-checkboxes", "click-checkboxes-large", "click-checkboxes-transfer", "click-option")
def choose(ui: Ui) -> None:
    page = ui.look()
    wanted = re.findall(r"Select (.*) and click", page.goal)[0].split(", ")
    ui.do(*(click(line) for line in page.all("input") if line.text in wanted), click(page.one("button", "Submit")))


@solves("choose-list", "click-scroll-list")
def select(ui: Ui) -> None:
    page = ui.look()
    wanted = re.findall(r"Select (.*) from the", page.goal)[0].split(", ")
    box = page.one("select")
    chosen: list[Action] = [{"type": "select", "target": box.uid, "value": value} for value in wanted]
    ui.do(*chosen, click(page.one("button", "Submit")))


@solves("click-shades")
def choose_shades(ui: Ui) -> None:
    page = ui.look()
    wanted = re.findall(r"shades of (\w+)", page.goal)[0]
    ui.do(
        *(click(line) for line in page.all("span") if _main_colour(line) == wanted), click(page.one("button", "Submit"))
    )


def _main_colour(line: Line) -> str:
    parts = [int(number) for number in re.findall(r"\d+", line.text)]
    return ["red", "green", "blue"][parts.index(max(parts))]


@solves("order-food")
def order(ui: Ui) -> None:
    page = ui.look()
    dishes = _dishes(page)
    if names := re.findall(r"each item: (.*)", page.goal):
        adds = [next(dish for dish in dishes if dish[0].text == name) for name in names[0].split(", ")]
    else:
        count, kind = re.findall(r"Order (\d+) items that are (.*)", page.goal)[0]
        adds = [next(dish for dish in dishes if any(line.text == kind for line in dish))] * int(count)
    ui.do(*(click(dish[-1]) for dish in adds), click(page.one("button", "Order!")))


def _dishes(page: Page) -> list[list[Line]]:
    """Return the lines of each dish: its name first, the sign + last."""
    found: list[list[Line]] = []
    for line in page.all():
        if line.kind == "div" and line.text:
            found.append([line])
        elif found and line.kind in {"img", "span"} and found[-1][-1].text != "+":
            found[-1].append(line)
    return found


@solves("form-sequence")
def slide_and_check(ui: Ui) -> None:
    page = ui.look()
    value = int(re.findall(r"Select (-?\d+)", page.goal)[0])
    number = int(re.findall(r"the (\d)\w\w checkbox", page.goal)[0])
    slide(ui, page, {"slider": value}, "val")
    ui.do(click(page.id(f"checkbox-{number}")), click(page.one("button", "Submit")))


@solves("form-sequence-2")
def choose_and_enter(ui: Ui) -> None:
    page = ui.look()
    fields = page.all("input")
    ordinals = [int(number) for number in re.findall(r"the (\d)(?:st|nd|rd)", page.goal)]
    number = quoted(page.goal)[0]
    first, second = re.search("radio", page.goal), re.search("textbox", page.goal)
    assert first
    assert second
    radio, box = ordinals if first.start() < second.start() else reversed(ordinals)
    ui.do(click(fields[radio - 1]), fill(page.id(f"input-{box}"), number), click(page.one("button", "Submit")))


@solves("form-sequence-3")
def choose_then_press(ui: Ui) -> None:
    page = ui.look()
    value = re.findall(r"Choose (.*) from the dropdown", page.goal)[0]
    button = quoted(page.goal)[0]
    choice: Action = {"type": "select", "target": page.id("dropdown").uid, "value": value}
    ui.do(choice, click(page.one("button", button)))


@solves("use-slider")
def slide_to(ui: Ui) -> None:
    page = ui.look()
    slide(ui, page, {"slider": int(re.findall(r"Select (-?\d+)", page.goal)[0])}, "val")
    ui.do(click(page.one("button", "Submit")))


@solves("use-slider-2")
def slide_all(ui: Ui) -> None:
    page = ui.look()
    values = re.findall(r"\[(.*?)\]", page.goal)[0].split(",")
    for number, value in enumerate(values, start=1):
        slide(ui, page, {f"slider-{number}": int(value)}, f"val-{number}")
    ui.do(click(page.one("button", "Submit")))


def slide(ui: Ui, page: Page, values: dict[str, int], shown: str) -> None:
    """Move a handle by keys; the text beside it says where it is."""
    for name, value in values.items():
        handle = next(line for line in page.below(name) if line.kind == "span")
        now = int(page.id(shown).text)
        key = "RIGHT" if value > now else "LEFT"
        keys: list[Action] = [{"type": "pressKey", "key": key}] * abs(value - now)
        if keys:
            for start in range(0, len(keys), 90):
                ui.do({"type": "focus", "target": handle.uid}, *keys[start : start + 90])


@solves("use-spinner")
def spin(ui: Ui) -> None:
    page = ui.look()
    value = re.findall(r"Select (-?\d+)", page.goal)[0]
    ui.do(fill(page.id("spinner"), value), click(page.one("button", "Submit")))
