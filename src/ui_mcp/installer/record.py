"""`.ui-mcp/install-manifest.json`: which texts we installed, so that a changed file is recognised as the user's."""

from dataclasses import dataclass, field
from pathlib import Path

from ui_mcp.files import write_atomically
from ui_mcp.jsontypes import dumps, loads


@dataclass(frozen=True, slots=True)
class Record:
    """The version installed last and the SHA-256 of each file as we wrote it, by its path in the project."""

    version: str = ""
    files: dict[str, str] = field(default_factory=dict)

    @classmethod
    def load(cls, file: Path) -> "Record":
        """Read the record; a missing or damaged one knows of no files."""
        try:
            found = loads(file.read_bytes())
            files = found["files"].items()
            return cls(str(found["version"]), {str(path): str(digest) for path, digest in files})
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return cls()

    def save(self, file: Path) -> None:
        """Write the record."""
        text = dumps({"version": self.version, "files": dict(sorted(self.files.items()))})
        write_atomically(file, text.encode() + b"\n")
