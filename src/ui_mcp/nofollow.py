"""Opens files of ours inside a base directory without following links: a repository can bring links of its own.

Lua processes use it too, which start faster without pathlib.
"""

import errno
import os

PRIVATE = 0o600
PRIVATE_FOLDER = 0o700


class LinkError(OSError):
    """A link is where a file or directory of ours should be."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(errno.ELOOP, "is a link that leads elsewhere; remove it", os.fspath(path))


def open_inside(root: str | os.PathLike[str], path: str | os.PathLike[str], flags: int, mode: int = PRIVATE) -> int:
    """Return a descriptor of `path`, whose directory really lies inside `root`.

    Raises:
        LinkError: the file, or its directory, is a link out of the way we went.
        OSError: it cannot be opened.
    """
    require_inside(root, os.path.dirname(path))
    if os.path.islink(path):
        raise LinkError(path)
    try:
        return os.open(path, flags | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0), mode)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise LinkError(path) from error
        raise


def require_inside(root: str | os.PathLike[str], folder: str | os.PathLike[str]) -> None:
    """Check that a directory is where its path says, inside `root`.

    Raises:
        LinkError: a link leads out of `root`.
    """
    real, top = os.path.realpath(folder), os.path.realpath(root).rstrip(os.sep)
    if real != top and not real.startswith(top + os.sep):
        raise LinkError(folder)


def make_private(folder: str | os.PathLike[str]) -> None:
    """Close a directory to other accounts, also when it was there before; a link is left alone."""
    if os.name == "posix" and not os.path.islink(folder):
        os.chmod(folder, PRIVATE_FOLDER)
