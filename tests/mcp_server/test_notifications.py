"""Coalescing: at once, then at most every 100 ms, and never without the last change."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui_mcp.mcp_server.definition import ALIASES
from ui_mcp.mcp_server.notifications import MAX_WAITING, QUIET_SECONDS, NotificationQueue
from ui_mcp.toolkit.announcements import ChannelEvent, ListChanged, ResourceUpdated


class Clock:
    """A clock that stands until it is moved."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def canonical(uri: str) -> str:
    (alias, prefix), *_ = ALIASES.items()
    return uri.replace(alias, prefix, 1) if uri.startswith(alias) else uri


def queue_of(clock: Clock, *uris: str) -> NotificationQueue:
    queue = NotificationQueue(canonical, clock)
    for uri in uris:
        queue.subscribe(uri)
    return queue


def uris(messages: list[dict[str, Any]]) -> list[str]:
    return [message["params"]["uri"] for message in messages]


@pytest.mark.covers("MCP-SUB-5")
async def test_a_burst_is_told_at_once_and_once_more_after_the_quiet_time() -> None:
    clock = Clock()
    queue = queue_of(clock, "ui://state")
    queue.publish(ResourceUpdated("ui://state"))
    first = await queue.get()
    for _ in range(50):
        queue.publish(ResourceUpdated("ui://state"))
    at_once = queue._ready()
    clock.now += QUIET_SECONDS
    last = await queue.get()

    assert (uris(first), at_once, uris(last)) == (["ui://state"], [], ["ui://state"])


@pytest.mark.covers("MCP-SUB-5")
async def test_chat_is_told_every_time_with_its_batch() -> None:
    queue = queue_of(Clock(), "ui://chat/inbox")
    for number in range(3):
        queue.publish(ResourceUpdated("ui://chat/inbox", {"messages": [number]}))

    told = [message["params"] for message in await queue.get()]

    assert told == [
        {"uri": "ui://chat/inbox", "messages": [number], "_meta": {"ui-mcp/messages": [number]}} for number in range(3)
    ]


@pytest.mark.covers("MCP-SUB-4")
async def test_a_subscriber_is_told_the_name_it_used() -> None:
    queue = queue_of(Clock(), "ui-mcp://state", "ui-mcp://chat/inbox", "ui://chat/inbox")
    queue.publish(ResourceUpdated("ui://state"))
    queue.publish(ResourceUpdated("ui://chat/inbox"))

    assert sorted(uris(await queue.get())) == ["ui-mcp://chat/inbox", "ui-mcp://state", "ui://chat/inbox"]


async def test_what_was_not_asked_for_is_not_told() -> None:
    queue = queue_of(Clock(), "ui://state")
    queue.subscribe("ui://events")
    queue.unsubscribe("ui://events")
    queue.publish(ResourceUpdated("ui://events"))
    queue.publish(ListChanged("tools"))
    queue.publish(ChannelEvent("hello", {}))
    queue.close()

    assert await queue.get() == []


@pytest.mark.covers("MCP-LIM-4")
async def test_a_client_that_does_not_read_is_cut_off_at_the_limit() -> None:
    queue = queue_of(Clock(), "ui://chat/head")
    for _ in range(MAX_WAITING * 3):
        queue.publish(ResourceUpdated("ui://chat/head"))

    assert queue.closed
    assert len(await queue.get()) == MAX_WAITING + 1
    assert await queue.get() == []


@given(st.lists(st.tuples(st.sampled_from(["ui://a", "ui://b", "ui://chat/c"]), st.floats(0, 0.3)), max_size=60))
def test_after_every_change_a_later_message_tells_of_it(changes: list[tuple[str, float]]) -> None:
    clock = Clock()
    queue = queue_of(clock, "ui://a", "ui://b", "ui://chat/c")
    unheard: set[str] = set()
    told_at: dict[str, float] = {}
    for uri, pause in [*changes, ("ui://a", 0.2), ("ui://b", 0.2)]:
        queue.publish(ResourceUpdated(uri))
        unheard.add(uri)
        clock.now += pause
        for heard in uris(queue._ready()):
            unheard.discard(heard)
            if not heard.startswith("ui://chat/"):
                assert clock.now - told_at.get(heard, 0) >= QUIET_SECONDS - 1e-6
            told_at[heard] = clock.now
    clock.now += 1
    unheard -= set(uris(queue._ready()))

    assert unheard == set()
