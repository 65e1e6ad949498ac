"""A conversation as server-sent events: messages with their id, receipts, and a beat when nothing happens."""

from collections.abc import AsyncIterator

import anyio

from ui_mcp.chat.identity import Principal
from ui_mcp.chat.message import Message, id_text, optional_id
from ui_mcp.chat.service import Ask, Chat
from ui_mcp.jsontypes import JsonObject, dumps

BEAT_SECONDS = 15.0


async def event_stream(chat: Chat, who: Principal, ask: Ask) -> AsyncIterator[str]:
    """Write what comes after the cursor until interrupted; each stream reads for itself: none delays another."""
    after, receipts, came = ask.after_id, None, anyio.current_time() if ask.came is None else ask.came
    with chat.tail.watching():
        yield "retry: 1000\n\n"
        while not chat.tail.interrupted_since(came):
            version = chat.tail.version
            page = await chat.read(who, Ask(after, conversation=ask.conversation))
            if page.messages:
                yield "".join(_message_event(message) for message in page.messages)
            after = optional_id(page.last)
            if page.has_more:
                continue
            newest = await chat.receipts.read(ask.conversation)
            if newest != receipts:
                receipts = newest
                yield _event("receipts", newest)
            while await _quiet(chat, version):
                yield ": alive\n\n"


async def _quiet(chat: Chat, version: int) -> bool:
    """Wait for a change; True when none came for a while."""
    with anyio.move_on_after(BEAT_SECONDS):
        await chat.tail.beyond(version)
        return False
    return True


def _message_event(message: Message) -> str:
    return f"id: {id_text(message.id)}\n{_event('message', entry(message))}"


def entry(message: Message) -> JsonObject:
    """Write one message for a front end, with the sender's own id by which its page finds the local echo again."""
    return message.to_json() | ({"client_id": message.client_id} if message.client_id else {})


def _event(name: str, body: JsonObject) -> str:
    return f"event: {name}\ndata: {dumps(body)}\n\n"
