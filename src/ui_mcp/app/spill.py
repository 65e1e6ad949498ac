"""Keeps answers that are too long for an agent as files in the log folder, the last twenty of them."""

import re
from pathlib import Path

import anyio

from ui_mcp.host.host import Host

KEPT = 20


class Spill:
    """Writes `log/result-N.json` and forgets the oldest."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._lock = anyio.Lock()

    async def __call__(self, text: str) -> str:
        """Store `text`; return the path of the file."""
        async with self._lock:
            return await anyio.to_thread.run_sync(_store, self._host.configured().workspace.log, text)


def _store(log: Path, text: str) -> str:
    numbered = sorted(
        (int(found[1]), file)
        for file in log.glob("result-*.json")
        if (found := re.fullmatch(r"result-(\d+)\.json", file.name))
    )
    for _, old in numbered[: max(0, len(numbered) - KEPT + 1)]:
        old.unlink(missing_ok=True)
    new = log / f"result-{numbered[-1][0] + 1 if numbered else 1}.json"
    new.write_text(text, encoding="utf-8")
    return str(new)
