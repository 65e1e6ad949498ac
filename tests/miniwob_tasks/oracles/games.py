"""Games: chasing, hot and cold, tic-tac-toe, pictures."""

from functools import cache

from miniwob_tasks.hands import Ui, click, click_at, move_to
from miniwob_tasks.oracles import solves
from miniwob_tasks.oracles.clicks import quoted
from miniwob_tasks.pictures import Picture


@solves("chase-circle")
def chase(ui: Ui) -> None:
    page = ui.bounds()
    while page.has("circ") and not page.has("sync-task-cover"):
        ui.do(move_to(*page.id("circ").middle))
        page = ui.bounds()


@solves("moving-items")
def click_moving(ui: Ui) -> None:
    page = ui.bounds()
    while not page.has("sync-task-cover"):
        area = page.id("area_svg").box
        inside = [line for line in page.all("circle") if area[0] + 8 < line.middle[0] < area[0] + area[2] - 8]
        if inside:
            ui.do(click_at(*inside[0].middle))
        page = ui.bounds()


@solves("hot-cold")
def search_heat(ui: Ui) -> None:
    """Walk a grid towards what says WARM, then HOT."""
    page = ui.bounds()
    x0, y0, width, height = page.id("touch-area").box
    grid = [(x0 + x, y0 + y) for y in range(3, height, 6) for x in range(3, width, 12)]
    hot = _nearest(ui, grid, {"WARM", "HOT"})
    close = [(hot[0] + x, hot[1] + y) for y in range(-12, 13, 3) for x in range(-12, 13, 3)]
    x, y = _nearest(ui, sorted(close, key=lambda at: abs(at[0] - hot[0]) + abs(at[1] - hot[1])), {"HOT"})
    ui.do(click_at(x, y))


def _nearest(ui: Ui, points: list[tuple[int, int]], wanted: set[str]) -> tuple[int, int]:
    at = 0
    while at < len(points):
        shown = ui.do(move_to(*points[at]), see="diff")
        said = next((line.text for line in shown.lines if line.id == "signal"), "")
        if said in wanted:
            return points[at]
        at += 1
    raise AssertionError("nothing is warm")


LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


@solves("tic-tac-toe")
def play(ui: Ui) -> None:
    page = ui.look()
    while not page.has("sync-task-cover"):
        board = "".join({"x": "X", "o": "O"}.get(page.id(f"ttt-{at}").text, ".") for at in range(9))
        page = ui.do(click(page.id(f"ttt-{_move(board)}")), see="outline")


def _move(board: str) -> int:
    """Return the move of X that wins most often against an opponent who plays at random."""
    return max(
        (at for at in range(9) if board[at] == "."), key=lambda at: (_chance(_put(board, at, "X"), "O"), at == 4)
    )


@cache
def _chance(board: str, turn: str) -> float:
    """Return how likely X wins."""
    if any(board[a] == board[b] == board[c] != "." for a, b, c in LINES):
        return 0.0 if turn == "X" else 1.0
    if "." not in board:
        return 0.0
    other = "O" if turn == "X" else "X"
    values = [_chance(_put(board, at, turn), other) for at in range(9) if board[at] == "."]
    # The opponent often sees a good move, so its best one counts half.
    return max(values) if turn == "X" else (sum(values) / len(values) + min(values)) / 2


def _put(board: str, at: int, mark: str) -> str:
    return board[:at] + mark + board[at + 1 :]


@solves("count-sides")
def count_sides(ui: Ui) -> None:
    page = ui.look()
    picture = Picture.read(ui.picture(page.id("c")))
    ui.do(click(page.one("button", str(picture.corners()))))


@solves("number-checkboxes")
def draw_digit(ui: Ui) -> None:
    page = ui.look()
    digit = quoted(page.goal)[0]
    example = next(line for line in page.below(f"o{digit}") if line.kind == "img")
    marks = Picture.read(ui.picture(example)).cells(columns=4, rows=7)
    boxes = page.all("input", inside="checkboxes")
    ui.do(*(click(box) for box, on in zip(boxes, marks, strict=True) if on), click(page.one("button", "Submit")))
