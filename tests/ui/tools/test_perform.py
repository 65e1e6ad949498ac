import pytest

from ui_mcp.introspection.tools.perform import act
from ui_mcp.toolkit.functions import FunctionToolset
from ui_mcp.toolkit.tool import Call
from ui_mcp.ui.server import UiServer


@pytest.mark.parametrize("target", [{}, "", {"column": "name"}])
async def test_a_target_that_names_no_node_is_told_how_nodes_are_named(host: UiServer, target: object) -> None:
    given = {"actions": [{"type": "click", "target": target}]}

    result = await FunctionToolset(host.targets, [act]).call("ui_perform", given, Call())

    assert result.structured is not None
    assert result.structured["error"]["code"] == "MCP_UI_INVALID_ARGUMENT"
    said = result.structured["error"]["message"]
    assert "target: name the node by uid, path, css or text" in said
