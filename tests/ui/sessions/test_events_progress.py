"""What the agent announces about its work."""

import anyio
import pytest

from ui_mcp.jsontypes import Json
from ui_mcp.ui.sessions.events import AgentProgress

pytestmark = pytest.mark.covers("UI-SHELL-6")


async def test_a_page_that_waits_gets_the_next_announcement() -> None:
    progress = AgentProgress()
    told: list[Json] = []

    async def wait() -> None:
        told.append(await progress.wait(0, 30))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        progress.update({"todos": [{"content": "Design", "status": "in_progress", "activeForm": "Designing"}]})

    step = {"content": "Design", "status": "in_progress", "active": "Designing"}
    assert told == [{"version": 1, "todos": [step], "apps": {}}]


async def test_an_app_is_listed_while_it_is_built() -> None:
    progress = AgentProgress()
    progress.update({"app": "notes", "progress": 140, "stage": "writing"})
    during = progress.as_json()["apps"]
    progress.update({"app": "notes"})

    assert during == {"notes": {"progress": 100, "stage": "writing"}}
    assert (await progress.wait(0, 0))["apps"] == {}


async def test_a_session_that_ends_releases_the_pages_that_wait() -> None:
    progress = AgentProgress()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(progress.wait, 0, 3600)
        await anyio.wait_all_tasks_blocked()
        progress.close()
    progress.update({"todos": []})

    assert (await progress.wait(1, 3600))["version"] == 1


@pytest.mark.parametrize(
    "facts", [None, 1, [], {"todos": 1}, {"todos": [1, {"content": 2, "status": "x"}]}, {"app": 1, "progress": "x"}]
)
def test_anything_an_app_announces_is_taken(facts: Json) -> None:
    progress = AgentProgress()
    progress.update(facts)

    assert all(step["status"] == "pending" for step in progress.as_json()["todos"])
