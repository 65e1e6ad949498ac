"""The files that tell scripts where the server listens and how to be let in: `ui-port`, `mcp-port`, `mcp-token`."""

import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ui_mcp.errors import ConfigError
from ui_mcp.ids import secret_id
from ui_mcp.person import state_folder
from ui_mcp.ui.instance import open_regular
from ui_mcp.workspace import Workspace

_KEPT_PORTS = 500


@contextmanager
def port_file(file: Path, port: int) -> Iterator[None]:
    """Keep `port` in `file` for the length of the block, and remove it unless someone else has written theirs."""
    with _kept(file, str(port), mode=0o644):
        yield


@contextmanager
def token_file(workspace: Workspace) -> Iterator[str]:
    """Keep a fresh token in `mcp-token`, readable by its owner alone, for the length of the block."""
    token = secret_id()
    with _kept(workspace.mcp_token, token, mode=0o600):
        yield token


@contextmanager
def _kept(file: Path, text: str, *, mode: int) -> Iterator[None]:
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")
    with os.fdopen(descriptor, "w") as temporary:
        temporary.write(text)
    Path(name).chmod(mode)
    Path(name).replace(file)
    try:
        yield
    finally:
        with suppress(OSError, ConfigError):  # a link that was put there since is not ours to read or remove
            with open_regular(file, os.O_RDONLY) as kept:
                ours = kept.read() == text.encode()
            if ours:
                file.unlink()


def last_port(workspace: Workspace, name: str) -> int:
    """Return the port that a listener of this base directory had last, or 0.

    It is kept with the account and not with the project: a repository must not choose where its pages are served.
    """
    try:
        port = int(_last(workspace, name).read_text())
    except (OSError, ValueError):
        return 0
    return port if 1024 <= port <= 65535 else 0


def keep_port(workspace: Workspace, name: str, port: int) -> None:
    """Remember the port of a listener for the next start, so that its origin stays; a full disk is no obstacle."""
    file = _last(workspace, name)
    with suppress(OSError):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.write_text(str(port))
        kept = sorted(file.parent.iterdir(), key=lambda one: one.stat().st_mtime)
        for old in kept[:-_KEPT_PORTS]:
            old.unlink(missing_ok=True)


def _last(workspace: Workspace, name: str) -> Path:
    digest = hashlib.sha256(str(workspace.base).encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return state_folder() / "ports" / f"{digest}-{name}"
