"""Which messages of a conversation an agent with a name takes."""

import pytest

from ui_mcp.agent.inbox import is_for


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("hello", True),
        ("@Ada hello", True),
        ("  @ada: hello", True),
        ("@Bo, @Ada what do you think?", True),
        ("@Bo hello", False),
        ("@Bo", False),
        ("@Bo: ask @Ada", False),
        ("ask @Bo", True),
        ("@notes.txt is long", True),
        ("@Adam hello", False),
        ("", True),
    ],
)
def test_a_message_that_begins_with_names_is_for_the_agents_it_names(text: str, taken: bool) -> None:
    assert is_for("Ada", text) is taken
