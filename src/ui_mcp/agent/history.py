"""Fits a conversation into a model's context without ever dropping the person's question."""

from collections.abc import Callable, Sequence

from ui_mcp.agent.model import AssistantSays, Message, ToolSays, UserSays
from ui_mcp.jsontypes import dumps

CHARS_PER_TOKEN = 4
SHORTENED = "\n[…shortened to fit…]\n"

Block = tuple[Message, ...]
"""Messages that stand or fall together: an answer with the results of its calls, or one message of a person."""


def trimmed(
    messages: Sequence[Message], max_tokens: int, count: Callable[[Message], int] | None = None
) -> list[Message]:
    """Return the newest blocks that fit into `max_tokens` (0 = no limit); the last message of a person always stays."""
    if max_tokens <= 0:
        return list(messages)
    size = count or tokens
    blocks = blocks_of(messages)
    question = next((at for at in reversed(range(len(blocks))) if isinstance(blocks[at][0], UserSays)), None)
    left = max_tokens
    kept: list[Block] = []
    if question is not None:
        asked = _shortened(blocks[question][0], max_tokens, size)
        blocks[question] = (asked,)
        left -= size(asked)
    for at in reversed(range(len(blocks))):
        cost = 0 if at == question else sum(size(message) for message in blocks[at])
        if cost > left and at != question:
            if question is None or at < question:
                break
            continue
        left -= cost
        kept.insert(0, blocks[at])
    return [message for block in kept for message in block]


def blocks_of(messages: Sequence[Message]) -> list[Block]:
    """Group messages so that no call loses its result and no result its call."""
    blocks: list[Block] = []
    for message in messages:
        if isinstance(message, ToolSays) and blocks and not isinstance(blocks[-1][0], UserSays):
            blocks[-1] = (*blocks[-1], message)
        elif not isinstance(message, ToolSays):
            blocks.append((message,))
    return blocks


def tokens(message: Message) -> int:
    """Estimate; vendors differ, and a quarter of the characters is near enough for all of them."""
    match message:
        case AssistantSays(text, calls):
            length = len(text) + sum(len(call.name) + len(dumps(call.arguments)) for call in calls)
        case _:
            length = len(message.text)
    return length // CHARS_PER_TOKEN + 4


def _shortened(message: Message, max_tokens: int, size: Callable[[Message], int]) -> Message:
    if not isinstance(message, UserSays) or size(message) <= max_tokens:
        return message
    room = max(0, (max_tokens - 4) * CHARS_PER_TOKEN - len(SHORTENED))
    head = room * 2 // 3
    tail = room - head
    return UserSays(message.text[:head] + SHORTENED + (message.text[-tail:] if tail else ""))
