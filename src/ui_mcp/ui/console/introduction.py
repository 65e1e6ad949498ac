"""Whether this account has seen the introduction; kept with its credentials, for all projects."""

from contextlib import suppress
from pathlib import Path

from ui_mcp.files import PRIVATE, write_atomic
from ui_mcp.person import state_folder


def introduced() -> bool:
    return _file().is_file()


def set_introduced(seen: bool) -> None:
    with suppress(OSError):  # it is offered again
        if seen:
            write_atomic(_file(), b"", mode=PRIVATE)
        else:
            _file().unlink(missing_ok=True)


def _file() -> Path:
    return state_folder() / "introduced"
