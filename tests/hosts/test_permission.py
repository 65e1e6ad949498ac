"""A real Claude Code asks for permission; the person answers on a phone, after the server was started anew."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import anyio
import httpx2
import pytest
from anyio import to_thread
from playwright.async_api import expect

from hosts.drivers import DRIVERS, Place
from hosts.model_server import FINISHED, scripted_model
from hosts.pinned import node_folder
from hosts.running import end_remaining, environment
from hosts.test_loop import folder_with
from person_client import let_in
from phone_client import push_service
from phone_page import follow, on_phone, phone_browser, phone_settings, turn_notifications_on
from servers import running_server
from ui_mcp.inbox.phone.devices import Devices
from ui_mcp.jsontypes import JsonObject, dumps

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

CLAUDE = next(driver for driver in DRIVERS if driver.name == "claude-code")
WANTED = [("Bash", {"command": "echo yes > made.txt", "description": "Make a file"})]
ASKING = [
    "claude", "-p", "Make a file.", "--permission-mode", "default", "--model", "claude-sonnet-4-5",
    "--setting-sources", "local",
]  # fmt: skip

SERVER = {"mcpServers": {"inbox": {"command": "ui-mcp", "args": ["approvals", "prompt-tool"]}}}
WAYS = {"hook": [], "tool": ["--permission-prompt-tool", "mcp__inbox__permission", "--mcp-config", dumps(SERVER)]}


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


@pytest.mark.covers("INBOX-8", "INBOX-2", "INBOX-9", "INBOX-11")
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("button", "made"), [("Allow once", True), ("Deny", False)])
async def test_claude_code_goes_on_as_the_person_decides(
    way: str, button: str, *, made: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    hosts = await to_thread.run_sync(folder_with, CLAUDE)
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    with scripted_model(WANTED) as (address, script), push_service() as push:
        place = Place(tmp_path / "home", tmp_path / "project", address)
        own = {name: value for name, value in os.environ.items() if name.startswith("XDG_")}
        variables = environment(CLAUDE, place, hosts, [node_folder()]) | own
        setup = ["ui-mcp", "setup", "--hooks", "--yes", "claude-code"]
        if way == "hook":
            await anyio.run_process(setup, cwd=place.project, env=variables)
        settings = phone_settings(tmp_path, push)
        async with phone_browser() as browser:
            async with running_server(place.project, **settings) as first:
                page = await on_phone(browser, f"{first.config.phone.origin}/inbox#code={Devices().new_code()}")
                await turn_notifications_on(page, push)
                process = await anyio.open_process(
                    [*ASKING, *WAYS[way]],
                    cwd=place.project,
                    env=variables,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                )
                (question,) = await waiting(first.person_url)
                message = await to_thread.run_sync(push.received)
            async with running_server(place.project, **settings) as second:
                (again,) = await waiting(second.person_url)
                await follow(page, message["link"])
                card = page.locator(f"#approval-{question['id']}")
                await card.get_by_role("button", name=button, exact=True).click()
                await expect(card).to_have_count(0)
                late = await answered(second.person_url, again, "allow")
                assert process.stdout is not None
                words = b"".join([piece async for piece in process.stdout])
                code = await process.wait()
    end_remaining(place)

    assert question == again
    assert question["title"] == "Claude Code wants to run a command: echo yes > made.txt"
    assert question["body"]["arguments"] == WANTED[0][1]
    assert (message["body"], "made.txt" in str(message)) == ("Claude Code asks for your permission", False)
    assert late == 409
    assert (code, FINISHED in words.decode()) == (0, True)
    assert (place.project / "made.txt").exists() is made
    if not made:
        assert "The person denied this" in script.outcomes[0].text
