"""The files that tell scripts where the server listens and how to be let in: `ui-port`, `mcp-port`, `mcp-token`."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ui_mcp.errors import ConfigError
from ui_mcp.host.lock import open_regular
from ui_mcp.ids import secret_id
from ui_mcp.workspace import Workspace


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
