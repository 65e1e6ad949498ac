"""The `mcp` table, start-up order, events and state."""

import json
from pathlib import Path

import pytest

from lua_runtime.cores import Bench
from ui_mcp.lua_runtime.interface import EntryContext


def write(folder: Path, name: str, text: str) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@pytest.mark.covers("UI-LUA-6", "UI-MCPG-1", "UI-MCPG-11", "UI-LSES-1", "UI-LSES-2")
def test_files_run_in_order_and_an_early_root_is_displayed(tmp_path: Path) -> None:
    write(
        tmp_path, "lua/main.lua", "order = {'main', mcp == nil} root = {type = 'Root'} session:createAppVariable(root)"
    )
    write(tmp_path, "lua/mcp.lua", "table.insert(order, 'mcp') function mcp:hello() return 'hi' end")
    write(tmp_path, "apps/b/init.lua", "table.insert(order, 'b')")
    write(tmp_path, "apps/a/init.lua", "table.insert(order, 'a') error('only me')")

    bench = Bench(tmp_path)

    assert bench.run("return order") == ["main", True, "mcp", "a", "b"]
    assert bench.run("return {mcp:hello(), mcp.type, rawequal(session:getApp(), root)}") == ["hi", "MCP", True]
    assert "only me" in (tmp_path / "log" / "lua-err.log").read_text()


@pytest.mark.parametrize("name", ["main", "mcp"])
@pytest.mark.covers("UI-LUA-6", "UI-LUA-13")
def test_a_failing_start_file_is_reported_and_stops_nothing(tmp_path: Path, name: str) -> None:
    write(tmp_path, f"lua/{name}.lua", "local x = nil + 1")
    write(tmp_path, "apps/other/init.lua", "started = true")

    bench = Bench(tmp_path)

    assert [(kind, json.loads(text)["file"]) for kind, text, _ in bench.out] == [("load_error", f"lua/{name}.lua")]
    assert bench.run("return started") is True


@pytest.mark.covers("UI-WAIT-1", "UI-MCPG-2", "UI-MCPG-10", "UI-JSON-2")
def test_events_leave_at_once_as_json(bench: Bench) -> None:
    bench.run("mcp.pushState({event = 'a', _id = 1}) mcp:pushState({1, 2}) local t = {} t.t = t mcp.pushState(t)")

    assert [json.loads(text) for kind, text, _ in bench.out] == [
        {"event": "a", "_id": 1},
        [1, 2],
        {"t": {"non-json": "<cycle: table>"}},
    ]
    assert bench.enter("run", "mcp.pushState('text')")[1] == "mcp-run:1: pushState expects a table, got string"


@pytest.mark.covers("UI-WAIT-11")
def test_an_event_that_is_too_large_is_refused_without_an_error(tmp_path: Path) -> None:
    bench = Bench(tmp_path, max_memory_mb=512)
    answer = bench.run("local ok, why = mcp.pushState({t = ('x'):rep(17 * 1024 * 1024)}) return {ok == nil, why}")

    assert answer == [True, "event too large: 17825800 bytes"]
    assert bench.out == []


@pytest.mark.covers("UI-MCPG-3", "UI-MCPG-5", "UI-MCPG-7")
def test_lua_hears_about_waiters_and_status(bench: Bench) -> None:
    status = '{"state":"running","version":"1.2.3","base_dir":".ui","url":"http://127.0.0.1:1","sessions":2}'
    bench.facts = EntryContext(polling=True, waited=3.0, pending=4, status=status)

    assert bench.run("return {mcp:pollingEvents(), mcp.pendingEventCount(), mcp:waitTime(), mcp.sessionId}") == [
        True,
        4,
        0,
        "secret",
    ]
    assert bench.run("return mcp:status()") == json.loads(status)
    bench.facts = EntryContext(waited=3.0)
    assert bench.run("return mcp:waitTime() >= 3") is True


@pytest.mark.covers("UI-MCPG-4", "UI-MCPG-6", "UI-MCPG-9", "UI-DIR-5")
def test_display_finds_apps_by_name(bench: Bench) -> None:
    write(bench.folder, "apps/claude-panel/app.lua", "claudePanel = {type = 'Panel'}")
    write(bench.folder, "lua/broken.lua", "error('inside')")
    write(bench.folder, "lua/silent.lua", "x = 1")

    note = "No viewdef for Panel: write viewdefs/Panel.DEFAULT.html"
    assert bench.must("display", "claude-panel") == {"note": note, "viewdef": "Panel.DEFAULT"}
    assert bench.run("return mcp.value.type") == "Panel"
    assert bench.out == [("displayed", "claude-panel", 0)]
    assert bench.enter("display", "nowhere")[1] == "app global nowhere not found"
    assert bench.enter("display", "silent")[1] == "app global silent not found"
    assert "inside" in bench.enter("display", "broken")[1]
    assert "inside" in bench.enter("display", "broken")[1]
    for name in ("../x", "a/b", "a\\b", ""):
        assert bench.enter("display", name)[0] == "not-found"
    assert bench.run("return {mcp:app('claude_panel').type, mcp.display('claude-panel')}") == ["Panel", True]


@pytest.mark.covers("UI-LUA-5")
def test_require_caches_allows_cycles_and_retries(bench: Bench) -> None:
    write(bench.folder, "lua/a/b.lua", "loads = (loads or 0) + 1 cycle = require('a.b') return {n = loads}")
    write(bench.folder, "lua/flaky.lua", "tries = (tries or 0) + 1 if tries == 1 then error('first') end")

    assert bench.run("return {require('a.b').n, require('a.b').n, cycle}") == [1, 1, True]
    assert bench.run("return {pcall(require, 'flaky'), require('flaky')}")[-1] is True
    assert "not found" in bench.enter("run", "require('nope')")[1]
    assert "not found" in bench.enter("run", "require('../../etc/x')")[1]


@pytest.mark.covers("UI-RES-1", "UI-JSON-1", "UI-JSON-2")
def test_state_is_what_is_displayed_or_what_the_app_says(bench: Bench) -> None:
    assert bench.must("state") is None
    bench.run("local v = {type = 'V', kids = {}} v.kids[1] = {up = v} mcp.value = v")
    assert bench.must("state") == {"type": "V", "kids": [{"up": {"non-json": "<cycle: V>"}}]}

    bench.run("mcp.state = {short = true}")

    assert bench.must("state") == {"short": True}


@pytest.mark.covers("UI-JSON-2")
def test_huge_and_deep_values_are_cut(bench: Bench) -> None:
    deep = bench.must(
        "run", "local t = {} local top = t for i = 1, 500 do t.t = {} t = t.t end mcp.state = top return 1"
    )
    assert deep == 1
    assert "non-json" in json.dumps(bench.must("state"))
    bench.run("local t = {} for i = 1, 300000 do t[i] = i end mcp.state = t")

    assert bench.must("state")[-1] == {"non-json": "<too much data>"}
    bench.run("mcp.state = {[2^40] = 1}")
    assert bench.must("state") == {str(2**40): 1}
    bench.run("local t = {} for i = 1, 205000 do t['k' .. i] = i end mcp.state = t")
    assert bench.must("state")["…"] == {"non-json": "<too much data>"}


@pytest.mark.covers("UI-LUA-8")
def test_apps_can_encode_and_decode_json(bench: Bench) -> None:
    assert bench.run("return ui.json_encode({a = {1, 'x\\n'}})") == '{"a":[1,"x\\n"]}'
    assert bench.run("""return ui.json_decode([[{"a": [1, null, "\\u00e9\\ud83d\\ude00"]}]]).a[3]""") == "é😀"
    assert bench.run("return {ui.json_decode('{') == nil, (select(2, ui.json_decode('{')))}") == [
        True,
        "expected a name at byte 2",
    ]


@pytest.mark.covers("UI-MD-1")
def test_markdown_shows_html_and_drops_scripts(bench: Bench) -> None:
    html = bench.run(
        "return mcp:renderMarkdown('# A *b*\\n\\n- x\\n- `<i>`\\n\\n<script>1</script> [a](javascript:x) [b](http://c)')"
    )

    assert html == (
        "<h1>A <em>b</em></h1>\n<ul>\n<li>x</li>\n<li><code>&lt;i&gt;</code></li>\n</ul>\n"
        '<p>&lt;script&gt;1&lt;/script&gt; a <a href="http://c">b</a></p>'
    )


@pytest.mark.covers("UI-COMPAT-1")
def test_an_app_may_name_its_root_instead_of_a_global(bench: Bench) -> None:
    write(bench.folder, "lua/adder.lua", "local app = {type = 'Adder', n = 2} session:createAppVariable(app)")

    for _ in range(2):
        bench.must("display", "adder")
        assert bench.run("local n = mcp.value.n mcp.value = nil return n") == 2


@pytest.mark.covers("UI-MCPG-4")
def test_an_app_that_ran_as_the_start_file_is_found_by_its_own_name(tmp_path: Path) -> None:
    write(tmp_path, "lua/contact.lua", "book = {type = 'Contacts'} session:createAppVariable(book)")
    write(tmp_path, "lua/other.lua", "other = {type = 'Other'}")
    (tmp_path / "lua" / "main.lua").symlink_to("contact.lua")
    bench = Bench(tmp_path)

    bench.must("display", "other")
    bench.must("display", "contact")

    assert bench.run("return mcp.value.type") == "Contacts"


@pytest.mark.covers("UI-MCPG-1", "UI-LUA-6")
def test_without_a_shell_of_its_own_a_project_starts_and_shows_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path)

    assert bench.run("return {mcp.type, mcp.value == nil}") == ["MCP", True]
    assert bench.out == []
