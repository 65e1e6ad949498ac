"""The recorded list of the UI server's tools, which is answered before any of them is imported."""

from collections.abc import Sequence
from pathlib import Path

from ui_mcp.jsontypes import JsonObject, dumps, loads
from ui_mcp.toolkit.tool import Tool
from ui_mcp.validation import read, to_json

RECORD = Path(__file__).with_name("tool_list.json")
_ROOT = Path(__file__).parents[1]
_FOLDERS = ("ui/tools", "introspection/tools", "introspection/backends")


def recorded_tools() -> Sequence[Tool] | None:
    """Return the recorded tools; None if a tool or a kind of UI was added or removed since."""
    try:
        record = loads(RECORD.read_bytes())
        return [read(Tool, tool) for tool in record["tools"]] if record["files"] == _files() else None
    except (OSError, ValueError, TypeError, KeyError):
        return None


def record_of(tools: Sequence[Tool]) -> str:
    """Return the text of the record of these tools."""
    written: JsonObject = {"files": _files(), "tools": [to_json(tool) for tool in tools]}
    return dumps(written) + "\n"


def _files() -> list[str]:
    files = [file for folder in _FOLDERS for file in sorted((_ROOT / folder).iterdir())]
    return [file.relative_to(_ROOT).as_posix() for file in files if not file.name.startswith("_")]
