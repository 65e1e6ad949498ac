"""Decides what to do with each bundled file; pure."""

from collections.abc import Iterator
from enum import Enum
from hashlib import sha256
from pathlib import Path

from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.version import Version, bundled_readme
from ui_mcp.workspace import BUNDLE, DEFAULT_DIR, Workspace


@dataclass(frozen=True, slots=True)
class BundledFile:
    """One file of the bundle and its destination."""

    target: Path
    """Absolute destination."""
    path: str
    """The destination relative to the project, with `/`; its name in results and records."""
    content: bytes

    @property
    def digest(self) -> str:
        return sha256(self.content).hexdigest()

    @property
    def executable(self) -> bool:
        """Whether the file is a script; the mode may be lost in wheels and archives."""
        return self.content.startswith(b"#!")


def bundled_files(workspace: Workspace, bundle: Path = BUNDLE) -> list[BundledFile]:
    """Return every bundled file with its destination; the README is last because it records the version."""
    readme = bundled_readme() if bundle == BUNDLE else bundle / "base" / "README.md"
    sources = [
        *_tree(bundle / "claude", workspace.claude),
        *_tree(bundle / "claude" / "skills", workspace.project / ".agents" / "skills"),
        *(pair for pair in _tree(bundle / "base", workspace.base) if pair[1] != workspace.readme),
        *([(readme, workspace.readme)] if readme.is_file() else []),
    ]
    return [
        BundledFile(target, workspace.name_of(target), with_directory(source, workspace)) for source, target in sources
    ]


def with_directory(source: Path, workspace: Workspace) -> bytes:
    """Return a bundled file; guides and skills name the real base directory, other files stay as they are."""
    content, base = source.read_bytes(), workspace.name_of(workspace.base)
    if source.suffix != ".md" or source.name == "README.md" or base == DEFAULT_DIR:
        return content
    inside = b"" if base == "." else base.encode() + b"/"
    return content.replace(f"{DEFAULT_DIR}/".encode(), inside).replace(DEFAULT_DIR.encode(), base.encode())


def _tree(source: Path, target: Path) -> Iterator[tuple[Path, Path]]:
    for file in sorted(source.rglob("*")):
        if file.is_file() and not file.name.startswith((".", "__pycache__")):
            yield file, (target / file.relative_to(source)).with_name(DOTTED.get(file.name, file.name))


DOTTED = {"gitignore": ".gitignore"}
"""Files that git or a build would obey if they had their names in our own source."""


class Action(Enum):
    """What to do with one bundled file."""

    WRITE = "write it: it is missing, or what is there is our own older text"
    KEEP = "leave what is there"
    MERGE = "leave the user's text and put ours beside it as FILE.merge"
    BACKUP = "replace the user's text and keep it as FILE.bak"


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known about one destination; digests are SHA-256."""

    bundled: str
    """Of the bundled text."""
    present: str | None
    """Of the existing text; `None` if there is none."""
    recorded: str | None
    """Of the text installed last time; `None` if it is unknown."""


def should_install(bundled: Version | None, installed: Version | None, *, force: bool) -> bool:
    """Return whether to install at all."""
    return force or installed is None or (bundled is not None and bundled > installed)


def action(facts: Facts, *, upgrade: bool, force: bool) -> Action:
    """Return what to do with one file of an install that takes place."""
    if facts.present is None:
        return Action.WRITE
    if facts.present == facts.bundled:
        return Action.WRITE if force else Action.KEEP
    if facts.present == facts.recorded:
        return Action.WRITE
    if force:
        return Action.BACKUP
    unchanged = facts.bundled == facts.recorded
    return Action.MERGE if upgrade and not unchanged else Action.KEEP
