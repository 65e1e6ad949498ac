"""A real Claude Code asks for permission; the person answers in the inbox, after the server was started anew."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import anyio
import httpx2
import pytest
from anyio import to_thread

from hosts.drivers import DRIVERS, Place
from hosts.model_server import FINISHED, scripted_model
from hosts.pinned import node_folder
from hosts.running import end_remaining, environment
from hosts.test_loop import folder_with
from person_client import let_in
from servers import running_server
from ui_mcp.jsontypes import JsonObject

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

CLAUDE = next(driver for driver in DRIVERS if driver.name == "claude-code")
WANTED = [("Bash", {"command": "echo yes > made.txt", "description": "Make a file"})]
ASKING = [
    "claude", "-p", "Make a file.", "--permission-mode", "default", "--model", "claude-sonnet-4-5",
    "--setting-sources", "local",
]  # fmt: skip


async def waiting(url: str) -> Sequence[JsonObject]:
    """Return the questions once there is one."""
    headers = await to_thread.run_sync(let_in, url)
    async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=60) as person:
        while not (found := (await person.get("/inbox")).json()["questions"]):
            await anyio.lowlevel.checkpoint()
        return list(found)


async def answered(url: str, question: JsonObject, decision: str) -> int:
    headers = await to_thread.run_sync(let_in, url)
    async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=60) as person:
        answer = await person.post(f"/inbox/{question['id']}/answer", json={"decision": decision})
        return answer.status_code


@pytest.mark.covers("INBOX-8", "INBOX-2")
@pytest.mark.parametrize(("decision", "made"), [("allow", True), ("deny", False)])
async def test_claude_code_goes_on_as_the_person_decides(decision: str, *, made: bool, tmp_path: Path) -> None:
    hosts = await to_thread.run_sync(folder_with, CLAUDE)
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    with scripted_model(WANTED) as (address, script):
        place = Place(tmp_path / "home", tmp_path / "project", address)
        own = {name: value for name, value in os.environ.items() if name.startswith("XDG_")}
        variables = environment(CLAUDE, place, hosts, [node_folder()]) | own
        setup = ["ui-mcp", "setup", "--hooks", "--yes", "claude-code"]
        await anyio.run_process(setup, cwd=place.project, env=variables)
        async with running_server(place.project) as first:
            process = await anyio.open_process(
                ASKING, cwd=place.project, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
            )
            (question,) = await waiting(first.person_url)
        async with running_server(place.project) as second:
            (again,) = await waiting(second.person_url)
            statuses = [await answered(second.person_url, again, decision) for _ in range(2)]
            assert process.stdout is not None
            words = b"".join([piece async for piece in process.stdout])
            code = await process.wait()
    end_remaining(place)

    assert question == again
    assert question["title"] == "Claude Code wants to run a command: echo yes > made.txt"
    assert question["body"]["arguments"] == WANTED[0][1]
    assert statuses == [200, 409]
    assert (code, FINISHED in words.decode()) == (0, True)
    assert (place.project / "made.txt").exists() is made
    if not made:
        assert "The person denied this" in script.outcomes[0].text
