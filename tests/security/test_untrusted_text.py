"""Untrusted text stays text: what upstreams and callers say never becomes an order or a question of ours."""

import sys
from pathlib import Path

import pytest
from anyio import to_thread

from gateway.conftest import MakeTarget, Recorder, document, json_reply
from gateway.gateways import gateway
from security.hostile_server import ORDER
from ui_mcp.app.commands.approvals import ApprovalCommand, act
from ui_mcp.gateway.sanitize import escape_control, single_line
from ui_mcp.gateway.toolset import GatewayToolset
from ui_mcp.toolkit.tool import Call

HOSTILE = str(Path(__file__).parent / "hostile_server.py")


@pytest.mark.covers("R-PC-2", "R-AP-9")
async def test_a_hostile_upstream_gets_no_say_outside_its_own_answer(recorder: Recorder, tmp_path: Path) -> None:
    server = {"name": "mail", "command": sys.executable, "args": [HOSTILE]}
    async with gateway(tmp_path, recorder, mcp={"servers": [server], "startup_wait_ms": 20000}) as found:
        listed = {tool.name: tool for tool in await GatewayToolset(found).tools(Call())}
        answered = await found.enforcer.call("mail__read_mail", {}, Call())
        able = Call(era="modern", capabilities={"elicitation": {}})
        asking = await found.enforcer.call("mail__read_mail", {"ask": True}, able)
        told = found.catalog.instructions()
        asked = await found.enforcer.call("shop__deleteThing", {"id": 1}, Call())
    audit = (tmp_path / "data" / "audit.jsonl").read_text()

    assert "mail__read_mail" in listed
    assert [tool for tool in listed.values() if ORDER in tool.description and not tool.name.startswith("mail__")] == []
    assert answered.needs is None
    assert asking.needs is not None
    assert asking.needs.requests["approval"]["params"]["message"] == "The server mail asks: Your password?"
    assert (asked.structured or {})["status"] == "awaiting_approval"
    assert recorder.requests == []
    assert "mail__read_mail" in audit
    assert "root</system>" not in audit
    assert len(told) < 10_000


@pytest.mark.covers("GW-POL-5")
async def test_what_a_person_is_asked_cannot_be_dressed_up(recorder: Recorder, tmp_path: Path) -> None:
    shown: list[str] = []

    async def ask_user(message: str, form: object) -> dict[str, str]:
        shown.append(message)
        return {"action": "cancel"}

    sly = "Claude wants to read a file (reads).\n\n\n\x1b[2J\x1b[H\u202eALL SAFE\u200b"
    async with gateway(tmp_path, recorder, approvals={"sync_wait_s": 3}) as found:
        await found.enforcer.call("shop__addThing", {"body": {"name": sly}}, Call(client_name=sly, ask_user=ask_user))
    lines = [
        *(await _act(tmp_path, ApprovalCommand("list"))),
        *(await _act(tmp_path, ApprovalCommand("show", (await _first(tmp_path),)))),
    ]

    assert shown[0].split("\n")[0].endswith("wants to call shop__addThing (writes).")
    for text in (*shown, *lines):
        assert not {"\x1b", "\u202e", "\u200b", "\x9b"} & set(text)
    assert all("\n" not in line for line in lines)


def test_plain_text_hides_nothing_and_keeps_what_people_write() -> None:
    assert escape_control("Grüße, 你好 🚣\nzweite") == "Grüße, 你好 🚣\nzweite"
    assert escape_control("a\u202eb\x1b[31m\u2066") == "a\\u202eb\\u001b[31m\\u2066"
    assert single_line("a\nb" * 500) == ("a b" * 500)[:200]


async def test_a_documents_words_stay_in_its_own_tools(recorder: Recorder, make_target: MakeTarget) -> None:
    get = {"operationId": "x", "summary": ORDER, "description": ORDER, "tags": [ORDER], "responses": {}}
    described = document({"/x": {"get": get}}, info={"title": ORDER, "version": "1", "description": ORDER})
    recorder.default = json_reply({"next": ORDER, "links": {"next": f"{recorder.url}/evil"}})
    async with make_target(described, base_url=recorder.url) as target:
        await target.refresh()
        names = [entry.name for entry in target.source.entries()]
        answer = await target.source.call("api__x", {}, Call())

    assert [name for name in names if not name.replace("_", "").isalnum()] == []
    assert len(recorder.requests) == 1, "nothing an answer says is followed unless asked for"
    assert answer.structured == {"next": ORDER, "links": {"next": f"{recorder.url}/evil"}}


async def _first(folder: Path) -> str:
    return (await _act(folder, ApprovalCommand("list")))[0].split()[0]


async def _act(folder: Path, command: ApprovalCommand) -> list[str]:
    return await to_thread.run_sync(act, str(folder / "data" / "approvals.db"), command)
