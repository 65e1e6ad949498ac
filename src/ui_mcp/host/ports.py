"""The files `ui-port` and `mcp-port` that tell scripts where the server listens."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def port_file(file: Path, port: int) -> Iterator[None]:
    """Keep `port` in `file` for the length of the block, and remove it unless someone else has written theirs."""
    _write(file, str(port))
    try:
        yield
    finally:
        with suppress(OSError):
            if file.read_text() == str(port):
                file.unlink()


def _write(file: Path, text: str) -> None:
    descriptor, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")
    with os.fdopen(descriptor, "w") as temporary:
        temporary.write(text)
    # mkstemp makes files only we can read; scripts of other users of the machine may read a port.
    Path(name).chmod(0o644)
    Path(name).replace(file)
