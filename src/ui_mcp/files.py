"""Writes files so that a reader sees the old text or the new one, and never outside the project."""

import os
import tempfile
from hashlib import sha256
from pathlib import Path


def write_atomically(file: Path, content: bytes, *, executable: bool = False) -> None:
    """Replace `file` in one step, making its folders; a link in its place is replaced, not written through."""
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    scratch = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
        scratch.chmod(0o755 if executable else 0o644)
        scratch.replace(file)
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise


def digest_of(file: Path) -> str | None:
    """Return the SHA-256 of what is at `file`; `None` when nothing is there."""
    try:
        return sha256(file.read_bytes()).hexdigest()
    except FileNotFoundError:
        # A dangling link was put there by someone: it counts as a text that is not ours.
        return "" if file.is_symlink() else None
