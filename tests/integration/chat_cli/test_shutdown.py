"""A chat server that is asked to stop answers waiting clients and writes nothing to stderr."""

import subprocess
import sys
from pathlib import Path

import anyio
import httpx2
import pytest

from person_client import let_in
from terminals import with_terminal


@pytest.mark.covers("R-BR-5")
async def test_a_stopping_chat_server_ends_streams_and_waits_cleanly(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ui_mcp", "chat", "--face", "human", "--port", "0", "--dir", str(tmp_path)]
    with subprocess.Popen(with_terminal(command), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert server.stderr is not None
        url = (await anyio.to_thread.run_sync(server.stdout.readline)).split()[-1]
        statuses: list[int] = []
        sent = anyio.Event()
        headers = await anyio.to_thread.run_sync(let_in, url)
        async with (
            httpx2.AsyncClient(base_url=url, timeout=120, headers=headers) as http,
            anyio.create_task_group() as tasks,
        ):

            async def trace(name: str, _: object) -> None:
                if name == "http11.send_request_body.complete":
                    sent.set()

            async def wait() -> None:
                answer = await http.get("/chat/wait?timeout=100", extensions={"trace": trace})
                statuses.append(answer.status_code)

            async with http.stream("GET", "/chat/stream") as stream:
                parts = stream.aiter_text()
                await anext(parts)
                tasks.start_soon(wait)
                await sent.wait()
                await http.get("/chat/inbox")  # a later request is answered, so the waiting one has arrived
                server.terminate()
                rest = [part async for part in parts]
        said = await anyio.to_thread.run_sync(server.stderr.read)

    assert (statuses, server.returncode, said) == ([204], 0, "")
    assert all(part.startswith(("event:", "retry:")) for part in rest)
