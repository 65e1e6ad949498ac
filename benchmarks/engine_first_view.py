"""The first view of a 1,000-row list with 5 bindings a row: one frame down, less than 1 KB up."""

import statistics
import sys
import time

from claims import claim
from engine_scan import FIELDS, enter, open_vm

from ui_mcp.lua_runtime.interface import EMPTY_CONTEXT

ROWS = 1_000
WATCH = '{"userEvent":false,"messages":[{"type":"watch","data":{"varId":1,"expand":true}}]}'
CREATE = '{"type":"create","data":{"id":%d,"parentId":%d,"properties":{"path":"%s","elementId":"ui-%d"}}}'


def by_creating(rows: int) -> int:
    """Return the bytes a page would send if it created one variable per binding and row, without framing."""
    paths = [str(row) for row in range(rows)] + [name for _ in range(rows) for name in FIELDS]
    return sum(len(CREATE % (number, number // 6, path, number)) for number, path in enumerate(paths, start=2))


def main() -> int:
    core, _ = open_vm(ROWS)
    taken = []
    for conn in range(2, 12):
        enter(core, "open", conn)
        start = time.perf_counter()
        *_, frame = core.call("frame", (conn, WATCH), EMPTY_CONTEXT)
        taken.append(time.perf_counter() - start)
        frames = 1
        enter(core, "close", conn)
    sent, received = len(WATCH), len(str(frame).encode())
    print(f"rows {ROWS}, bindings {ROWS * len(FIELDS)}: {frames} frame, {received / 1024:.0f} KB down, {sent} bytes up")
    print(
        f"up, had the page created its variables: {by_creating(ROWS) / 1024:.0f} KB ({by_creating(ROWS) / sent:.0f}x)"
    )
    print(f"expanded, evaluated and encoded in {statistics.median(taken) * 1e3:.1f} ms (median of {len(taken)})")
    held = [
        claim("bytes up to show 1,000 rows", sent, at_most=1024),
        claim("frames down to show 1,000 rows", frames, at_most=1),
        claim("first view of 1,000 rows, ms", statistics.median(taken) * 1e3),
    ]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
