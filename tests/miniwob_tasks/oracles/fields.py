"""Text fields, logins, searches."""

import re

from miniwob_tasks.hands import Ui, click, fill, press, type_text
from miniwob_tasks.oracles import solves
from miniwob_tasks.oracles.clicks import quoted
from miniwob_tasks.outline import Page


@solves("enter-text", "enter-text-dynamic")
def enter(ui: Ui) -> None:
    page = ui.look()
    ui.do(fill(page.one("input"), quoted(page.goal)[0]), click(page.one("button", "Submit")))


@solves("enter-text-2")
def enter_in_case(ui: Ui) -> None:
    page = ui.look()
    text = quoted(page.goal)[0]
    ui.do(
        fill(page.one("input"), text.lower() if "lower case" in page.goal else text.upper()),
        click(page.one("button", "Submit")),
    )


@solves("text-transform")
def enter_shown(ui: Ui) -> None:
    page = ui.look()
    ui.do(fill(page.one("input"), page.id("captcha").text.replace(" ", "")), click(page.one("button", "Submit")))


@solves("enter-password")
def enter_twice(ui: Ui) -> None:
    page = ui.look()
    word = quoted(page.goal)[0]
    ui.do(*(fill(line, word) for line in page.all("input")), click(page.one("button", "Submit")))


@solves("login-user")
def log_in(ui: Ui) -> None:
    page = ui.look()
    user, password = quoted(page.goal)
    ui.do(fill(page.id("username"), user), fill(page.id("password"), password), click(page.one("button", "Login")))


@solves("login-user-popup")
def log_in_despite_popup(ui: Ui) -> None:
    page = ui.look()
    user, password = quoted(page.goal)
    button = page.one("button")
    for name, text in (("username", user), ("password", password)):
        shown = ui.do(click(page.id(name)), see="diff")
        if closing := [line for line in shown.lines if line.text in {"Cancel", "No"} or line.id == "popup-cancel"]:
            ui.do(click(closing[0]))
        ui.do(fill(page.id(name), text))
    ui.do(click(button))


@solves("enter-date")
def enter_date(ui: Ui) -> None:
    page = ui.look()
    month, day, year = re.findall(r"(\d+)/(\d+)/(\d+)", page.goal)[0]
    ui.do(fill(page.one("input"), f"{year}-{month}-{day}"), click(page.one("button", "Submit")))


@solves("enter-time")
def enter_time(ui: Ui) -> None:
    page = ui.look()
    hours, minutes, half = re.findall(r"(\d+):(\d+) (AM|PM)", page.goal)[0]
    ui.do(
        fill(page.one("input"), f"{int(hours) % 12 + 12 * (half == 'PM'):02}:{minutes}"),
        click(page.one("button", "Submit")),
    )


@solves("simple-arithmetic", "simple-algebra")
def calculate(ui: Ui) -> None:
    page = ui.look()
    answer = calculated(page.id("math-problem").text, unknown="Solve for x" in page.goal)
    ui.do(fill(page.id("math-answer"), str(answer)), click(page.one("button", "Submit")))


def calculated(problem: str, *, unknown: bool) -> int:
    """Return the value of an expression, or of the unknown x in an equation."""
    if not unknown:
        return _value(problem)
    left, right = problem.split("=")
    return next(
        x for x in range(-500, 500) if _value(left.replace("x", f"({x})")) == _value(right.replace("x", f"({x})"))
    )


def _value(expression: str) -> int:
    """Return the value of a sum, difference or product of two numbers."""
    text = expression.replace("=", "").replace("(", "").replace(")", "").replace(" ", "")
    found = re.fullmatch(r"(-?\d+)(?:([-+x*])(-?\d+))?", text)
    assert found, expression
    first, sign, second = int(found[1]), found[2], int(found[3] or 0)
    return {None: first, "+": first + second, "-": first - second, "x": first * second, "*": first * second}[sign]


@solves("visual-addition")
def count_blocks(ui: Ui) -> None:
    page = ui.look(include={"internals": True})
    blocks = page.all("span", inside="visual-1") + page.all("span", inside="visual-2")
    ui.do(fill(page.id("math-answer"), str(len(blocks))), click(page.one("button", "Submit")))


@solves("read-table")
def copy_cell(ui: Ui) -> None:
    page = ui.look()
    name = re.findall(r"value of (.*) into", page.goal)[0]
    ui.do(fill(page.one("input"), _cells(page)[name]), click(page.one("button", "Submit")))


@solves("read-table-2")
def copy_cells(ui: Ui) -> None:
    page = ui.look()
    cells = _cells(page)
    fields = zip(page.all("label"), page.all("input"), strict=True)
    ui.do(*(fill(field, cells[label.text.rstrip(":")]) for label, field in fields), click(page.one("button", "Submit")))


def _cells(page: Page) -> dict[str, str]:
    texts = [line.text for line in page.all("td")]
    return dict(zip(texts[::2], texts[1::2], strict=True))


@solves("multi-layouts", "multi-orderings")
def search_films(ui: Ui) -> None:
    page = ui.look()
    genre, director, year = re.findall(r"for (.*) movies directed by (.*) from year (\d+)", page.goal)[0]
    lines = [line for line in page.all() if line.text or line.prompt or line.kind == "input"]
    beside = 1 if lines[0].kind == "input" else -1  # labels stand after their fields, or before them
    actions = []
    for at, line in enumerate(lines):
        if line.kind != "input":
            continue
        label = (line.text or line.prompt or lines[at + beside].text).lower()
        value = genre if "genre" in label else director if "director" in label else year
        actions.append(fill(line, value))
    buttons = [
        line
        for line in lines
        if line.kind in {"button", "div"} and line.text.lower() in {"go!", "submit", "search", "find", "search!"}
    ]
    ui.do(*actions, click(buttons[-1]))


@solves("search-engine")
def search(ui: Ui) -> None:
    page = ui.look()
    text = quoted(page.goal)[0]
    number = int(re.findall(r"the (\d)", page.goal)[0])
    shown = ui.do(fill(page.id("search-text"), text), click(page.one("button", "Search")), see="outline")
    if (sheet := (number - 1) // 3) > 0:
        shown = ui.do(click(shown.one("a", str(sheet + 1), inside="pagination")), see="outline")
    ui.do(click(shown.all("a", inside="page-content")[(number - 1) % 3]))


@solves("use-autocomplete", "use-autocomplete-nodelay")
def complete(ui: Ui) -> None:
    page = ui.look()
    start, *end = quoted(page.goal)
    field = page.id("tags")
    shown = ui.do(type_text(field, start), see="diff")
    while not shown.lines or not any(line.text.startswith(start) for line in shown.lines):
        shown = ui.look()
    items = [
        line
        for line in shown.lines
        if line.text.startswith(start) and line.text.endswith((end or [""])[0]) and "query" not in line.id
    ]
    ui.do(click(items[0]), click(page.one("button", "Submit")))


@solves("guess-number")
def guess(ui: Ui) -> None:
    page = ui.look()
    low, high = 0, 9
    while True:
        number = (low + high) // 2
        shown = ui.do(fill(page.one("input"), str(number)), click(page.one("button", "Submit")), see="diff")
        said = " ".join(line.text for line in shown.lines if "hidden" not in line.states)
        if "lower than" in said:
            high = number - 1
        elif "higher than" in said:
            low = number + 1
        else:
            return


@solves("use-colorwheel", "use-colorwheel-2")
def choose_colour(ui: Ui) -> None:
    page = ui.look()
    found = re.findall(r"rgb\((\d+), (\d+), (\d+)\)", page.goal)
    code = (
        "".join(f"{int(part):02X}" for part in found[0])
        if found
        else COLOURS[re.findall(r"Select (\w+)", page.goal)[0]]
    )
    ui.do(fill(page.id("col"), code), press("TAB"), click(page.one("button", "Submit"), force=True))


COLOURS = {
    "red": "FF0000", "lime": "00FF00", "blue": "0000FF", "green": "008000", "yellow": "FFFF00", "cyan": "00FFFF",
    "magenta": "FF00FF", "aqua": "00FFFF", "black": "000000", "white": "FFFFFF", "gray": "808080", "orange": "FFA500",
    "purple": "800080", "pink": "FFC0CB", "brown": "A52A2A", "maroon": "800000", "navy": "000080", "olive": "808000",
    "teal": "008080", "silver": "C0C0C0", "fuchsia": "FF00FF",
}  # fmt: skip
