"""What is read from files with conversations, of any form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_mcp.errors import InvalidArgumentsError
from ui_mcp.gateway.web.conversation_import import MAX_CONVERSATIONS, MAX_TEXT, conversations_in
from ui_mcp.jsontypes import Json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ("chat", "messages", "mapping", "current_node", "message", "parent", "role", "content", "text")
            ),
            inner,
        )
    ),
    max_leaves=30,
)


def test_a_text_that_is_nested_without_end_is_left_out() -> None:
    nested: Json = "deep"
    for _ in range(5_000):
        nested = [nested]
    messages: list[Json] = [{"role": "user", "content": nested}, {"role": "user", "content": [["flat"]]}]
    (read,) = conversations_in({"messages": messages})
    assert [one.text for one in read.messages] == ["flat"]


def test_more_conversations_than_can_be_imported_are_refused_and_none_is_lost_silently() -> None:
    one: Json = {"messages": [{"role": "user", "content": "Hi"}]}
    assert len(conversations_in([one] * MAX_CONVERSATIONS)) == MAX_CONVERSATIONS
    with pytest.raises(InvalidArgumentsError, match="20,001 conversations"):
        conversations_in([one] * (MAX_CONVERSATIONS + 1))


@given(JSON)
def test_any_json_is_read_or_refused(value: Json) -> None:
    try:
        found = conversations_in(value)
    except InvalidArgumentsError:
        return
    assert all(one.text.strip() and len(one.text) <= MAX_TEXT for talk in found for one in talk.messages)
