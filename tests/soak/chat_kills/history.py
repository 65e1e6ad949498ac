"""What a client asked and what it was answered, as JSON lines that outlive the client's death.

A line is `{"op", "at", "client", "object", "f", "in"}` before a request is sent, and `{"op", "at", "out"}` when its
answer has arrived. An operation without the second line has an unknown outcome: it may have taken effect, or may yet.
Times are of the system's monotonic clock in nanoseconds, which is one for all processes of the machine.
"""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from soak.chat_kills.wire import Json


class History:
    """The file of one client; a client that was killed goes on in the same file."""

    def __init__(self, folder: Path, client: str) -> None:
        self.client = client
        self.file = folder / f"{client}.jsonl"
        self._count = sum(1 for _ in lines(self.file))
        self._out = os.open(self.file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(self._out, b"\n")  # ends a line that a kill has cut

    def begin(self, place: str, function: str, given: Json) -> str:
        self._count += 1
        op = f"{self.client}:{os.getpid()}:{self._count}"
        line = {"op": op, "at": time.monotonic_ns(), "client": self.client, "object": place, "f": function, "in": given}
        self._write(line)
        return op

    def end(self, op: str, out: Any) -> None:
        self._write({"op": op, "at": time.monotonic_ns(), "out": out})

    def _write(self, line: Json) -> None:
        os.write(self._out, json.dumps(line).encode() + b"\n")


def lines(file: Path) -> Iterator[Json]:
    """Yield the whole lines of a file, or of none."""
    if not file.exists():
        return
    for text in file.read_text(errors="replace").splitlines():
        try:
            found = json.loads(text)
        except ValueError:
            continue  # cut by a kill, before the request was sent
        if isinstance(found, dict):
            yield found


def operations(file: Path) -> dict[str, Json]:
    """Return the operations of one client by their names, each with `end` and `out` if its answer arrived."""
    found: dict[str, Json] = {}
    for line in lines(file):
        if "f" in line:
            found[line["op"]] = line
        elif line["op"] in found:
            found[line["op"]] |= {"end": line["at"], "out": line["out"]}
    return found
