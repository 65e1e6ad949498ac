"""Date pickers, flights, calendars."""

import re
from datetime import date

from miniwob_tasks.hands import Ui, click, drag, fill, type_text
from miniwob_tasks.oracles import solves
from miniwob_tasks.oracles.clicks import quoted
from miniwob_tasks.outline import Line, Page

MONTHS = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
]  # fmt: skip


@solves("choose-date", "choose-date-easy", "choose-date-medium", "choose-date-nodelay")
def choose_date(ui: Ui) -> None:
    page = ui.look()
    pick(ui, page.id("datepicker"), _date(page.goal))
    ui.do(click(page.one("button", "Submit")))


def _date(text: str) -> date:
    month, day, year = map(int, re.findall(r"(\d+)/(\d+)/(\d+)", text)[0])
    return date(year, month, day)


def pick(ui: Ui, field: Line, wanted: date) -> None:
    """Choose a day in a calendar that pops up, month by month."""
    shown = ui.do(click(field), see="outline")
    for _ in range(24):
        title = next(line.text for line in shown.below("ui-datepicker-div") if re.fullmatch(r"\w+ 20\d\d", line.text))
        month, year = MONTHS.index(title.split()[0]) + 1, int(title.split()[1])
        if (year, month) == (wanted.year, wanted.month):
            break
        step = "Prev" if (year, month) > (wanted.year, wanted.month) else "Next"
        shown = ui.do(
            click(next(line for line in shown.below("ui-datepicker-div") if line.text == step)), see="outline"
        )
    days = {line.text: line for line in shown.controls if line.kind == "a"}
    ui.do(click(days[str(wanted.day)]))


@solves("book-flight", "book-flight-nodelay")
def book(ui: Ui) -> None:
    page = ui.look()
    kind, origin, goal = re.findall(r"Book the (\w+) one-way flight from: (.*) to: (.*) on", page.goal)[0]
    for name, text in (("flight-from", origin), ("flight-to", goal)):
        shown = ui.do(fill(page.id(name), ""), type_text(page.id(name), text), see="outline")
        while not (choices := _choices(shown, text)):
            shown = ui.look()
        ui.do(click(choices[0]))
    pick(ui, page.id("datepicker"), _date(page.goal))
    results = ui.do(click(page.id("search")), see="outline")
    ui.do(click(_best(results, shortest=kind == "shortest")))


def _choices(page: Page, text: str) -> list[Line]:
    return [
        line
        for line in page.lines
        if line.kind in {"menuitem", "li[menuitem]", "div", "li"} and text in line.text and line.id.startswith("ui-id")
    ]


def _best(page: Page, *, shortest: bool) -> Line:
    """Return the button of the cheapest or shortest flight."""
    lines = list(page.below("results"))
    buttons = [line for line in lines if line.kind == "button" and "$" in line.text]
    if not shortest:
        return min(buttons, key=lambda button: int(re.findall(r"\d+", button.text)[0]))
    durations = [line for line in lines if re.fullmatch(r"(\d+h)? ?(\d+m)?", line.text) and line.text]
    minutes = [sum(int(number) * factor for number, factor in _parts(line.text)) for line in durations]
    return buttons[minutes.index(min(minutes))]


def _parts(duration: str) -> list[tuple[str, int]]:
    return [(number, 60 if unit == "h" else 1) for number, unit in re.findall(r"(\d+)([hm])", duration)]


@solves("daily-calendar")
def make_event(ui: Ui) -> None:
    page = ui.bounds()
    amount, unit = re.findall(r"Create an? ([\d.]+) (hour|min)", page.goal)[0]
    halves = round(float(amount) * 2) if unit == "hour" else round(float(amount) / 30)
    begin, end = (_half_hour(text) for text in re.findall(r"\d+[AP]M", page.goal))
    events = [line.box for line in page.lines if line.id.startswith("randomEvent")]
    slots = {int(line.id.removeprefix("hh-")): line for line in page.lines if line.id.startswith("hh-")}
    free = [at for at in range(begin, end) if not any(_meet(slots[at].box, box) for box in events)]
    first = next(at for at in free if set(range(at, at + halves)) <= set(free) and at + halves <= end)
    ui.do({"type": "hover", "target": slots[first + halves // 2].uid, "force": True})
    placed = {line.id: line.box for line in ui.bounds().lines}
    (x, y, _, _), (_, last, _, height) = placed[f"hh-{first}"], placed[f"hh-{first + halves - 1}"]
    shown = ui.do(drag((x + 60, y + 3), (x + 62, last + height - 4)), see="outline")
    if not shown.has("event-name"):  # the event lies under the pointer by now, and takes its release
        shown = ui.do({"type": "mouseReleased", "target": shown.id("newEvent").uid}, see="outline")
    ui.do(fill(shown.id("event-name"), quoted(page.goal)[0]), click(shown.one("button", "Create")))


def _half_hour(text: str) -> int:
    return (int(text[:-2]) % 12 + (12 if text.endswith("PM") else 0)) * 2


def _meet(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    return one[1] < other[1] + other[3] and other[1] < one[1] + one[3]
