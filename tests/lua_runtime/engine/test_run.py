"""What `ui_run` answers."""

import json
from pathlib import Path

import pytest

from lua_runtime.workers import Recorded, launch_at
from ui_mcp.lua_runtime.interface import Reply
from ui_mcp.lua_runtime.worker_thread import ThreadWorkerHost
from ui_mcp.wire import Op


async def run(folder: Path, code: str, **changes: object) -> Reply:
    worker = await ThreadWorkerHost().launch(launch_at(folder, **changes), Recorded())
    return await worker.call(Op.RUN, code)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("return 1", 1),
        ("return 10/2", 5),
        ("return 2^53", 2**53),
        ("return 0.1", 0.1),
        ("return nil", None),
        ("", None),
        ("return 'a', 'b'", "a"),
        ("return {}", {}),
        ("return {1, 2, nil, 4}", [1, 2, None, 4]),
        ("return {a = 1, _b = 2, 3}", {"1": 3, "a": 1}),
        ("return {'x', 'y', n = 2}", {"1": "x", "2": "y", "n": 2}),
        ("return {[17] = 'a', [42] = 'b', [-1.5] = 'c'}", {"-1.5": "c", "17": "a", "42": "b"}),
        ("return {[1e6] = true}", {"1000000": True}),
        ("return {f = print, n = 0/0, i = 1/0}", {"f": None, "n": None, "i": None}),
        ("return setmetatable({own = 1}, {__index = {inherited = 2}})", {"own": 1}),
        ("return string.char(255, 65)", "\ufffdA"),
        ("local t = {} return {t, t}", [{}, {}]),
    ],
)
@pytest.mark.covers("UI-JSON-1")
async def test_a_result_is_its_json(tmp_path: Path, code: str, expected: object) -> None:
    reply = await run(tmp_path, code)

    assert (json.loads(reply.result), reply.fault) == (expected, None)


CONTACT = """
Contact = session:prototype("Contact", { name = "Ada", tags = EMPTY, _draft = 1 })
Contact.Phone = session:prototype("Contact.Phone", { number = "" })
function Contact:fullName() return self.name end
Friend = session:prototype("Friend", { since = 1843, name = "Mary" }, Contact)
"""


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("return Contact:new()", {"type": "Contact", "name": "Ada"}),
        ("return Contact:new({ name = 'Bo', age = 3 })", {"type": "Contact", "name": "Bo", "age": 3}),
        ("return Friend:new()", {"type": "Friend", "name": "Mary", "since": 1843}),
        ("return { Contact:new({ _x = 1 }) }", [{"type": "Contact", "name": "Ada"}]),
        ("return Contact:new({ type = 'person' })", {"type": "person", "name": "Ada"}),
        ("return Contact:new({ [3] = 'odd' })", {"3": "odd", "type": "Contact", "name": "Ada"}),
        ("return Contact", {"type": "Contact", "name": "Ada"}),
    ],
)
@pytest.mark.covers("UI-JSON-4")
async def test_an_object_is_shown_with_its_type_and_the_fields_it_inherits(
    tmp_path: Path, code: str, expected: object
) -> None:
    worker = await ThreadWorkerHost().launch(launch_at(tmp_path), Recorded())
    await worker.call(Op.RUN, CONTACT)

    assert json.loads((await worker.call(Op.RUN, code)).result) == expected
    await worker.call(Op.RUN, f"mcp.value = (function() {code} end)()")
    assert json.loads((await worker.call(Op.STATE)).result) == expected


@pytest.mark.covers("UI-JSON-3")
async def test_a_cycle_is_printed_with_a_mark(tmp_path: Path) -> None:
    reply = await run(tmp_path, "local t = {name = 'x'} t.self = t return t")

    assert json.loads(reply.result) == {"non-json": '{name = "x", self = <cycle>}'}


async def test_an_error_carries_line_and_traceback(tmp_path: Path) -> None:
    reply = await run(tmp_path, "local x = 1\nerror('no')")

    assert reply.fault is not None
    assert (reply.fault.code, reply.fault.message) == ("lua-error", "mcp-run:2: no")
    assert "mcp-run:2" in reply.fault.traceback
