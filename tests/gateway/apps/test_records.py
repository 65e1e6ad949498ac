"""Results of tools with an app are kept whole, and what an app tells reaches the model once."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from ui_mcp.gateway.apps.records import AppContexts, AppResults, RecordedApps
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.tool import Call, Text, Tool, ToolResult


class Tools:
    async def tools(self, call: Call) -> Sequence[Tool]:
        return []

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        return ToolResult((Text("shown"),), structured={"rows": [1]}, meta={"secret": "for the app"})


@pytest.mark.covers("GW-APP-7")
@pytest.mark.parametrize(
    ("name", "arguments"), [("s__show", {"a": 1}), ("nlui__call", {"name": "s__show", "arguments": {"a": 1}})]
)
async def test_a_result_is_kept_as_the_server_gave_it(name: str, arguments: JsonObject, tmp_path: Path) -> None:
    results = AppResults(tmp_path)
    tools = RecordedApps(Tools(), lambda tool: tool == "s__show", results)

    await tools.call(name, arguments, Call(agent="talk", call_id="7"))

    kept = await AppResults(tmp_path).load("talk", "7")
    assert kept is not None
    assert (kept["tool"], kept["arguments"]) == ("s__show", {"a": 1})
    assert kept["result"]["_meta"] == {"secret": "for the app"}
    assert await results.load("talk", "8") is None


@pytest.mark.covers("GW-APP-7")
async def test_results_of_other_tools_are_not_kept(tmp_path: Path) -> None:
    results = AppResults(tmp_path)
    await RecordedApps(Tools(), lambda _: False, results).call("s__show", {}, Call(agent="talk", call_id="7"))

    assert await results.load("talk", "7") is None


@pytest.mark.covers("GW-APP-7")
def test_only_the_last_text_of_an_app_counts_and_only_once() -> None:
    contexts = AppContexts()
    contexts.report("talk", "map", {"content": "Paris"})
    contexts.report("talk", "map", {"content": "Rome"})

    assert contexts.take("talk") == {"map": '{"content":"Rome"}'}
    assert contexts.take("talk") == {}
