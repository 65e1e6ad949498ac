"""Geometry: angles, centres, lines, circles, shapes in drawings."""

import math
import re

from miniwob_tasks.hands import Action, Ui, click, click_at, move_to
from miniwob_tasks.oracles import solves
from miniwob_tasks.outline import Line, Page


@solves("circle-center")
def click_centre(ui: Ui) -> None:
    page = ui.bounds()
    ui.do(click_at(*page.one("circle").middle), click(page.one("button", "Submit")))


@solves("find-midpoint")
def click_midpoint(ui: Ui) -> None:
    page = ui.bounds()
    (ax, ay), (bx, by) = [line.middle for line in page.all("circle")]
    ui.do(click_at((ax + bx) / 2, (ay + by) / 2), click(page.one("button", "Submit")))


@solves("bisect-angle")
def bisect(ui: Ui) -> None:
    page = ui.bounds()
    vertex, *ends = sorted(page.all("circle"), key=lambda line: line.text != "blue")
    directions = [math.atan2(end.middle[1] - vertex.middle[1], end.middle[0] - vertex.middle[0]) for end in ends]
    x, y = sum(math.cos(a) for a in directions), sum(math.sin(a) for a in directions)
    length = min(math.dist(vertex.middle, end.middle) for end in ends) * 0.7 / math.hypot(x, y)
    ui.do(click_at(vertex.middle[0] + x * length, vertex.middle[1] + y * length), click(page.one("button", "Submit")))


@solves("right-angle")
def add_right_angle(ui: Ui) -> None:
    page = ui.bounds()
    (ax, ay), (vx, vy) = page.id("init-black").middle, page.id("init-blue").middle
    dx, dy = -(ay - vy), ax - vx
    x0, y0, width, height = page.id("svg-grid").box
    inside = [
        (vx + dx * part, vy + dy * part)
        for part in (1, -1, 0.6, -0.6, 0.35, -0.35, 0.2, -0.2)
        if x0 + 4 < vx + dx * part < x0 + width - 4 and y0 + 4 < vy + dy * part < y0 + height - 4
    ]
    ui.do(click_at(*inside[0]), click(page.one("button", "Submit")))


def press_at(x: float, y: float, kind: str) -> Action:
    return {"type": kind, "x": round(x, 1), "y": round(y, 1)}


def stroke(points: list[tuple[float, float]]) -> list[Action]:
    """Return the actions that draw through points with the button held."""
    return [
        press_at(*points[0], "mousePressed"),
        *(move_to(*point) for point in points[1:]),
        press_at(*points[-1], "mouseReleased"),
    ]


@solves("draw-line")
def draw_line(ui: Ui) -> None:
    page = ui.bounds()
    x, y = page.id("circ").middle
    steps = [(x + at, y) if "horizontal" in page.goal else (x, y + at) for at in range(-24, 25, 4)]
    ui.do(*stroke(steps), click(page.one("button", "Submit")))


@solves("draw-circle")
def draw_circle(ui: Ui) -> None:
    page = ui.bounds()
    x, y = page.id("circ").middle
    turns = [at * math.pi / 12 for at in range(25)]
    ui.do(*stroke([(x + 18 * math.cos(a), y + 18 * math.sin(a)) for a in turns]), click(page.one("button", "Submit")))


TYPES = {"circle": "circle", "rect": "rectangle", "polygon": "triangle"}


def fits(line: Line, wanted: str) -> bool:
    """Return whether a shape is what is described: size, colour, kind or text."""
    *words, thing = wanted.split()
    size = max(line.box[2:]) if line.kind != "text" else line.box[3]
    large = size > 15 if line.kind == "text" else size > 14
    colour = (line.colour or "black") if line.kind == "text" else line.text
    kinds = {
        "item",
        *(
            {line.text, "digit" if line.text.isdigit() else "letter"}
            if line.kind == "text"
            else {TYPES[line.kind], "shape"}
        ),
    }
    if thing.endswith("s") and thing not in kinds:
        thing = thing[:-1]
    return thing in kinds and all(word == ("large" if large else "small") or word == colour for word in words)


def shapes(page: Page) -> list[Line]:
    return [line for line in page.all() if line.kind in {"text", *TYPES}]


@solves("click-shape")
def click_shape(ui: Ui) -> None:
    page = ui.bounds()
    wanted = page.goal.removeprefix("Click on a ")
    ui.do(click(next(line for line in shapes(page) if fits(line, wanted))))


@solves("count-shape")
def count_shapes(ui: Ui) -> None:
    page = ui.bounds()
    wanted = re.findall(r"How many (.*) are there", page.goal)[0]
    count = sum(fits(line, wanted) for line in shapes(page))
    ui.do(click(page.one("button", str(count))))


@solves("identify-shape")
def name_shape(ui: Ui) -> None:
    page = ui.look()
    (shape,) = shapes(page)
    name = ("Number" if shape.text.isdigit() else "Letter") if shape.kind == "text" else TYPES[shape.kind].title()
    ui.do(click(page.one("button", name)))


@solves("ascending-numbers")
def click_ascending(ui: Ui) -> None:
    page = ui.bounds()
    ui.do(*(click_at(*line.middle) for line in sorted(page.all("text"), key=lambda line: int(line.text))))
