"""Problems of a session: shown in pages, reported to the agent once, withdrawn when they are gone."""

import json

import pytest

from ui_mcp.ui.sessions.events import EventQueue
from ui_mcp.ui.sessions.pages import Connection, Pages
from ui_mcp.ui.sessions.problems import MAX_PROBLEMS, Problem, Problems, load_problem, read_problem

BOOM = Problem("timer 1", "timer", "boom", app="x", file="apps/x/app.lua", line=3)


class Kept:
    """Problems with a page and the events of the agent."""

    def __init__(self) -> None:
        async def accept(_connection: Connection, _frame: str) -> None:
            return

        self.events = EventQueue(lambda _change: None)
        self.pages = Pages(accept)
        self.page = self.pages.add()
        self.problems = Problems("1", self.events, self.pages)

    def told(self) -> list[object]:
        return [json.loads(text) for text in self.events.texts()]

    def shown(self) -> list[str]:
        """Messages in the newest list that the page got."""
        frames = [json.loads(frame) for frame in self.page.outbox.take_now()]
        return [one["message"] for one in json.loads(frames[-1]["data"]["properties"]["problems"])] if frames else ["-"]


@pytest.fixture
def kept() -> Kept:
    return Kept()


@pytest.mark.covers("UI-ERR-2")
def test_a_problem_is_told_with_its_place_and_shown(kept: Kept) -> None:
    kept.problems.add(BOOM)

    assert kept.shown() == ["boom"]
    assert kept.told() == [
        {
            "app": "ui-mcp",
            "event": "app_error",
            "session": "1",
            "target": "x",
            "kind": "timer",
            "level": "error",
            "file": "apps/x/app.lua",
            "line": 3,
            "message": "boom",
        }
    ]


@pytest.mark.covers("UI-ERR-2")
def test_a_repetition_is_counted_and_not_told_again(kept: Kept) -> None:
    for _ in range(3):
        kept.problems.add(BOOM)

    assert [len(kept.told()), kept.problems.of_app("x")[0]["count"]] == [1, 3]


@pytest.mark.covers("UI-ERR-2")
def test_a_problem_that_comes_back_is_told_again_only_after_an_edit(kept: Kept) -> None:
    kept.problems.add(BOOM)
    kept.problems.resolve(BOOM.id)
    assert kept.shown() == []
    kept.problems.add(BOOM)
    assert len(kept.told()) == 1

    kept.problems.resolve(BOOM.id)
    kept.problems.changed_files()
    kept.problems.add(BOOM)

    assert len(kept.told()) == 2


@pytest.mark.covers("UI-ERR-2")
def test_a_flood_of_problems_keeps_the_newest(kept: Kept) -> None:
    for number in range(MAX_PROBLEMS + 5):
        kept.problems.add(Problem(str(number), "timer", str(number)))

    shown = kept.shown()
    assert [len(shown), shown[0], shown[-1]] == [MAX_PROBLEMS, "5", str(MAX_PROBLEMS + 4)]


@pytest.mark.covers("UI-ERR-2")
def test_a_page_that_connects_later_gets_the_list(kept: Kept) -> None:
    kept.problems.add(BOOM)
    kept.page = kept.pages.add()

    kept.problems.show_in(kept.page)

    assert kept.shown() == ["boom"]


@pytest.mark.covers("UI-ERR-2")
def test_the_names_of_one_viewdef_are_replaced_together(kept: Kept) -> None:
    kept.problems.replace("name X ", [Problem("name X 1", "tag", "a"), Problem("name X 2", "tag", "b")])
    kept.problems.add(BOOM)

    kept.problems.replace("name X ", [Problem("name X 2", "tag", "b")])

    assert kept.shown() == ["b", "boom"]


@pytest.mark.covers("UI-ERR-2")
@pytest.mark.parametrize(
    ("file", "message", "place"),
    [
        ("apps/x/app.lua", "apps/x/app.lua:7: '=' expected", ("x", "apps/x/app.lua", 7)),
        ("/p/.ui/apps/x/viewdefs/A.DEFAULT.html", "no element", ("x", "apps/x/viewdefs/A.DEFAULT.html", None)),
        ("lua/mcp.lua", "lua/mcp.lua:2: boom", (None, "lua/mcp.lua", 2)),
        ("", "app global x not found", (None, None, None)),
    ],
)
def test_a_file_that_does_not_load_names_app_and_line(
    file: str, message: str, place: tuple[str | None, str | None, int | None]
) -> None:
    problem = load_problem(file, message)

    assert (problem.app, problem.file, problem.line) == place


@pytest.mark.covers("UI-ERR-2")
def test_long_texts_of_a_worker_are_cut() -> None:
    assert len(read_problem({"id": "1", "kind": "timer", "message": "x" * 9000}).message) == 2000


@pytest.mark.covers("UI-ERR-2")
def test_a_viewdef_that_is_written_but_not_loaded_yet_is_not_reported(kept: Kept) -> None:
    kept.problems = Problems("1", kept.events, kept.pages, will_load=lambda file: file == "viewdefs/Late.DEFAULT.html")

    for name in ("Late", "Never"):
        file = f"viewdefs/{name}.DEFAULT.html"
        kept.problems.add(Problem(f"viewdef {name}", "viewdef", f"No viewdef for {name}", file=file))

    assert kept.shown() == ["No viewdef for Never"]
