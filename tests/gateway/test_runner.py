"""When a gateway opens a page for the answers of people."""

from pathlib import Path

import anyio
import pytest

from gateway.conftest import Recorder
from gateway.gateways import gateway
from ui_mcp.gateway.runner import _AnswerPage
from ui_mcp.toolkit.tool import Call


@pytest.mark.covers("R-AP-1")
async def test_the_page_opens_for_a_waiting_call_and_not_for_one_that_was_answered(
    recorder: Recorder, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = _AnswerPage(lambda: "", str(tmp_path / "inbox.db"))
    async with gateway(tmp_path, recorder) as found, anyio.create_task_group() as tasks:
        tasks.start_soon(page.open_when_asked, found)
        await anyio.wait_all_tasks_blocked()
        found.approvals.notify("answered-before-a-restart")
        for _ in range(20):
            await found.approvals.pending()
            await anyio.wait_all_tasks_blocked()
        before = page.url
        await found.enforcer.call("shop__addThing", {"body": {"name": "boat"}}, Call())
        with anyio.fail_after(60):
            while not page.url:
                await anyio.sleep(0.01)
        tasks.cancel_scope.cancel()

    assert before == ""
    assert page.url.endswith("/approvals")
    assert capsys.readouterr().err.count("a call is waiting for your answer") == 1
