"""Writing to a pipe whose reader is slow, and reading lines."""

import os
import select

import anyio
import pytest
from anyio.lowlevel import checkpoint

from ui_mcp.jsonrpc.pipes import BACKLOG, CHUNK, Line, LineReader, Writer


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


@pytest.mark.covers("UI-JOIN-14")
async def test_only_a_chunk_that_is_one_whole_line_is_passed_on_unread() -> None:
    reader, end = os.pipe()
    writer, passed, taken = Writer(end), list[bytes](), list[Line]()

    def pass_on(line: bytes) -> bool:
        passed.append(line)
        return line != b"mine\n"

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(LineReader(reader, taken.append, lambda: writer, pass_on).run)
        with anyio.fail_after(60):
            for chunk in (b"one\n", b"tw", b"o\n", b"three\nfour\n", b"mine\n", b"five\n"):
                os.write(end, chunk)
                while _waiting(reader):
                    await checkpoint()
            os.close(end)
    os.close(reader)

    assert passed == [b"one\n", b"mine\n", b"five\n"]
    assert taken == [b"two", b"three", b"four", b"mine"]


def _waiting(fd: int) -> bool:
    return bool(select.select([fd], [], [], 0)[0])
