"""Messages that the fast encoder refuses are still JSON."""

from typing import Any

import pytest

from ui_mcp.jsonrpc import messages


@pytest.mark.covers("UI-ROB-6")
def test_infinities_beside_numbers_that_only_the_slow_encoder_writes_become_null() -> None:
    encoded = messages.encode({"big": 2**70, "worst": [float("inf"), float("nan")], "text": "\ud800"})

    assert encoded == b'{"big":1180591620717411303424,"worst":[null,null],"text":"?"}'


@pytest.mark.covers("UI-ROB-6")
def test_an_answer_that_is_nested_too_deeply_is_replaced_by_an_error_with_its_id() -> None:
    deep: Any = []
    for _ in range(5000):
        deep = [deep]

    answer = messages.decode(messages.encode(messages.result("a", {"content": deep})))

    assert (answer["id"], answer["error"]["message"]) == ("a", "The answer is nested too deeply to be written")
