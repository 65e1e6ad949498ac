"""Writing to a pipe whose reader is slow."""

import os

import anyio

from ui_mcp.jsonrpc.pipes import BACKLOG, CHUNK, Writer


async def test_everybody_who_waits_for_room_goes_on_once_there_is_some() -> None:
    reader, end = os.pipe()
    writer = Writer(end)
    writer.write(b"x" * (BACKLOG + 1))
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(writer.run)
            async with anyio.create_task_group() as waiting:
                for _ in range(3):
                    waiting.start_soon(writer.room)
                waiting.start_soon(writer.flushed)
                await anyio.wait_all_tasks_blocked()
                left = BACKLOG + 1
                while left:
                    await anyio.wait_readable(reader)
                    left -= len(os.read(reader, CHUNK))
            tasks.cancel_scope.cancel()
    os.close(reader)
    os.close(end)
