"""Server-sent events: numbered, kept alive, ending when their source does."""

from collections.abc import AsyncIterator

import anyio
from starlette.responses import StreamingResponse

from ui_mcp.jsontypes import JsonObject, dumps

KEEP_ALIVE = 15.0


def event_text(name: str, data: JsonObject, number: str) -> str:
    """Write one event."""
    return f"id: {number}\nevent: {name}\ndata: {dumps(data)}\n\n"


def event_stream(texts: AsyncIterator[str]) -> StreamingResponse:
    """Answer with a stream of events."""
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(kept_alive(texts), media_type="text/event-stream", headers=headers)


async def kept_alive(texts: AsyncIterator[str]) -> AsyncIterator[str]:
    """Add a comment whenever nothing was said for a while."""
    send, receive = anyio.create_memory_object_stream[str](0)

    async def pump() -> None:
        async with send:
            async for text in texts:
                await send.send(text)

    async with anyio.create_task_group() as tasks, receive:
        tasks.start_soon(pump)
        while True:
            text = ": still here\n\n"
            with anyio.move_on_after(KEEP_ALIVE):
                try:
                    text = await receive.receive()
                except anyio.EndOfStream:
                    return
            yield text
