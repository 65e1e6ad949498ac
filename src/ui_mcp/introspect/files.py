"""The files by which `ui-mcp attach` tells a server what it may look at.

They lie in the project, so a repository could bring some: only those count that this account has written itself, which
is remembered where the person's agreements are. The agent of a program that was started with it writes a file of its
own; that leads to a port of this machine at most, with a token that says nothing to any other server.
"""

import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from ui_mcp.errors import ConfigError, DiskError
from ui_mcp.jsontypes import JsonObject, dumps, loads
from ui_mcp.trust import Agreements

Kind = Literal["javafx", "cdp", "url"]
_TOKEN = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Attached:
    """Something a person has let us look at."""

    name: str
    kind: Kind
    title: str
    pid: int = 0
    port: int = 0
    token: str = ""
    url: str = ""


def write(folder: Path, attached: Attached) -> Path:
    """Keep a target, readable by its owner alone.

    Raises:
        DiskError: it cannot be written.
        ConfigError: the account's own configuration directory cannot be written.
    """
    path, text = folder / f"{attached.name}.json", dumps(asdict(attached))
    Agreements().add(path, text.encode())
    try:
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
            data = path.read_bytes()
            attached = _read(loads(data), known=Agreements().hold(path, data))
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
    path = folder / f"{name}.json"
    try:
        path.unlink()
    except OSError:
        return False
    with suppress(ConfigError):
        Agreements().remove(path)
    return True


def _read(facts: JsonObject, *, known: bool) -> Attached:
    if "kind" in facts:
        if not known:
            raise ValueError("nobody of this account has attached it")
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
