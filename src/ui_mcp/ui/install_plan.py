"""The files that get installed: the tree of the bundle is the manifest."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from ui_mcp.version import bundled_readme
from ui_mcp.workspace import BUNDLE, Workspace


@dataclass(frozen=True, slots=True)
class BundledFile:
    """One file of the bundle and where it belongs."""

    target: Path
    """Absolute destination."""
    path: str
    """The destination relative to the project, with `/`: its name in results and records."""
    content: bytes

    @property
    def digest(self) -> str:
        return sha256(self.content).hexdigest()

    @property
    def executable(self) -> bool:
        """Scripts say so themselves: wheels and archives may lose the mode."""
        return self.content.startswith(b"#!")


def bundled_files(workspace: Workspace, bundle: Path = BUNDLE) -> list[BundledFile]:
    """List every bundled file with its destination; the README is last because it records the version."""
    readme = bundled_readme() if bundle == BUNDLE else bundle / "base" / "README.md"
    sources = [
        *_tree(bundle / "claude", workspace.claude),
        *(pair for pair in _tree(bundle / "base", workspace.base) if pair[1] != workspace.readme),
        *([(readme, workspace.readme)] if readme.is_file() else []),
    ]
    return [
        BundledFile(target, target.relative_to(workspace.project).as_posix(), source.read_bytes())
        for source, target in sources
    ]


def _tree(source: Path, target: Path) -> Iterator[tuple[Path, Path]]:
    for file in sorted(source.rglob("*")):
        if file.is_file() and not file.name.startswith((".", "__pycache__")):
            yield file, target / file.relative_to(source)
