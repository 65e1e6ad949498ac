"""Claims of benchmarks: a measured figure and the bar that it must meet.

A benchmark is a file in this folder that imports this module. It prints its claims; `make bench` also collects them.
"""

import json
import os
from pathlib import Path

COLLECTED = "UI_MCP_CLAIMS"


def claim(name: str, value: float, *, at_most: float | None = None, at_least: float | None = None) -> bool:
    """Print one measured figure beside its bar, if it has one; return whether it holds."""
    holds = (at_most is None or value <= at_most) and (at_least is None or value >= at_least)
    print(f"  {'ok  ' if holds else 'MISS'} {name}: {value:.3g}{_bar(at_most, at_least)}", flush=True)
    if COLLECTED in os.environ:
        line = {"name": name, "value": value, "at_most": at_most, "at_least": at_least}
        with Path(os.environ[COLLECTED]).open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
    return holds


def _bar(at_most: float | None, at_least: float | None) -> str:
    if at_most is not None:
        return f" (at most {at_most:g})"
    return "" if at_least is None else f" (at least {at_least:g})"
