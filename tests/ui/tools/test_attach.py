import socket
from pathlib import Path

import pytest

from ui_mcp.app.ui_server import open_host
from ui_mcp.introspection.tools.attach import attach
from ui_mcp.jsontypes import Json
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.toolkit.functions import FunctionToolset
from ui_mcp.toolkit.tool import Call
from ui_mcp.ui.instance import ListenPorts


@pytest.mark.covers("IN-119")
@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ({"kind": "cdp", "cdp": "http://127.0.0.1:{unused}"}, "MCP_UI_NOT_ENABLED", "Nothing answers at http"),
        ({"kind": "cdp", "cdp": "9222"}, "MCP_UI_INVALID_ARGUMENT", "'9222' is not a complete URL"),
        ({"kind": "url", "url": "example"}, "MCP_UI_INVALID_ARGUMENT", "'example' is not a complete URL"),
    ],
)
async def test_an_agent_attaches_nothing_where_nothing_is(
    tmp_path: Path, announcements: Announcements, arguments: dict[str, str], code: str, said: str
) -> None:
    folder = tmp_path / ".claude" / "ui"
    with socket.socket() as bound:  # a port that is taken but has no listener
        bound.bind(("127.0.0.1", 0))
        port = bound.getsockname()[1]
        given: dict[str, Json] = {name: value.format(unused=port) for name, value in arguments.items()}
        async with open_host({"introspection.allow_attach": True}, ListenPorts(), announcements) as host:
            await host.begin(str(folder))

            result = await FunctionToolset(host.targets, [attach]).call("ui_attach", given, Call())

    assert result.structured is not None
    assert result.structured["error"]["code"] == code
    assert result.structured["error"]["message"].startswith(said)
    assert list(folder.rglob("targets/*")) == []
