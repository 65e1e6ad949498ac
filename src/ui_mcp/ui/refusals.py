"""Stores the latest refusals of app code in `log/refused.json`, for `ui-mcp doctor`."""

import os
from contextlib import suppress
from pathlib import Path

from ui_mcp.files import open_inside
from ui_mcp.jsontypes import JsonObject, dumps, loads
from ui_mcp.log import logger
from ui_mcp.wire import OutputKind
from ui_mcp.workspace import Workspace

MAX_KEPT = 10
_log = logger("permissions")


def note_refusal(workspace: Workspace, kind: str, text: str) -> None:
    """Log and store a `refused` note of a worker; other kinds are ignored."""
    if kind != OutputKind.REFUSED:
        return
    refusal: JsonObject = loads(text)
    _log.warning("%s", refusal["message"])
    kept = [
        old for old in refusals(workspace) if (old["setting"], old["line"]) != (refusal["setting"], refusal["line"])
    ]
    with suppress(OSError):
        descriptor = open_inside(workspace.base, _file(workspace), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(dumps([*kept, refusal][-MAX_KEPT:]))


def refusals(workspace: Workspace) -> list[JsonObject]:
    """Return the stored refusals, latest last."""
    try:
        found = loads(_file(workspace).read_bytes())
        return [{key: str(one[key]) for key in ("setting", "path", "message", "line")} for one in found]
    except (OSError, ValueError, KeyError, TypeError):
        return []


def _file(workspace: Workspace) -> Path:
    return workspace.log / "refused.json"
