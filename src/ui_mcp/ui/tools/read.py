"""`ui_read`: files of apps, guides and logs."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from anyio import to_thread

from ui_mcp.errors import NotFoundError, RefusedError
from ui_mcp.fields import Limit
from ui_mcp.files import LinkError, open_inside
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call, ToolResult, text_result
from ui_mcp.ui.app_files import app_folder, present_files, require_path, version_of
from ui_mcp.ui.resource_files import BUNDLED, MAX_BYTES, folder_entries, read_file
from ui_mcp.ui.server import UiServer
from ui_mcp.workspace import Workspace

LOGS = ("lua.log", "lua-err.log", "mcp.log")
LOG_LINES = 100
LINES = 2000


@dataclass(frozen=True, slots=True)
class ReadArgs:
    """What to read."""

    path: Annotated[str, "apps/NAME, apps/NAME/FILE, resources/GUIDE or log/FILE; empty lists all."] = ""
    line: Annotated[int, "First line; of a log, negative counts from the end.", Limit(ge=-100_000)] = 0
    lines: Annotated[int, "How many; 0 = as many as usual.", Limit(ge=0, le=100_000)] = 0


@tool("ui_read", ReadArgs, title="Read files", annotations=Annotations(read_only=True, idempotent=True))
async def read(host: UiServer, args: ReadArgs, call: Call) -> ToolResult:
    """Read a file of an app, a guide or a log.

    When: you edit what you have not written, or look for an error. Answers the text and, for apps, the `base` for
    ui_edit. Example: {"path": "apps/todo/app.lua"}
    """
    return await to_thread.run_sync(_read, host.configured().workspace, args)


def _read(workspace: Workspace, args: ReadArgs) -> ToolResult:
    kind, _, rest = args.path.removeprefix("ui://").strip("/").partition("/")
    match kind:
        case "":
            return text_result(_everything(workspace))
        case "apps":
            return _app(workspace, rest, args)
        case "log":
            return text_result(_log(workspace, rest, args))
        case "resources":
            return text_result(_guide(workspace, rest, args))
        case _:
            return text_result(_guide(workspace, args.path.removeprefix("ui://").strip("/"), args))


def _everything(workspace: Workspace) -> str:
    apps = [f"apps/{folder.name}" for folder in _apps(workspace)]
    guides = [f"resources/{one['name']}" for one in folder_entries("", _guides(workspace)) or ()]
    logs = [f"log/{name}" for name in LOGS if (workspace.log / name).is_file()]
    return "\n".join([*apps, *guides, *logs])


def _apps(workspace: Workspace) -> Sequence[Path]:
    return sorted(file.parent for file in workspace.apps.glob("*/app.lua"))


def _app(workspace: Workspace, rest: str, args: ReadArgs) -> ToolResult:
    name, _, path = rest.partition("/")
    if not name:
        return text_result("\n".join(f"apps/{folder.name}" for folder in _apps(workspace)) or "There are no apps yet.")
    folder = app_folder(workspace, name)
    files = present_files(folder)
    version = f"version {version_of(files)}"
    if not path:
        return text_result("\n".join(f"{file} {len(content)} bytes" for file, content in files.items()), version)
    require_path(folder, path)
    if path not in files:
        raise NotFoundError(f"There is no {path} in apps/{name}; there are: {', '.join(files) or 'no files'}")
    return text_result(_part(_text(path, files[path]), args, LINES), version)


def _log(workspace: Workspace, name: str, args: ReadArgs) -> str:
    if name not in LOGS:
        raise NotFoundError(f"No log {name!r}; there are: {', '.join(LOGS)}")
    try:
        descriptor = open_inside(workspace.base, workspace.log / name, os.O_RDONLY)
    except LinkError as error:
        raise RefusedError(f"log/{name} is a link, which is not followed") from error
    except OSError as error:
        raise NotFoundError(f"There is no log/{name}") from error
    with os.fdopen(descriptor, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - MAX_BYTES))
        text = file.read().decode("utf-8", "replace")
    first = args.line or -(args.lines or LOG_LINES)
    lines = text.splitlines()
    return _part(
        text, ReadArgs(line=max(1, len(lines) + 1 + first) if first < 0 else first, lines=args.lines), LOG_LINES
    )


def _guide(workspace: Workspace, path: str, args: ReadArgs) -> str:
    folders = _guides(workspace)
    if (entries := folder_entries(path, folders)) is not None:
        return "\n".join(f"{one['name']}{'/' if one['is_dir'] else ''}" for one in entries)
    body = read_file(f"ui://{path}", path, folders).body
    return _part(body if isinstance(body, str) else _text(path, body), args, LINES)


def _guides(workspace: Workspace) -> list[Path]:
    return [workspace.resources, BUNDLED]


def _text(path: str, content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise RefusedError(f"{path} is not text: {len(content)} bytes") from error


def _part(text: str, args: ReadArgs, usual: int) -> str:
    """Return the chosen lines, and say what was left out."""
    lines = text.splitlines(keepends=True)
    first, count = max(args.line, 1), args.lines or usual
    chosen = "".join(lines[first - 1 : first - 1 + count])
    if first == 1 and len(lines) <= count:
        return chosen
    return f"{chosen}\n… lines {first} to {min(len(lines), first - 1 + count)} of {len(lines)}"
