"""What the agent reads on the page, and how it says so."""

import pytest

from ui_mcp.app.tour.steps.operate import uid_of, what_changed
from ui_mcp.errors import UiMcpError


def test_controls_are_found_by_their_exact_name() -> None:
    outline = 'columnheader a1\n  button a2 "Menu of What"\n  input a3 "What"\n'

    assert uid_of(outline, "What") == "a3"


def test_what_changed_is_said_in_words() -> None:
    assert what_changed("+ Pastéis de nata\n Σ 577.70 €") == "the new line is in the list, and the total is 577.70 €"


def test_a_missing_control_is_named() -> None:
    with pytest.raises(UiMcpError, match="There is no control 'Add' on the page"):
        uid_of("", "Add")
