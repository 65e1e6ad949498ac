"""Deletes apps in a way that can be undone: they are kept in `.ui-mcp/deleted/` until newer ones replace them."""

import json
import re
import shutil
import time
from contextlib import suppress
from pathlib import Path
from secrets import token_hex

from ui_mcp.errors import NotFoundError, RefusedError
from ui_mcp.files import PRIVATE, write_atomic
from ui_mcp.ui.app_files import app_folder
from ui_mcp.workspace import Workspace, make_own

MAX_KEPT = 20
_ID = re.compile(r"[0-9a-f]{16}")


def remove(workspace: Workspace, name: str) -> str:
    """Move an app out of `apps/` and return the id by which `restore` brings it back.

    Raises:
        NotFoundError: there is no such app.
        RefusedError: it is a link, or cannot be moved.
    """
    place = workspace.apps / name
    app_folder(workspace, name)
    if place.is_symlink():
        raise RefusedError(f"apps/{name} is a link to {place.resolve()}\nRemove the link yourself; its files stay.")
    make_own(workspace)
    number = token_hex(8)
    kept = workspace.own / "deleted" / number
    kept.mkdir(parents=True, mode=0o700)
    write_atomic(kept / "app.json", json.dumps({"name": name, "at": int(time.time())}).encode(), mode=PRIVATE)
    try:
        shutil.move(place, kept / "files")
        source = workspace.own / "sources" / f"{name}.json"
        with suppress(FileNotFoundError):
            shutil.move(source, kept / "source.json")
    except OSError as error:
        raise RefusedError(f"apps/{name} cannot be deleted: {error.strerror or error}") from error
    _forget_oldest(kept.parent)
    return number


def restore(workspace: Workspace, number: str) -> str:
    """Bring a deleted app back and return its name.

    Raises:
        NotFoundError: it is not kept any more.
        RefusedError: there is another app of this name now.
    """
    kept = workspace.own / "deleted" / number
    try:
        name = str(json.loads((kept / "app.json").read_bytes())["name"]) if _ID.fullmatch(number) else ""
    except (OSError, ValueError, KeyError):
        name = ""
    if not name or not (kept / "files").is_dir():
        raise NotFoundError("This app is not kept any more")
    target = workspace.apps / name
    if target.exists() or target.is_symlink():
        raise RefusedError(f"There is another app {name!r} now\nRename or delete it first.")
    shutil.move(kept / "files", target)
    with suppress(FileNotFoundError):
        shutil.move(kept / "source.json", workspace.own / "sources" / f"{name}.json")
    shutil.rmtree(kept, ignore_errors=True)
    return name


def _forget_oldest(folder: Path) -> None:
    kept = sorted((place for place in folder.iterdir() if place.is_dir()), key=lambda place: place.stat().st_mtime)
    for place in kept[:-MAX_KEPT]:
        shutil.rmtree(place, ignore_errors=True)
