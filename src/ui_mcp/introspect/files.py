"""The files by which `ui-mcp attach` tells a server what it may look at.

They lie in the project, so a repository could bring some: only those count that this account has written itself. The
agent of a program that was started with it writes a file of its own; that leads to a port of this machine at most, with
a token that says nothing to any other server.
"""

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from ui_mcp.account_seal import is_sealed, seal
from ui_mcp.errors import DiskError
from ui_mcp.introspection.backend import Attached
from ui_mcp.jsontypes import JsonObject, dumps, loads

_TOKEN = re.compile(r"[0-9a-f]{32}")


def write(folder: Path, attached: Attached) -> Path:
    """Keep a target, readable by its owner alone.

    Raises:
        DiskError: it cannot be written.
    """
    path, facts = folder / f"{attached.name}.json", asdict(attached)
    try:
        text = dumps({**facts, "seal": seal(path, dumps(facts))})
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=folder, prefix=".new-")
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        Path(name).replace(path)
    except OSError as error:
        raise DiskError(f"Cannot write {path}", error) from error
    return path


def read_all(folder: Path) -> Iterator[Attached]:
    """Yield the targets whose program still runs, by name; files of others are removed."""
    for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
        try:
            attached = _read(path, loads(path.read_bytes()))
        except (OSError, ValueError, TypeError, KeyError):
            continue
        if attached.kind == "javafx" and not _runs(attached.pid):
            with suppress(OSError):
                path.unlink()
            continue
        yield attached


def newest(folder: Path) -> Attached | None:
    """Return the target that was attached last."""
    alive = {attached.name: attached for attached in read_all(folder)}
    written = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime_ns) if alive else []
    found = [alive[path.stem] for path in written if path.stem in alive]
    return found[-1] if found else next(iter(alive.values()), None)


def remove(folder: Path, name: str) -> bool:
    """Forget a target; False if there is none."""
    with suppress(OSError):
        (folder / f"{name}.json").unlink()
        return True
    return False


def _read(path: Path, facts: JsonObject) -> Attached:
    if "kind" in facts:
        if not is_sealed(facts.pop("seal", None), path, dumps(facts)):
            raise ValueError("it was not attached by this account")
        return Attached(**facts)
    # Written by the agent of a program that was started with it.
    if not _TOKEN.fullmatch(facts["token"]):
        raise ValueError("no token of an agent")
    return Attached(f"javafx-{facts['pid']}", "javafx", "", facts["pid"], facts["port"], facts["token"])


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
