"""What the agent makes of the person's words and of the place they pointed at."""

from ui_mcp.app.tour.steps.point import LONGEST, answer_to, title_of


def test_words_become_a_title_on_one_line() -> None:
    assert (title_of("  Sun\nand sea "), len(title_of("x" * 100))) == ("Sun and sea", LONGEST)


def test_the_answer_says_where_the_person_pointed() -> None:
    assert "the file and the line" in answer_to({"element": {"type": "h1"}})
    assert "You pointed at `sl-button`" in answer_to({"element": {"type": "sl-button"}})
