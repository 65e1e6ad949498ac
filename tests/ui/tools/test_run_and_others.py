import os
from pathlib import Path

import pytest
from anyio import create_task_group, fail_after
from anyio.lowlevel import checkpoint

from ui_mcp.errors import NotFoundError, NotStartedError, UiMcpError
from ui_mcp.jsontypes import Json, loads
from ui_mcp.testing.browser import open_page
from ui_mcp.toolkit.functions import FunctionToolset
from ui_mcp.toolkit.tool import Call, Text
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.sessions.session import Session
from ui_mcp.ui.states import Running
from ui_mcp.ui.tools.audit import audit
from ui_mcp.ui.tools.display import display
from ui_mcp.ui.tools.run import run
from ui_mcp.ui.tools.sync import sync
from ui_mcp.ui.tools.upload_viewdef import upload_viewdef
from ui_mcp.ui.tools.wait import wait
from ui_mcp.version import bundled_version

APP = """
Note = session:prototype("Note", { title = "draft" })
function Note:save() mcp.pushState({ app = "note", event = "saved", title = self.title }) end
if not session.reloading then note = Note:new() end
"""
VIEW = '<template><div><b ui-value="title"></b><button ui-action="save()">Save</button></div></template>'


async def call(host: UiServer, name: str, /, **arguments: Json) -> list[str]:
    toolset = FunctionToolset(host, [audit, display, run, upload_viewdef, wait])
    result = await toolset.call(name, arguments, Call())
    return [block.text for block in result.content if isinstance(block, Text)]


async def run_lua(host: UiServer, code: str) -> str:
    return (await call(host, "ui_run", code=code))[0]


@pytest.fixture
def note(running: Running) -> Session:
    folder = running.workspace.apps / "note"
    (folder / "viewdefs").mkdir(parents=True)
    (folder / "app.lua").write_text(APP)
    (folder / "viewdefs" / "Note.DEFAULT.html").write_text(VIEW)
    return running.sessions.get("1")


@pytest.mark.covers("UI-FSM-4")
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("ui_run", {"code": "return 1"}),
        ("ui_display", {"name": "x"}),
        ("ui_upload_viewdef", {"type": "T", "namespace": "DEFAULT", "content": "<p></p>"}),
        ("ui_wait", {}),
    ],
)
async def test_before_the_start_every_runtime_tool_says_so(
    host: UiServer, tool: str, arguments: dict[str, Json]
) -> None:
    with pytest.raises(NotStartedError, match=r"^Server not started$"):
        await call(host, tool, **arguments)


@pytest.mark.covers("UI-VIEW-18")
@pytest.mark.parametrize(
    ("code", "note"),
    [
        (
            "Bare = session:prototype('Bare', {}) bare = Bare:new()",
            "No viewdef for Bare: write viewdefs/Bare.DEFAULT.html",
        ),
        ("bare = {}", "The app's object has no type: make it with session:prototype(NAME, {…}):new()"),
        ("bare = 5", "The app's value is a number, and only objects are shown"),
    ],
)
async def test_an_app_that_shows_nothing_says_why(host: UiServer, running: Running, code: str, note: str) -> None:
    (running.workspace.apps / "bare").mkdir(parents=True)
    (running.workspace.apps / "bare" / "app.lua").write_text(code)

    answer = await call(host, "ui_display", name="bare")

    assert answer == ["Displayed app: bare", running.url, f"It shows nothing yet. {note}."]


@pytest.mark.covers("UI-TOOL-3", "UI-JSON-1", "UI-JSON-3")
@pytest.mark.parametrize(
    ("code", "answer"),
    [
        ("return 42", 42),
        ("return 10 / 2", 5),
        ("return 0.5", 0.5),
        ("return 'text'", "text"),
        ("return nil", None),
        ("", None),
        ("return true, false", True),
        ("return {1, 2, nil, 4}", [1, 2, None, 4]),
        ("return {b = 1, a = {2}}", {"a": [2], "b": 1}),
        ("return {}", {}),
        ("return {a = print}", {"a": None}),
        ("return '\\255'", "\ufffd"),
    ],
)
async def test_results_are_json(host: UiServer, running: Running, code: str, answer: Json) -> None:
    assert loads(await run_lua(host, code)) == answer


@pytest.mark.covers("UI-MCPG-5")
async def test_code_that_runs_at_the_start_is_told_the_directory_as_it_was_given(
    host: UiServer, tmp_path: Path
) -> None:
    base = tmp_path / "given" / "ui"
    (base / "apps/early").mkdir(parents=True)
    (base / "apps/early/init.lua").write_text("at_start = mcp:status()")
    given = os.path.relpath(base)
    await host.configure(given)
    await host.start()

    early = loads(await run_lua(host, "return at_start"))

    assert (early["base_dir"], early["version"]) == (given, bundled_version())


@pytest.mark.covers("UI-MCPG-5")
async def test_lua_reads_the_same_status_as_the_agent(host: UiServer, running: Running) -> None:
    async with open_page(running.sessions.get("1")):
        told = host.status()
        read = loads(await run_lua(host, "return mcp:status()"))

    shared = ("state", "version", "base_dir", "url", "sessions", "mcp_port")
    assert {name: read[name] for name in shared} == {name: told[name] for name in shared}
    assert (read["state"], read["sessions"]) == ("running", 1)


@pytest.mark.covers("UI-TOOL-6", "UI-TOOL-18")
async def test_the_status_of_a_running_server_counts_its_pages(host: UiServer, running: Running) -> None:
    before = host.status()
    async with open_page(running.sessions.get("1")):
        counted = host.status()["sessions"]

    assert (before["state"], before["url"], before["sessions"], counted) == ("running", running.url, 0, 1)
    assert (before["version"], before["base_dir"]) == (bundled_version(), running.workspace.given)


@pytest.mark.covers("UI-TOOL-3", "UI-LSES-2")
async def test_code_reaches_the_app_through_the_session(host: UiServer, running: Running) -> None:
    await run_lua(host, "session:createAppVariable({type = 'Book', contacts = {{firstName = 'Ada'}}})")

    assert loads(await run_lua(host, "return session:getApp().contacts[1].firstName")) == "Ada"


@pytest.mark.covers("UI-JSON-3")
@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("return print", "function: "),
        ("return 0/0", "nan"),
        ("return 1/0", "inf"),
        ("return coroutine.create(print)", "thread: "),
        ("local t = {name = 'x'} t.me = t return t", "<cycle>"),
    ],
)
async def test_what_is_no_json_is_described(host: UiServer, running: Running, code: str, shown: str) -> None:
    answer = loads(await run_lua(host, code))

    assert list(answer) == ["non-json"]
    assert shown in answer["non-json"]


@pytest.mark.covers("UI-TOOL-15", "UI-EXEC-3")
@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("error('broken')", r"^execution failed: mcp-run:1: broken\n(.|\n)*mcp-run:1"),
        ("return 1 +", r"^execution failed: .*mcp-run:1:.*unexpected"),
        ("return string.rep('x', 2 ^ 31)", r"^execution failed: .*memory"),
    ],
)
async def test_failures_say_where_and_the_session_lives_on(
    host: UiServer, running: Running, code: str, message: str
) -> None:
    with pytest.raises(UiMcpError, match=message):
        await run_lua(host, code)

    assert await run_lua(host, "return 1") == "1"


@pytest.mark.covers("UI-TOOL-15", "UI-EXEC-3")
@pytest.mark.parametrize("lua_seconds", [1.0])
@pytest.mark.parametrize(
    "code",
    [
        "while true do end",
        "while true do pcall(function() while true do end end) end",
        "coroutine.wrap(function() while true do end end)()",
    ],
)
async def test_endless_code_is_stopped_and_the_session_lives_on(host: UiServer, running: Running, code: str) -> None:
    with pytest.raises(UiMcpError, match=r"^execution failed: timeout: Lua code ran longer than 1 s"):
        await run_lua(host, code)

    assert await run_lua(host, "return 1") == "1"


@pytest.mark.covers("UI-SES-1")
async def test_the_session_may_be_named_by_either_id(host: UiServer, running: Running) -> None:
    secret = running.sessions.get("1").secret

    assert await call(host, "ui_run", code="return 1", sessionId=secret) == ["1"]
    with pytest.raises(NotFoundError, match=r"^session 9 not found$"):
        await call(host, "ui_run", code="return 1", sessionId="9")


@pytest.mark.covers("UI-TOOL-8", "UI-TOOL-19", "UI-MCPG-4", "UI-LSES-2")
async def test_display_loads_and_shows_an_app(host: UiServer, running: Running, note: Session) -> None:
    assert await call(host, "ui_display", name="note") == ["Displayed app: note", running.url]

    assert await run_lua(host, "return session:getApp().title") == '"draft"'


@pytest.mark.covers("UI-TOOL-19", "UI-MCPG-9")
@pytest.mark.parametrize("name", ["nowhere", "../etc", "a/b", "a\\b"])
async def test_display_says_why_it_failed(host: UiServer, running: Running, name: str) -> None:
    with pytest.raises(UiMcpError) as raised:
        await call(host, "ui_display", name=name)
    assert raised.value.message.startswith(f"failed to display app: {name}: ")


@pytest.mark.covers("UI-TOOL-19")
async def test_display_wants_a_name(host: UiServer, running: Running) -> None:
    with pytest.raises(UiMcpError, match=r"^name must be a non-empty string$"):
        await call(host, "ui_display", name=" ")


@pytest.mark.covers("UI-TOOL-4", "UI-TOOL-16")
async def test_an_uploaded_viewdef_is_saved_and_shown_at_once(host: UiServer, running: Running, note: Session) -> None:
    await call(host, "ui_display", name="note")
    await call(host, "ui_upload_viewdef", type="Note", namespace="DEFAULT", content=VIEW)
    async with open_page(note) as browser:
        content = '<template><h1 ui-value="title"></h1></template>'
        answer = await call(host, "ui_upload_viewdef", type="Note", namespace="DEFAULT", content=content)
        browser.catch_up()

        assert answer == ["Viewdef Note.DEFAULT uploaded"]
        assert [element.tag for element in browser.app.template.root.walk()][1:] == ["h1"]
        assert browser.value("title") == "draft"
    assert (running.workspace.apps / "note" / "viewdefs" / "Note.DEFAULT.html").read_text() == content


@pytest.mark.covers("UI-TOOL-16")
async def test_an_upload_keeps_the_text_of_the_author_once(host: UiServer, running: Running, note: Session) -> None:
    folder = running.workspace.apps / "note" / "viewdefs"
    author = '<template><i ui-value="title"></i></template>'
    (folder / "Note.DEFAULT.html").write_text(author)

    answers = [
        await call(
            host, "ui_upload_viewdef", type="Note", namespace="DEFAULT", content=f"<template><{tag}></{tag}></template>"
        )
        for tag in ("h1", "h2")
    ]

    assert answers[0][1] == f"The earlier text is kept as {running.workspace.name_of(folder)}/Note.DEFAULT.html.bak"
    assert [len(answer) for answer in answers] == [2, 1]
    assert (folder / "Note.DEFAULT.html.bak").read_text() == author


@pytest.mark.covers("UI-TOOL-16")
async def test_an_upload_that_cannot_be_saved_is_shown_and_says_so(
    host: UiServer, running: Running, note: Session, tmp_path: Path
) -> None:
    file = running.workspace.apps / "note" / "viewdefs" / "Note.DEFAULT.html"
    (tmp_path / "elsewhere.html").write_text(VIEW)
    file.unlink()
    file.symlink_to(tmp_path / "elsewhere.html")  # as unwritable as a read-only folder, also for root
    await call(host, "ui_display", name="note")
    async with open_page(note) as browser:
        content = '<template><h1 ui-value="title"></h1></template>'
        answer = await call(host, "ui_upload_viewdef", type="Note", namespace="DEFAULT", content=content)
        browser.catch_up()

        assert answer[0] == "Viewdef Note.DEFAULT uploaded"
        assert answer[1].startswith("In use until the server ends, but not saved: cannot write ")
        assert answer[1].endswith("remove it)")
        assert [element.tag for element in browser.app.template.root.walk()][1:] == ["h1"]
    assert (tmp_path / "elsewhere.html").read_text() == VIEW


@pytest.mark.covers("UI-TOOL-16")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"content": "just text"}, "invalid viewdef: "),
        ({"content": "<template></template>"}, "invalid viewdef: "),
        ({"type": "../x"}, "type"),
        ({"namespace": "a/b"}, "namespace"),
    ],
)
async def test_a_bad_viewdef_is_refused_and_changes_nothing(
    host: UiServer, running: Running, arguments: dict[str, str], message: str
) -> None:
    with pytest.raises(UiMcpError, match=message):
        await call(host, "ui_upload_viewdef", **{"type": "T", "namespace": "DEFAULT", "content": VIEW, **arguments})
    assert not (running.workspace.viewdefs / "T.DEFAULT.html").exists()


@pytest.mark.covers("UI-TOOL-9", "UI-WAIT-12")
async def test_wait_returns_what_the_app_pushes(host: UiServer, running: Running, note: Session) -> None:
    got: list[list[str]] = []

    async def waiting() -> None:
        got.append(await call(host, "ui_wait", timeout=20))

    async with create_task_group() as group:
        group.start_soon(waiting)
        with fail_after(60):
            while not note.events.polling:
                await checkpoint()
        await run_lua(host, "mcp.pushState({n = 1})")

    assert got == [['[{"n":1}]']]
    assert await call(host, "ui_wait", timeout=0) == ["[]"]


@pytest.mark.covers("UI-TOOL-20", "UI-WAIT-7")
async def test_a_cancelled_wait_loses_nothing(host: UiServer, running: Running, note: Session) -> None:
    async with create_task_group() as group:
        group.start_soon(call, host, "ui_wait")
        with fail_after(60):
            while not note.events.polling:
                await checkpoint()
        note.events.push("1")
        group.cancel_scope.cancel()

    assert not note.events.polling
    assert note.events.texts() in (["1"], [])


@pytest.mark.covers("UI-TOOL-20")
async def test_a_wait_ends_early_when_the_client_leaves(host: UiServer, running: Running) -> None:
    async def leaving() -> None:
        await checkpoint()

    toolset = FunctionToolset(host, [wait])
    with fail_after(60):
        result = await toolset.call("ui_wait", {"timeout": 60}, Call(closing=leaving))

    assert result.content == (Text("[]"),)


@pytest.mark.covers("UI-TOOL-11")
async def test_audit_works_before_the_start(host: UiServer) -> None:
    folder = host.configured().workspace.apps / "empty"
    folder.mkdir(parents=True)

    report = loads((await call(host, "ui_audit", name="empty"))[0])

    assert [finding["rule"] for finding in report["violations"]] == ["missing_app_lua"]


@pytest.mark.covers("UI-WIRE-15", "MCP-APP-5")
async def test_an_embedded_page_of_an_ended_session_is_told_that_it_is_over(host: UiServer, running: Running) -> None:
    await running.sessions.get("1").end()

    result = await FunctionToolset(host, [sync]).call("ui_sync", {}, Call())

    assert result.structured == {"conn": "", "seq": 0, "frames": [], "closed": True, "ended": True}
