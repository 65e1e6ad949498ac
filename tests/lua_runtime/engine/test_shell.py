"""What apps written for other shells call: the MCP namespace, mcp.json and functions of `mcp`."""

import json
from pathlib import Path

import pytest

from lua_runtime.cores import Bench


@pytest.mark.covers("UI-COMPAT-1")
def test_the_namespace_of_the_shell_exists_before_its_code_runs(tmp_path: Path) -> None:
    (tmp_path / "lua").mkdir()
    (tmp_path / "lua" / "mcp.lua").write_text('MCP.Thing = session:prototype("MCP.Thing", {n = 1})')

    assert Bench(tmp_path).run("return MCP.Thing:new().n") == 1


@pytest.mark.covers("UI-COMPAT-1")
@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("{}", "[]"),
        ("{1, {x = 2}}", '[1,{"x":2}]'),
        ("{_kept = true, a = 'é\\n'}", '{"_kept":true,"a":"é\\n"}'),
        ("1.5", "1.5"),
    ],
)
def test_json_is_encoded(bench: Bench, value: str, text: str) -> None:
    assert bench.run(f"return require('mcp.json').encode({value})") == text


@pytest.mark.covers("UI-COMPAT-1")
@pytest.mark.parametrize(
    "call",
    [
        "encode({1, x = 2})",
        "encode({1, nil, 3})",
        "encode({[1.5] = 1})",
        "encode({[true] = 1})",
        "encode(print)",
        "encode(0/0)",
        "encode(math.huge)",
        "encode((function() local t = {} t.t = t return t end)())",
        "decode('{')",
        "decode('[1,]')",
        "decode(nil)",
    ],
)
def test_what_is_no_json_raises(bench: Bench, call: str) -> None:
    assert bench.run(f"return (pcall(function() return require('mcp.json').{call} end))") is False


@pytest.mark.covers("UI-COMPAT-1")
def test_json_is_decoded_with_null_as_nil(bench: Bench) -> None:
    code = """local t = require("mcp.json").decode('{"a":[1,2],"b":null,"_c":"x"}') return {#t.a, t.b == nil, t._c}"""

    assert bench.run(code) == [2, True, "x"]


@pytest.mark.covers("UI-COMPAT-1")
def test_a_file_of_the_project_goes_before_the_engines_module(bench: Bench) -> None:
    (bench.folder / "apps" / "mcp").mkdir(parents=True)
    (bench.folder / "apps" / "mcp" / "json.lua").write_text("return {mine = true}")

    assert bench.run("return require('mcp.json').mine") is True


@pytest.mark.covers("UI-COMPAT-1", "UI-COMPAT-2")
def test_settings_are_kept_in_storage(bench: Bench) -> None:
    bench.run("mcp:writeSettings({theme = 'dusk'}) mcp:setUpdatePreference(true)")

    assert json.loads((bench.folder / "storage" / "settings.json").read_text()) == {
        "checkUpdate": True,
        "theme": "dusk",
    }
    assert bench.run("return {mcp:getUpdatePreference(), mcp:readSettings().theme, mcp._needsUpdate}") == [
        True,
        "dusk",
        False,
    ]


@pytest.mark.covers("UI-COMPAT-1")
def test_settings_that_are_no_json_count_as_none(bench: Bench) -> None:
    (bench.folder / "storage").mkdir()
    (bench.folder / "storage" / "settings.json").write_text("{")

    assert bench.run("return next(mcp:readSettings()) == nil") is True


@pytest.mark.covers("UI-COMPAT-1")
def test_notifications_use_the_shell_or_the_page(bench: Bench) -> None:
    bench.run("mcp:notify('low battery')")
    bench.run("mcp.note = function(self, text, level) noted = {text, level} end mcp:notify('saved', 'success')")

    assert [(kind, json.loads(text)) for kind, text, _ in bench.out] == [
        ("notice", {"level": "error", "text": "low battery"})
    ]
    assert bench.run("return noted") == ["saved", "info"]


@pytest.mark.covers("UI-COMPAT-1")
def test_todo_steps_report_progress_to_the_app_console(bench: Bench) -> None:
    bench.run("calls = {} appConsole = {onAppProgress = function(_, ...) calls[#calls + 1] = {...} end}")
    bench.run("mcp:createTodos({'Design', 'Write code', 'Polish'}, 'notes') mcp:startTodoStep(2)")

    assert bench.run("return calls") == [["notes", 40, "Write code…"]]
    assert bench.run("local s = {} for i, t in ipairs(mcp.todos) do s[i] = t.status end return s") == [
        "completed",
        "in_progress",
        "pending",
    ]
    assert bench.run("return {mcp.statusLine, mcp.statusClass}") == ["Write code…", "thinking"]
    bench.run("mcp:startTodoStep(3) mcp:completeTodos()")
    assert bench.run("return {calls[2][2], calls[3][2] == nil, mcp.todos[3].status, mcp.statusLine}") == [
        40,
        True,
        "completed",
        "",
    ]


@pytest.mark.covers("UI-COMPAT-1")
def test_without_an_app_console_progress_is_ignored(bench: Bench) -> None:
    bench.run("mcp:appProgress('x', 10, 'reading') mcp:appUpdated('x') mcp:startTodoStep(1) mcp:clearTodos()")

    assert bench.run("return mcp:hasTodos()") is False


@pytest.mark.covers("UI-COMPAT-1")
def test_messages_of_the_agent_are_rendered(bench: Bench) -> None:
    bench.run("mcp:addAgentThinking('reading') mcp:addAgentMessage('**done**') mcp:addRichMessage('<b>x</b>')")

    assert bench.run("return {mcp.messages[1].style, mcp.messages[2].html, mcp.messages[3].html, mcp.statusLine}") == [
        "thinking",
        "<p><strong>done</strong></p>",
        "<b>x</b>",
        "",
    ]


@pytest.mark.covers("UI-COMPAT-1")
def test_a_link_to_highlight_an_element_is_escaped(bench: Bench) -> None:
    html = bench.run("""return mcp:highlightLink("it's", "<b>")""")

    assert 'data-highlight="it&#39;s"' in html
    assert ">&lt;b&gt;</a>" in html


@pytest.mark.covers("UI-COMPAT-1")
def test_a_shell_replaces_functions_even_for_the_products_own_calls(bench: Bench) -> None:
    bench.run("shown = {} mcp.display = function(name) shown[1] = name return true end")
    bench.must("display", "notes")

    assert bench.run("return shown") == ["notes"]


@pytest.mark.covers("UI-COMPAT-2")
def test_a_permitted_write_creates_the_missing_directories(bench: Bench) -> None:
    path = "storage/tracker/data/data.json"

    assert bench.run(f"local f = io.open('{path}', 'w') f:write('{{}}') f:close() return true") is True
    assert (bench.folder / path).read_text() == "{}"


@pytest.mark.covers("UI-COMPAT-2")
def test_neither_reading_nor_a_refused_write_creates_directories(bench: Bench) -> None:
    bench.run("io.open('storage/a/x.json', 'r') io.open('apps/b/x.json', 'w')")

    assert not (bench.folder / "storage" / "a").exists()
    assert not (bench.folder / "apps" / "b").exists()
