"""Combine what `coverage run` collected and print a row for each package.

With `--floor` it fails below `fail_under` of pyproject.toml.
"""

import json
import sys
from collections import Counter, defaultdict
from pathlib import Path

from coverage import Coverage

ROOT = Path(__file__).parents[1]
REPORT = ROOT / "build" / "coverage" / "report.json"
FIGURES = ("num_statements", "missing_lines", "covered_lines", "num_branches", "missing_branches", "covered_branches")


def main() -> int:
    coverage = Coverage(config_file=str(ROOT / "pyproject.toml"))
    coverage.combine()
    total = coverage.json_report(outfile=str(REPORT))
    packages: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for file, found in json.loads(REPORT.read_text(encoding="utf-8"))["files"].items():
        if not Path(file).is_relative_to("src"):  # a test has added a module to a package
            continue
        package = Path(file).parent.relative_to("src").as_posix()
        packages[package].update({name: found["summary"][name] for name in FIGURES})
    print(f"{'package':32}{'lines':>8}{'missed':>8}{'branches':>10}{'missed':>8}{'covered':>10}")
    for name in sorted(packages):
        print(row(name, packages[name]))
    print(row("all", sum(packages.values(), Counter())))
    least = coverage.get_option("report:fail_under")
    if "--floor" in sys.argv[1:] and isinstance(least, int | float) and total < least:
        print(f"Coverage is {total:.1f} %, below {least} %", file=sys.stderr)
        return 2
    return 0


def row(name: str, sums: Counter[str]) -> str:
    lines, branches = sums["num_statements"], sums["num_branches"]
    covered = 100 * (sums["covered_lines"] + sums["covered_branches"]) / max(1, lines + branches)
    missed = f"{lines:>8}{sums['missing_lines']:>8}{branches:>10}{sums['missing_branches']:>8}"
    return f"{name:32}{missed}{covered:>8.1f} %"


if __name__ == "__main__":
    sys.exit(main())
