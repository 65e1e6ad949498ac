"""What tools answer and how they fail, as clients see it."""

import errno
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mcp_server.definitions import sample_definition
from mcp_server.wire import wired
from ui_mcp.errors import DISK_HINT
from ui_mcp.mcp_server.results import KEPT_RESULTS, OverflowFiles
from ui_mcp.toolkit.functions import FunctionToolset, NoArgs, tool
from ui_mcp.toolkit.tool import Call


@pytest.mark.covers("MCP-RESULT-1", "MCP-RESULT-2", "MCP-RESULT-4")
async def test_each_tool_answers_in_one_form() -> None:
    async with wired(sample_definition()) as wire:
        await wire.shake_hands()
        plain = (await wire.call("echo", text="grün"))["result"]
        picture = (await wire.call("picture"))["result"]
        facts = (await wire.call("facts"))["result"]

    assert plain == {"content": [{"type": "text", "text": "grün"}], "isError": False}
    assert picture["content"] == [{"type": "image", "data": "iVBORw==", "mimeType": "image/png"}]
    assert "structuredContent" not in picture
    assert facts["structuredContent"] == {"ä": 1, "era": "handshake", "principal": "local", "client": "wire"}
    assert facts["content"][0]["text"] == '{"ä":1,"era":"handshake","principal":"local","client":"wire"}'


@pytest.mark.covers("MCP-RESULT-1", "MCP-ERR-1", "MCP-ERR-2")
async def test_failures_have_the_code_their_cause_deserves(caplog: pytest.LogCaptureFixture) -> None:
    async with wired(sample_definition()) as wire:
        await wire.shake_hands()
        failed = (await wire.call("fail"))["result"]
        wrong = (await wire.call("echo", txt="x"))["result"]
        unknown = (await wire.call("nope"))["error"]
        crashed = (await wire.call("crash"))["error"]
        after = await wire.call("echo", text="next")

    assert failed == {
        "content": [{"type": "text", "text": "attempt to index a nil value\napps/x/app.lua:3"}],
        "isError": True,
    }
    assert wrong["isError"] is True
    assert "text: is missing" in wrong["content"][0]["text"]
    assert unknown == {"code": -32602, "message": "Unknown tool: nope"}
    assert crashed == {"code": -32603, "message": "Internal error"}
    assert "secret detail" in caplog.text
    assert after["result"]["content"][0]["text"] == "next"


@pytest.mark.covers("MCP-TOOL-1")
async def test_an_alias_can_be_called_but_is_not_listed() -> None:
    async with wired(sample_definition()) as wire:
        await wire.shake_hands()
        listed = [tool["name"] for tool in (await wire.ask("tools/list"))["result"]["tools"]]
        answer = await wire.call("say.again", text="x")

    assert "say.again" not in listed
    assert answer["result"]["content"][0]["text"] == "x"


@pytest.mark.covers("MCP-TOOL-3", "MCP-TOOL-4")
async def test_a_tool_is_listed_with_title_hints_and_a_closed_schema() -> None:
    async with wired(sample_definition()) as wire:
        await wire.shake_hands()
        listed = (await wire.ask("tools/list"))["result"]["tools"][0]

    assert (listed["name"], listed["title"], listed["description"]) == ("echo", "Echo", "Say it again.")
    assert listed["annotations"] == {"readOnlyHint": True, "openWorldHint": False}
    schema = listed["inputSchema"]
    assert (schema["type"], schema["additionalProperties"], schema["required"]) == ("object", False, ["text"])
    assert "$schema" not in schema
    assert all("description" in field for field in schema["properties"].values())


@pytest.mark.covers("MCP-RESULT-4")
async def test_text_that_utf8_cannot_write_is_replaced_not_lost() -> None:
    async with wired(sample_definition()) as wire:
        await wire.shake_hands()
        answer = await wire.call("odd")

    assert answer["result"]["content"][0]["text"] == "half a ? face"


@pytest.mark.covers("MCP-RESULT-3")
async def test_a_text_over_the_budget_goes_to_a_file_and_the_answer_says_where(tmp_path: Path) -> None:
    async with wired(sample_definition(spill=OverflowFiles(lambda: tmp_path / "log"))) as wire:
        await wire.shake_hands()
        fits = await wire.call("echo", text="y" * 1000)
        answer = await wire.call("echo", text="xyz" * 1000)

    import json

    note = json.loads(answer["result"]["content"][0]["text"])
    file = tmp_path / "log/result-1.json"
    assert fits["result"]["content"][0]["text"] == "y" * 1000
    assert note == {
        "truncated": True,
        "chars": 3000,
        "preview": ("xyz" * 1000)[:2000],
        "file": str(file),
        "hint": "narrow the query",
    }
    assert file.read_text() == "xyz" * 1000


@pytest.mark.covers("MCP-RESULT-3")
async def test_only_the_last_results_are_kept(tmp_path: Path) -> None:
    files = OverflowFiles(lambda: tmp_path)
    for number in range(KEPT_RESULTS + 5):
        await files(f"text {number}")

    assert len(list(tmp_path.iterdir())) == KEPT_RESULTS
    assert not (tmp_path / "result-5.json").exists()
    assert (tmp_path / "result-6.json").read_text() == "text 5"


@pytest.mark.covers("MCP-URI-2", "MCP-URI-3", "MCP-URI-4")
async def test_resources_are_listed_and_read_with_their_type_under_both_schemes() -> None:
    async with wired(sample_definition()) as wire:
        await wire.shake_hands()
        listed = (await wire.ask("resources/list"))["result"]["resources"]
        templates = (await wire.ask("resources/templates/list"))["result"]["resourceTemplates"]
        plain = (await wire.ask("resources/read", {"uri": "ui://state"}))["result"]
        alias = (await wire.ask("resources/read", {"uri": "ui-mcp://state"}))["result"]
        blob = (await wire.ask("resources/read", {"uri": "ui://bytes"}))["result"]

    assert [(entry["uri"], entry["mimeType"]) for entry in listed] == [
        ("ui://state", "application/json"),
        ("ui://reference", "text/markdown"),
    ]
    assert templates == [{"uriTemplate": "ui://{path}", "name": "files", "description": "Files"}]
    assert plain["contents"] == [{"uri": "ui://state", "mimeType": "application/json", "text": "[]"}]
    assert alias["contents"] == [{"uri": "ui-mcp://state", "mimeType": "application/json", "text": "[]"}]
    assert blob["contents"][0]["blob"] == "AP8="


@pytest.mark.covers("MCP-URI-5", "MCP-ERR-1")
@pytest.mark.parametrize(("modern", "code"), [(True, -32602), (False, -32002)])
async def test_a_resource_that_cannot_be_read_is_an_error_of_the_era_with_its_uri(modern: bool, code: int) -> None:
    async with wired(sample_definition()) as wire:
        await wire.shake_hands()
        missing, later, nothing, broken = [
            (await wire.ask("resources/read", {"uri": uri}, modern=modern))["error"]
            for uri in ("ui://missing", "ui://later", "ui://nothing", "ui://broken")
        ]

    assert missing == {"code": code, "message": "Resource not found: ui://missing", "data": {"uri": "ui://missing"}}
    assert later == {"code": code, "message": "Server not started", "data": {"uri": "ui://later"}}
    assert nothing["code"] == code
    assert broken == {"code": -32603, "message": "The shelf is on fire", "data": {"uri": "ui://broken"}}


@tool("fill", NoArgs, title="Fill")
async def fill(context: Any, args: NoArgs, call: Call) -> str:
    """Write more than there is room for."""
    raise OSError(errno.ENOSPC, "No space left on device", "/disk/file")


@pytest.mark.covers("MCP-ERR-1")
async def test_a_disk_that_is_full_is_named_with_the_way_out() -> None:
    async with wired(replace(sample_definition(), toolset=FunctionToolset(None, [fill]))) as wire:
        await wire.shake_hands()
        result = (await wire.call("fill"))["result"]

    assert result["isError"]
    assert result["content"][0]["text"].splitlines() == [
        "fill cannot write /disk/file: No space left on device",
        DISK_HINT,
    ]


@pytest.mark.covers("MCP-RESULT-6")
@pytest.mark.parametrize("name", ["gemini-cli-mcp-client", "wire"])
async def test_json_that_is_no_object_is_wrapped_for_clients_that_parse_texts(name: str) -> None:
    @tool("value", NoArgs, title="A value")
    async def value(context: None, args: NoArgs, call: Call) -> list[int]:
        """Answer an array."""
        return [1, 2]

    definition = replace(sample_definition(), toolset=FunctionToolset(None, [value]))
    async with wired(definition) as wire:
        hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": name, "version": "1"}}
        await wire.ask("initialize", hello)
        result = (await wire.call("value"))["result"]

    assert result["content"] == [{"type": "text", "text": "[1,2]"}]
    assert result.get("structuredContent") == (None if name == "wire" else {"result": [1, 2]})
