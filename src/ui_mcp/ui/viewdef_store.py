"""The viewdefs of a workspace and the files they come from."""

import os
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from ui_mcp.errors import DiskError
from ui_mcp.file_watcher import Saved
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger
from ui_mcp.lua.places import inside
from ui_mcp.lua_runtime.permissions import Permissions
from ui_mcp.nofollow import LinkError
from ui_mcp.ui.viewdef_compiler import compile_viewdef
from ui_mcp.viewdefs.store import ViewdefStore, html_files, key_of
from ui_mcp.viewdefs.viewdef import checked_key
from ui_mcp.workspace import BUNDLE, Workspace

_log = logger("viewdefs")
BUNDLED = BUNDLE / "base" / "viewdefs"


@dataclass(frozen=True, slots=True)
class Reloaded:
    """What reading saved files gave: text for the Lua worlds, or nothing new; good files, and wrong ones."""

    bundle: str | None
    good: list[str]
    problems: list[JsonObject]


class ViewdefFiles:
    """Files of `viewdefs/` win over those of apps, and these over the bundled ones."""

    def __init__(self, workspace: Workspace, permissions: Permissions | None = None) -> None:
        self._workspace = workspace
        self._permissions = permissions
        self._store = ViewdefStore(why_not=self._why_not)

    def load(self) -> None:
        """Read all files."""
        self._store.load(*self._folders())
        for problem in self._store.problems.values():
            _log.warning("viewdef %s", problem)

    def bundle(self) -> str:
        """Return all viewdefs as the text a Lua world takes."""
        return self._store.bundle()

    def upload(self, key: str, content: str) -> str:
        """Register `content` and save it; return the text for the Lua worlds.

        Raises:
            ViewdefError: it cannot be compiled; nothing has changed.
            DiskError: it cannot be written; nothing has changed.
        """
        type_name, _, namespace = key.rpartition(".")
        compile_viewdef(checked_key(type_name, namespace), content)
        try:
            _write(self._real_file(key), content)
        except OSError as error:
            raise DiskError(f"Cannot write {self._file_for(key)}", error) from error
        self._store.put(type_name, namespace, content)
        return self._store.bundle([key])

    def reload(self, files: Iterable[Saved]) -> Reloaded:
        """Read saved files again; those hidden by a file of higher rank change nothing."""
        changed: list[str] = []
        good: list[str] = []
        problems: list[JsonObject] = []
        for key, file in self._winners(files):
            before = self._store.get(key)
            if self._store.read(file) is None:
                problems.append({"file": str(file), "message": self._store.problems[key]})
                continue
            good.append(str(file))
            if self._store.get(key) != before:
                changed.append(key)
        return Reloaded(self._store.bundle(changed) if changed else None, good, problems)

    def _why_not(self, file: Path) -> str | None:
        """Say why a file is not read: a link of a repository leads no further than apps may read themselves."""
        real = os.path.realpath(file)
        if self._permissions is None or inside(real, os.path.realpath(BUNDLED)):
            return None
        refused = self._permissions.refusal_to_load(real, str(file))
        return refused.message if refused else None

    def _winners(self, files: Iterable[Saved]) -> list[tuple[str, Path]]:
        saved = {name: file.path for file in files for name in (file.path, *file.names)}
        found: dict[str, Path] = {}
        for key in sorted({key_of(name) for name in saved}):
            winner = self._existing(key)
            if winner is not None and Path(os.path.realpath(winner)) in saved.values():
                found[key] = winner
        return list(found.items())

    def _file_for(self, key: str) -> Path:
        own = self._workspace.base
        existing = self._existing(key)
        return existing if existing and existing.is_relative_to(own) else self._workspace.viewdefs / f"{key}.html"

    def _real_file(self, key: str) -> Path:
        """Return where a viewdef is saved: links are followed only to viewdefs of this base directory."""
        file = self._file_for(key)
        real = Path(os.path.realpath(file))
        ours = real.is_relative_to(self._workspace.base) and real.parent.name == "viewdefs" and real.suffix == ".html"
        if not ours:
            raise LinkError(file)
        return real

    def _existing(self, key: str) -> Path | None:
        matching = (file for folder in self._folders() for file in html_files(folder) if key_of(file) == key)
        return next(matching, None)

    def _folders(self) -> list[Path]:
        apps = sorted(self._workspace.apps.glob("*/viewdefs"))
        return [self._workspace.viewdefs, *apps, BUNDLED]


def _write(target: Path, content: str) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-", suffix=".tmp")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as temporary:
            temporary.write(content)
        Path(name).chmod(0o644)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
