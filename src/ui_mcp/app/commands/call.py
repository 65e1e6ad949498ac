"""`ui-mcp call`: one tool call to the server of a directory, over the same connection as a host's."""

import base64
import sys
import tempfile
from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path

from ui_mcp.errors import InvalidArgumentsError, NotFoundError
from ui_mcp.jsontypes import Json, JsonObject, loads
from ui_mcp.mcp_client.client import McpClient, Options, connect
from ui_mcp.mcp_client.parsing import text_of
from ui_mcp.mcp_client.transport import Command
from ui_mcp.processes import run
from ui_mcp.terminal_style import style_of
from ui_mcp.toolkit.tool import Call, Relayed, ToolResult

LIFECYCLE = frozenset({"ui_configure", "ui_start", "ui_status", "ui_install", "ui_tools", "ui_update"})
OPTIONS = Options(call_seconds=300.0, forwards_requests=False, client_name="ui-mcp call")


def run_call(base_dir: str, tool: str | None, pairs: Sequence[str], file: str | None) -> tuple[list[str], int]:
    """Call the tool, or list all without one; return the lines to print and the exit code, 1 if the tool failed.

    Raises:
        InvalidArgumentsError: an argument cannot be read.
        NotFoundError: there is no such tool.
    """
    arguments = arguments_of(pairs, file)
    lines: list[str] = []

    async def called() -> int:
        command = Command(sys.executable, ("-m", "ui_mcp", "mcp", "--dir", base_dir))
        async with connect(command, OPTIONS) as client:
            if tool is None:
                lines.extend(await _listed(client))
                return 0
            await _require(client, tool)
            await _start(client, tool)
            result = await client.call(tool, arguments, Call())
            lines.extend([text_of(result), *(f"Picture: {kept_picture(tool, png)}" for png in _pictures(result))])
            return int(result.is_error)

    code = run(called)
    return lines, code


def _pictures(result: ToolResult) -> Iterator[bytes]:
    for content in result.content:
        if isinstance(content, Relayed) and content.block.get("type") == "image":
            yield base64.b64decode(str(content.block["data"]))


def kept_picture(tool: str, png: bytes) -> Path:
    """Write a picture to a temporary file, since a terminal cannot show it."""
    with tempfile.NamedTemporaryFile(prefix=f"{tool}-", suffix=".png", delete=False) as file:
        file.write(png)
    return Path(file.name)


def arguments_of(pairs: Sequence[str], file: str | None) -> JsonObject:
    """Return the arguments of a command line: those of the file, then those that are named; values are JSON or text.

    Raises:
        InvalidArgumentsError: a pair has no `=`, or the file holds no object.
    """
    given = _object_in(file) if file else {}
    for pair in pairs:
        name, mark, value = pair.partition("=")
        if not mark or not name:
            raise InvalidArgumentsError(f"{pair!r} is not an argument\nWrite name=value, for example name=board.")
        given[name] = _value(value)
    return given


def _value(text: str) -> Json:
    try:
        return loads(text)
    except ValueError:
        return text


def _object_in(file: str) -> JsonObject:
    try:
        found = loads(sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidArgumentsError(f"--json {file}: {error}") from error
    if not isinstance(found, dict):
        raise InvalidArgumentsError(f"--json {file}: it must contain an object of arguments")
    return dict(found)


async def _listed(client: McpClient) -> list[str]:
    tools = await client.tools(Call())
    width, style = max((len(tool.name) for tool in tools), default=0), style_of()
    return [
        f"{style.paint(f'{tool.name:{width}}', 'bold')}  {tool.description.splitlines()[0]}"
        for tool in sorted(tools, key=lambda tool: tool.name)
    ]


async def _start(client: McpClient, tool: str) -> None:
    """Start the UI for tools that need it: at a terminal no agent has done so before."""
    status = loads(text_of(await client.call("ui_status", {}, Call())))
    if status.get("state") == "configured" and tool not in LIFECYCLE:
        await client.call("ui_start", {}, Call())


async def _require(client: McpClient, tool: str) -> None:
    names = [one.name for one in await client.tools(Call())]
    near = get_close_matches(tool, names, 1, 0.6)
    # Tools of a group can be called without being listed, so only a word that resembles another is refused.
    if tool not in names and near:
        raise NotFoundError(f"There is no tool {tool!r}\nDid you mean {near[0]}? `ui-mcp call` lists them.")
