"""How an answer from the inbox ends the agent's sentence."""

from ui_mcp.app.tour.steps.approve import way_of


def test_an_answer_is_repeated_and_a_missing_one_is_not() -> None:
    assert way_of({"status": "answered", "answers": ["By bike"]}) == ", by bike"
    assert [way_of({"status": "declined"}), way_of({"answers": [None]})] == ["", ""]
