"""The same random conversations with our core and with the SDK: every difference is a listed one."""

import logging
import os
from collections import Counter
from collections.abc import AsyncIterator

import pytest

from conformance.conversations import Conversation, conversation
from conformance.differences import DIFFERENCES, Case, essence, explanation
from conformance.peers import HttpServers, Peer, http_servers, streams

COUNT = int(os.environ.get("CONVERSATIONS", "300"))
FIRST = int(os.environ.get("FIRST_SEED", "0"))
ALL = 5000
"""So many conversations from seed 0 on show every listed difference; fewer, or others, may not."""


async def differences(talk: Conversation, ours: Peer, theirs: Peer) -> AsyncIterator[Case]:
    """Hold one conversation with both servers, and yield every message that they answer differently."""
    for turn in talk.turns:
        answers = await ours.send(turn.message, turn.headers), await theirs.send(turn.message, turn.headers)
        if essence(answers[0]) != essence(answers[1]):
            yield Case(talk, turn, *answers)


async def found_in(seed: int, servers: HttpServers) -> list[Case]:
    talk = conversation(seed)
    if talk.over_http:
        return [case async for case in differences(talk, *servers.peers())]
    async with streams() as peers:
        return [case async for case in differences(talk, *peers)]


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.covers("MCP-SDK-6")
async def test_every_difference_between_our_core_and_the_sdk_is_explained(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.CRITICAL)
    messages, explained, unexplained = 0, Counter[str](), list[Case]()
    async with http_servers() as servers:
        for seed in range(FIRST, FIRST + COUNT):
            messages += len(conversation(seed).turns)
            for case in await found_in(seed, servers):
                reason = explanation(case)
                if reason is None:
                    unexplained.append(case)
                else:
                    explained[reason] += 1
    with capsys.disabled():
        print(f"\n{COUNT} conversations from seed {FIRST}, {messages} messages")
        print(f"{explained.total()} explained: {dict(explained)}")

    assert unexplained == []
    if COUNT >= ALL and FIRST == 0:
        assert set(explained) == set(DIFFERENCES)
