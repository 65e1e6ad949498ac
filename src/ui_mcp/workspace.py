"""Every path that the program reads or writes, derived from `base_dir`."""

import os
from pathlib import Path

from ui_mcp.errors import ConfigError
from ui_mcp.lazy_dataclass import dataclass

DEFAULT_DIR, OTHER_DIR = ".claude/ui", ".ui"
CHAT_FILE, JOURNAL_FILE, STATE_FILE = "runtime.db", "agent.db", "state.db"
TASKS_FILE, INBOX_FILE = "tasks.db", "inbox.db"
"""Names of the SQLite stores in `Workspace.state_dir`."""
APPROVALS_FILE, PAGE_CHAT_FILE, AUDIT_FILE = "approvals.db", "chat.db", "audit.jsonl"
"""Names of a gateway's files in its data folder; the journal of its chat page is `JOURNAL_FILE`."""
OLD_FILES = (CHAT_FILE, JOURNAL_FILE, "install-manifest.json")
"""Files that versions before `.ui-mcp/` stored in `storage/`; ui/base_dir/migration.py lists further ones."""
MOVING = "moving.json"
"""Exists in `.ui-mcp/` while files are being moved there; until it is gone, `storage/` is in use."""

BUNDLE = Path(__file__).parent / "bundle"
"""Packaged files: `base/` and `claude/` are installed into projects, the rest is served from here."""


def default_dir(cwd: Path | None = None) -> str:
    """Return the base directory to use if none is named: `.ui` where only that exists.

    Hosts such as Claude Desktop start servers without a project, at the root of the file system; then it is a directory
    of the account.
    """
    folder = cwd or Path.cwd()
    if folder == folder.parent:
        from platformdirs import user_data_path

        return str(user_data_path("ui-mcp", appauthor=False) / "no-project" / OTHER_DIR)
    return OTHER_DIR if (folder / OTHER_DIR).is_dir() and not (folder / DEFAULT_DIR).is_dir() else DEFAULT_DIR


def _project_above(path: Path) -> tuple[str, Path] | None:
    """Return the name of the base directory in its project, and the project."""
    if path.name == "ui" and path.parent.name == ".claude":
        return DEFAULT_DIR, path.parent.parent
    return (OTHER_DIR, path.parent) if path.name == OTHER_DIR else None


def _why(error: Exception) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else str(error)


@dataclass(frozen=True, slots=True)
class Workspace:
    """The directories and files of one project."""

    given: str
    """`base_dir` as the user wrote it; `ui_status` shows it."""
    base: Path
    """`base_dir`, absolute and with links resolved."""
    project: Path
    """The project root, resolved: above `.claude/ui` or `.ui`, else the base directory itself.

    It is found by the path as given, because `.claude` and `.claude/ui` may be links to a place elsewhere.
    """
    folder: str
    """The base directory as named in the project: `.claude/ui`, `.ui` or `.`."""

    @classmethod
    def at(cls, base_dir: str | Path, cwd: Path | None = None) -> "Workspace":
        """Resolve `base_dir` against the working directory.

        Raises:
            ConfigError: no directory can have this name.
        """
        try:
            path = (cwd or Path.cwd()) / Path(base_dir).expanduser()
            base = path.resolve()
            # With "..", the names above a path are not those of the directories above it.
            known = (base,) if ".." in path.parts else (path, base)
            folder, above = next((found for found in map(_project_above, known) if found), (".", base))
            return cls(str(base_dir), base, above.resolve(), folder)
        except (OSError, ValueError, RuntimeError) as error:  # too long, a null byte, no home, links in a circle
            raise ConfigError(f"cannot use base_dir {str(base_dir)[:80]!r}: {_why(error)}") from error

    def contains(self, path: Path) -> bool:
        """Return whether a path, with links resolved, is in the project or the base directory.

        A `.claude` that is a link belongs to the project if the base directory is in it, because the person chose that.
        """
        real, linked = path.resolve(), self.base.parent
        chosen = self.folder == DEFAULT_DIR and self.claude.resolve() == linked
        return any(real.is_relative_to(root) for root in (self.project, self.base, *([linked] if chosen else [])))

    def name_of(self, file: Path) -> str:
        """Return the path of one of our files in the project, with `/`, also where the base directory is linked."""
        if file.is_relative_to(self.project):
            return file.relative_to(self.project).as_posix()
        return (Path(self.folder) / file.relative_to(self.base)).as_posix()

    def named(self, path: str) -> Path:
        """Resolve the path of a file from a setting; relative paths start at the project root."""
        return (self.project / Path(path).expanduser()).resolve()

    @property
    def claude(self) -> Path:
        """Where skills and agents are installed."""
        return self.project / ".claude"

    @property
    def html(self) -> Path:
        return self.base / "html"

    @property
    def viewdefs(self) -> Path:
        return self.base / "viewdefs"

    @property
    def lua(self) -> Path:
        return self.base / "lua"

    @property
    def apps(self) -> Path:
        return self.base / "apps"

    @property
    def resources(self) -> Path:
        return self.base / "resources"

    @property
    def log(self) -> Path:
        return self.base / "log"

    @property
    def storage(self) -> Path:
        """Folder of the apps' own data."""
        return self.base / "storage"

    @property
    def own(self) -> Path:
        """Private folder of ui-mcp: stores, locks, manifests and attached targets."""
        return self.base / ".ui-mcp"

    @property
    def versions(self) -> Path:
        """Where the edits of each app are kept, with the files before and after them."""
        return self.own / "versions"

    @property
    def state_dir(self) -> Path:
        """Folder that holds our own files now: `own`, or `storage` until the files of an older version are moved."""
        moved = self.own.is_dir() and not (self.own / MOVING).exists()
        return self.own if moved or not self.left_in_storage() else self.storage

    @property
    def attachments(self) -> Path:
        """Files that people attached to messages of the chat."""
        return self.state_dir / "attachments"

    @property
    def prompts(self) -> Path:
        return self.state_dir / "prompts.json"

    def left_in_storage(self) -> list[str]:
        """Return the names of our files that an older version left in `storage/`; links are ignored."""
        found = [name for name in OLD_FILES if (self.storage / name).is_file()]
        if not found or self.storage_leads_away:
            return []
        return [name for name in found if not (self.storage / name).is_symlink()]

    @property
    def storage_leads_away(self) -> bool:
        """Whether `storage` is a link to a folder outside the base directory."""
        return self.storage.is_symlink() and not self.storage.resolve().is_relative_to(self.base)

    @property
    def config(self) -> Path:
        return self.base / "config"

    @property
    def config_file(self) -> Path:
        return self.config / "config.toml"

    @property
    def readme(self) -> Path:
        return self.base / "README.md"

    @property
    def ui_port(self) -> Path:
        return self.base / "ui-port"

    @property
    def mcp_port(self) -> Path:
        return self.base / "mcp-port"

    @property
    def person_port(self) -> Path:
        return self.base / "person-port"

    @property
    def mcp_token(self) -> Path:
        return self.base / "mcp-token"

    @property
    def private(self) -> tuple[Path, ...]:
        """Directories that only their owner may read: chats, logs and settings."""
        return (self.storage, self.log, self.config)

    @property
    def folders(self) -> tuple[Path, ...]:
        """Every directory that is created when the server is configured."""
        return (
            self.html,
            self.viewdefs,
            self.lua,
            self.apps,
            self.resources,
            self.log,
            self.storage,
            self.config,
        )


def make_own(workspace: Workspace) -> None:
    """Create `.ui-mcp/` with mode 0700 and a `.gitignore`, because it holds chats and digests of tokens.

    Raises:
        ConfigError: the path is a link or a file.
    """
    if workspace.own.is_symlink() or workspace.own.is_file():
        kind = "link" if workspace.own.is_symlink() else "file"
        raise ConfigError(f"{workspace.own} is a {kind}, and must be a directory of ui-mcp's own\nRemove the {kind}.")
    fill_own(workspace.own)
    if os.name == "posix" and workspace.own.stat().st_mode & 0o077:
        workspace.own.chmod(0o700)


def fill_own(folder: Path) -> None:
    """Create a folder with the initial contents of `.ui-mcp/`."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    ignore = folder / ".gitignore"
    if not os.path.lexists(ignore):  # not exists(): a dangling link must not be written through
        ignore.write_text("*\n", encoding="utf-8")
