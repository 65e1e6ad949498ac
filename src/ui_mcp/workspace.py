"""Every path the program reads or writes, derived once from `base_dir`."""

from dataclasses import dataclass
from pathlib import Path

BUNDLE = Path(__file__).parent / "bundle"
"""What the program brings along: `base/` and `claude/` get installed, the rest is served from here."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """The directories and files of one project."""

    given: str
    """`base_dir` as the user wrote it; `ui_status` shows it."""
    base: Path
    """`base_dir`, absolute and with links resolved."""

    @classmethod
    def at(cls, base_dir: str | Path, cwd: Path | None = None) -> "Workspace":
        """Resolve `base_dir` against the working directory."""
        path = Path(base_dir).expanduser()
        return cls(str(base_dir), ((cwd or Path.cwd()) / path).resolve())

    @property
    def project(self) -> Path:
        """The project root: above `.claude/ui`, else the parent of the base directory."""
        if self.base.name == "ui" and self.base.parent.name == ".claude":
            return self.base.parent.parent
        return self.base.parent

    def named(self, path: str) -> Path:
        """Return the file a setting names; a relative path counts from the project."""
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
        return self.base / "storage"

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
        """Directories for their owner alone: chats, logs and settings."""
        return (self.storage, self.log, self.config)

    @property
    def folders(self) -> tuple[Path, ...]:
        """Every directory that configuring creates."""
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
