"""Records the tools of the UI server in src/ui_mcp/ui/tool_list.json; run it after changing how a tool is described."""

import sys
from pathlib import Path

import anyio

from ui_mcp.app.ui_server import open_host
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.toolkit.tool import Call, Tool
from ui_mcp.ui.instance import ListenPorts
from ui_mcp.ui.toolset import RECORD, all_tools, record_of


async def listed() -> list[Tool]:
    """Return the tools as their modules describe them."""
    announcements = Announcements()
    async with open_host({}, ListenPorts(), announcements) as host:
        return list(await all_tools(host).tools(Call()))


def generated() -> dict[Path, str]:
    return {RECORD: record_of(anyio.run(listed))}


if __name__ == "__main__":
    for file, text in generated().items():
        file.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{file.name} written\n")
