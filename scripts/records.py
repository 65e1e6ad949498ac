"""Writes again whatever is generated or recorded of the program; with `--check`, only says what is stale.

Each script named in `SCRIPTS` has `generated()`, which returns the text of its files. The journeys of docs/journeys are
not among them: writing those takes walks with real programs (`make records`).
"""

import argparse
import difflib
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SCRIPTS = ("elements", "wire", "contract", "tool_list", "settings", "reference", "bench", "surface")
"""In the order of writing: servers import the constants and answer with the recorded tools."""
SHOWN_LINES = 40


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, exit with 1 if a file is stale")
    return _check() if parser.parse_args().check else _write()


def _write() -> int:
    for script in SCRIPTS:
        # Imported only now: it imports what the scripts before have written.
        for file, text in stale(script):
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
            print(f"{file.relative_to(ROOT)} written")
    return 0


def _check() -> int:
    # At once: most of the time is spent waiting for servers that start.
    with ThreadPoolExecutor() as pool:
        found = [one for files in pool.map(stale, SCRIPTS) for one in files]
    for file, text in found:
        name, present = str(file.relative_to(ROOT)), _content(file)
        lines = difflib.unified_diff(present.splitlines(), text.splitlines(), name, "generated", lineterm="")
        print(*list(lines)[:SHOWN_LINES], sep="\n")
    if found:
        names = (str(file.relative_to(ROOT)) for file, _ in found)
        print("Stale:", *names, "Run `make records`, look at the difference and commit it.", sep="\n  ")
    return int(bool(found))


def stale(script: str) -> list[tuple[Path, str]]:
    """Return the files that differ from what `script` generates, with the text they should have."""
    generated: dict[Path, str] = import_module(script).generated()
    return [(file, text) for file, text in generated.items() if _content(file) != text]


def _content(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.is_file() else ""


if __name__ == "__main__":
    sys.exit(main())
