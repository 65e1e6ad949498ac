"""`ui-mcp approvals hook`: asks in the inbox while a server runs, and else leaves the prompt to the host."""

import sys
from pathlib import Path

import anyio
import pytest

from servers import running_server
from ui_mcp.inbox.service import Reply, inbox_url, opened
from ui_mcp.jsontypes import JsonObject, dumps, loads

SENT: JsonObject = {"hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": {"command": "ls"}}


async def hooked(given: bytes) -> tuple[int, bytes, bytes]:
    done = await anyio.run_process(
        [sys.executable, "-m", "ui_mcp", "approvals", "hook", "claude-code"], input=given, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.covers("INBOX-8")
async def test_without_a_server_the_host_asks_by_itself(tmp_path: Path) -> None:
    silent = await hooked(dumps({**SENT, "cwd": str(tmp_path)}).encode())
    code, words, why = await hooked(b"no JSON")

    assert silent == (0, b"", b"")
    assert (code, words) == (0, b"")
    assert why.startswith(b"ui-mcp approvals hook: ")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.covers("INBOX-8", "INBOX-3")
async def test_with_a_server_the_question_waits_in_the_inbox_and_goes_with_its_hook(tmp_path: Path) -> None:
    below = tmp_path / "src" / "deep"
    below.mkdir(parents=True)
    given = dumps({**SENT, "cwd": str(below)}).encode()
    results: list[tuple[int, bytes, bytes]] = []

    async def hook() -> None:
        results.append(await hooked(given))

    async with running_server(tmp_path) as server, opened(inbox_url(server.config, server.workspace)) as inbox:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(hook)
            while not (waiting := await inbox.pending()):
                await anyio.lowlevel.checkpoint()
            await inbox.answer(waiting[0].id, Reply("allow", "human"))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(hook)
            while not (left := await inbox.pending()):
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()  # which ends the process, as a host does when the person answers there
        gone = await inbox.get(left[0].id)

    decision = loads(results[0][1])["hookSpecificOutput"]["decision"]
    assert (results[0][0], decision) == (0, {"behavior": "allow"})
    assert gone.status == "withdrawn"
