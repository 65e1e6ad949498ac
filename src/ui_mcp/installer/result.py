"""What an install did, as `ui_install` and `ui-mcp install` report it."""

from dataclasses import dataclass, field

from ui_mcp.jsontypes import JsonObject

HINT = "Use force=true to reinstall"


@dataclass(frozen=True, slots=True)
class Conflict:
    """A file the user changed, kept, with our new text beside it."""

    path: str
    merge_path: str


@dataclass(frozen=True, slots=True)
class InstallResult:
    """Paths are relative to the project, with `/`."""

    installed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    backups: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    bundled_version: str = ""
    installed_version: str | None = None
    version_skipped: bool = False

    def as_json(self) -> JsonObject:
        """Return the documented object; rare lists appear only when they hold something."""
        base: JsonObject = {"installed": self.installed, "skipped": self.skipped, "appended": []}
        if self.version_skipped:
            return {
                "version_skipped": True,
                "bundled_version": self.bundled_version,
                "installed_version": self.installed_version,
                "hint": HINT,
                **base,
            }
        conflicts = [{"path": one.path, "merge_path": one.merge_path} for one in self.conflicts]
        rare = {"conflicts": conflicts, "backups": self.backups, "removed": self.removed}
        return base | {name: found for name, found in rare.items() if found}
