import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_mcp.chat.message import Draft, Limits, conversation_name, cursor, id_text, next_id, ts_text
from ui_mcp.errors import ChatError


def refusal(draft: Draft) -> str:
    with pytest.raises(ChatError) as caught:
        Limits().check_drafts([draft])
    return caught.value.code


@pytest.mark.covers("R-IN-10")
def test_drafts_that_cannot_be_posted_are_refused_by_name() -> None:
    assert refusal(Draft(" \n")) == "empty_content"
    assert refusal(Draft("é" * 131_073)) == "content_too_large"
    assert refusal(Draft("x", mime="text/html")) == "unsupported_mime"
    assert refusal(Draft("a\0b")) == "invalid_argument"
    assert refusal(Draft("\ud800")) == "invalid_argument"
    assert refusal(Draft("x", client_id="y" * 129)) == "invalid_argument"
    Limits().check_drafts([Draft("é" * 131_072)])


@pytest.mark.covers("R-PO-6")
@pytest.mark.parametrize("count", [0, 101])
def test_a_batch_of_none_or_too_many_is_refused(count: int) -> None:
    with pytest.raises(ChatError, match="1 to 100"):
        Limits().check_drafts([Draft("x")] * count)


@pytest.mark.covers("R-RS-3")
def test_page_sizes_are_clamped_or_refused() -> None:
    assert [Limits().page_size(limit) for limit in (None, 1, 5000)] == [1000, 1, 1000]
    for senseless in (0, -1, 1.5, True, "7"):
        with pytest.raises(ChatError) as caught:
            Limits().page_size(senseless)
        assert caught.value.code == "invalid_argument"


@pytest.mark.covers("R-RS-5")
@given(st.text(max_size=25))
def test_a_cursor_is_digits_or_refused(text: str) -> None:
    digits = text == "" or (1 <= len(text) <= 19 and all(c in "0123456789" for c in text))
    if digits:
        assert cursor(text) == min(int(text or 0), 2**63 - 1)
    else:
        with pytest.raises(ChatError) as caught:
            cursor(text)
        assert caught.value.code == "invalid_cursor"


@pytest.mark.covers("R-IN-9")
@pytest.mark.parametrize("name", ["", "-a", "a b", "ä", "x" * 65, "a/b", "a\n"])
def test_odd_conversation_names_are_unknown(name: str) -> None:
    with pytest.raises(ChatError) as caught:
        conversation_name(name)
    assert caught.value.code == "unknown_conversation"


@pytest.mark.covers("R-IN-3", "R-IN-4")
@given(st.lists(st.integers(0, 4_000_000_000_000_000), max_size=50))
def test_ids_grow_whatever_the_clock_does_and_sort_as_text(clock: list[int]) -> None:
    ids = [0]
    for now in clock:
        ids.append(next_id(ids[-1], now))

    assert ids == sorted(set(ids))
    assert [id_text(n) for n in ids] == sorted(id_text(n) for n in ids)
    assert all(len(id_text(n)) == 19 for n in ids)


@pytest.mark.covers("R-IN-6")
def test_times_are_utc_with_microseconds() -> None:
    assert ts_text(1_760_013_296_000_001) == "2025-10-09T12:34:56.000001Z"
