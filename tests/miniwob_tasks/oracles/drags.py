"""Dragging boxes, items, shapes, a cube; resizing."""

import re
import time

from miniwob_tasks.hands import Ui, click, drag, move_to
from miniwob_tasks.oracles import solves
from miniwob_tasks.oracles.clicks import quoted
from miniwob_tasks.outline import Line


@solves("drag-box")
def drag_into(ui: Ui) -> None:
    page = ui.look()
    ui.do(drag(page.id("draggableSmall"), page.id("draggableLarge")), click(page.one("button", "Submit")))


STEPS = {"left": (-15, 0), "right": (15, 0), "up": (0, -15), "down": (0, 15)}


@solves("drag-circle", "drag-single-shape")
def drag_direction(ui: Ui) -> None:
    page = ui.bounds()
    shape = next(line for line in page.all() if line.kind in {"circle", "rect", "polygon"})
    dx, dy = STEPS[re.findall("left|right|up|down", page.goal)[0]]
    x, y = shape.middle
    ui.do(drag((x, y + 2), (x + dx, y + 2 + dy)), click(page.one("button", "Submit")))


@solves("drag-items")
def drag_item(ui: Ui) -> None:
    page = ui.bounds()
    name = re.findall(r"Drag (\w+)", page.goal)[0]
    items = page.all("div", inside="sortable")
    at = next(at for at, line in enumerate(items) if line.text == name)
    goal = _index(page.goal, at, len(items))
    _sort(ui, items, at, goal)


def _index(goal: str, at: int, count: int) -> int:
    if found := re.findall(r"(\d)(?:st|nd|rd|th) position", goal):
        return int(found[0]) - 1
    if "top" in goal or "bottom" in goal:
        return 0 if "top" in goal else count - 1
    steps = int((re.findall(r"by (\d)", goal) or ["1"])[0])
    return min(count - 1, max(0, at - steps if "up" in goal else at + steps))


def _sort(ui: Ui, items: list[Line], at: int, goal: int) -> None:
    """Drag an item past the middle of the one whose place it takes."""
    x, y = items[at].middle
    _, aim = items[goal].middle
    down = 1 if goal > at else -1
    ui.do(drag((x, y), (x, aim + down * items[goal].box[3] * 0.4)))


@solves("drag-sort-numbers")
def sort_numbers(ui: Ui) -> None:
    page = ui.bounds()
    items = page.all("div", inside="sortable")
    for goal in range(len(items)):
        order = sorted(range(goal, len(items)), key=lambda at: int(items[at].text))
        if order[0] != goal:
            _sort(ui, items, order[0], goal)
            page = ui.bounds()
            items = page.all("div", inside="sortable")
    ui.do(click(page.one("button", "Submit")))


GRID = {"top left": 0, "top center": 1, "top right": 2, "center left": 3, "center": 4, "center right": 5,
        "bottom left": 6, "bottom center": 7, "bottom right": 8}  # fmt: skip


@solves("drag-items-grid")
def drag_in_grid(ui: Ui) -> None:
    page = ui.bounds()
    name = re.findall(r"Drag (\w+)", page.goal)[0]
    items = page.all("div", inside="sortable")
    at = next(at for at, line in enumerate(items) if line.text == name)
    if found := re.findall(r"to the ((?:top|bottom|center|middle)? ?(?:left|right|center|middle)?)", page.goal):
        goal = GRID.get(found[0].strip().replace("middle", "center"), 4)
    else:
        direction = re.findall("left|right|up|down", page.goal)[0]
        goal = at + {"left": -1, "right": 1, "up": -3, "down": 3}[direction]
    x, y = items[at].middle
    ax, ay = items[goal].middle
    ui.do(drag((x, y), (ax + (3 if ax > x else -3), ay + (3 if ay > y else -3))))


KINDS = {"circle": "circle", "circles": "circle", "rectangles": "rect", "triangles": "polygon"}


@solves("drag-shapes")
def drag_shapes(ui: Ui) -> None:
    page = ui.look()
    wanted = KINDS[re.findall(r"all (\w+)", page.goal)[0]]
    box = page.id("shape-container")
    shapes = [line for line in page.all(wanted) if not line.id]
    ui.do(*(drag(line, box) for line in shapes), click(page.one("button", "Submit")))


@solves("drag-shapes-2")
def part_shapes(ui: Ui) -> None:
    page = ui.bounds()
    word = re.findall(r"all (\w+)", page.goal)[0]
    left, right = sorted((line for line in page.all("rect") if line.id), key=lambda line: line.box[0])
    shapes = [line for line in page.all() if line.kind in {"circle", "rect", "polygon"} and not line.id]
    chosen = [line for line in shapes if KINDS.get(word) == line.kind or line.text == word]
    ui.do(
        *(drag(_grip(line), left if line in chosen else right) for line in shapes), click(page.one("button", "Submit"))
    )


def _grip(line: Line) -> tuple[float, float]:
    """Return a point that is inside of a triangle too."""
    x, y, width, height = line.box
    return x + width / 2, y + height * 0.7


@solves("resize-textarea")
def resize(ui: Ui) -> None:
    page = ui.bounds()
    side, how = re.findall(r"the (width|height) is (smaller|larger)", page.goal)[0]
    x, y, width, height = page.one("textarea").box
    step = 20 if how == "larger" else -20
    corner = (x + width - 4, y + height - 4)
    goal = (corner[0] + step, corner[1]) if side == "width" else (corner[0], corner[1] + step)
    ui.do(drag(corner, goal), click(page.one("button", "Submit")))


REST_SECONDS = 0.4


@solves("drag-cube")
def turn_cube(ui: Ui) -> None:
    page = ui.bounds()
    wanted = quoted(page.goal)[0]
    side, centre = page.one("div", wanted).uid, (page.id("wrapper").box[0] + 75, page.id("wrapper").box[1] + 60)
    turns = {"1": [(0, -25)] * 12, "6": [(0, 25)] * 6}.get(wanted, [(25, 0)] * 18)
    for dx, dy in [(0, 0), *turns]:
        _turn(ui, centre, dx, dy)
        time.sleep(REST_SECONDS)  # it turns on after it is let go
        if ui.find(".active") == [side]:
            break
    ui.do(click(page.one("button", "Submit")))


def _turn(ui: Ui, centre: tuple[float, float], dx: float, dy: float) -> None:
    """Press, move and release, each seen by the page's clock: a jump to the start would turn the cube back."""
    at = {"x": round(centre[0], 1), "y": round(centre[1], 1)}
    ui.do(move_to(*centre))
    ui.do({"type": "mousePressed", **at})
    ui.do(move_to(centre[0] + dx, centre[1] + dy))
    ui.do({"type": "mouseReleased", "x": at["x"] + dx, "y": at["y"] + dy})
