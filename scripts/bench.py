"""Runs the benchmarks, writes docs/benchmarks.md, and reports missed bars and figures worse than in the last run.

python scripts/bench.py [benchmarks/FILE.py ...]   without files: all of them
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from bench_page import AREAS, Claim, chart, page

ROOT = Path(__file__).parents[1]
STORED = ROOT / "benchmarks" / "results.json"
PAGE = ROOT / "docs" / "benchmarks.md"
CHARTS = ROOT / "docs" / "images" / "bench"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    files = parser.parse_args().files or everything()
    before = stored()
    found, broken = measured(files)
    kept = [claim for claim in before if claim.benchmark not in {file.stem for file in files}]
    claims = sorted(kept + found, key=lambda claim: claim.benchmark)
    write(claims)
    return verdict(found, before, broken)


def everything() -> list[Path]:
    """Return the benchmarks: the files that import `claims`."""
    return sorted(file for file in (ROOT / "benchmarks").glob("*.py") if "from claims import" in file.read_text())


def measured(files: list[Path]) -> tuple[list[Claim], list[str]]:
    """Run the benchmarks in turn; return the claims, and the names of benchmarks that made none."""
    found: list[Claim] = []
    broken = []
    for number, file in enumerate(files, 1):
        print(f"== {file.stem} ({number} of {len(files)})", flush=True)
        began = time.monotonic()
        claims = claims_of(file)
        print(f"   {time.monotonic() - began:.0f} s", flush=True)
        found += claims
        if not claims:
            broken.append(file.stem)
    return found, broken


def claims_of(file: Path) -> list[Claim]:
    """Run one benchmark and return its claims."""
    with tempfile.TemporaryDirectory() as folder:
        collected = Path(folder) / "claims"
        subprocess.run([sys.executable, str(file)], env=os.environ | {"UI_MCP_CLAIMS": str(collected)}, check=False)
        lines = collected.read_text(encoding="utf-8").splitlines() if collected.exists() else []
    return [Claim(file.stem, **json.loads(line)) for line in lines]


def stored() -> list[Claim]:
    if not STORED.exists():
        return []
    return [Claim(**entry) for entry in json.loads(STORED.read_text(encoding="utf-8"))["claims"]]


def write(claims: list[Claim]) -> None:
    """Store the figures, and write the page and its charts."""
    run = {"date": time.strftime("%Y-%m-%d"), "machine": machine(), "claims": [asdict(claim) for claim in claims]}
    STORED.write_text(json.dumps(run, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    CHARTS.mkdir(parents=True, exist_ok=True)
    for file, text in generated().items():
        file.write_text(text, encoding="utf-8")


def generated() -> dict[Path, str]:
    """Return the page and its charts, made of the stored figures."""
    run = json.loads(STORED.read_text(encoding="utf-8"))
    claims = [Claim(**entry) for entry in run["claims"]]
    barred = [claim for claim in claims if claim.at_most or claim.at_least]
    areas = {area: [claim for claim in barred if claim.benchmark.startswith(area)] for area in AREAS}
    charts = {CHARTS / f"{area}.svg": chart(ours) for area, ours in areas.items() if ours}
    return {PAGE: page(run["date"], run["machine"], claims), **charts}


def machine() -> str:
    """Return a description of the machine."""
    system = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return f"{os.cpu_count()} cores, {_memory():.0f} GB, {system}"


def _memory() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1024**3


def verdict(found: list[Claim], before: list[Claim], broken: list[str]) -> int:
    """Print missed bars and figures that got worse; return 1 for a missed bar or a broken benchmark."""
    last = {(claim.benchmark, claim.name): claim for claim in before}
    missed = [claim for claim in found if not claim.holds]
    print(f"\n{len(found) - len(missed)} of {len(found)} figures hold their bar; written to {PAGE.relative_to(ROOT)}")
    for claim in missed:
        print(f"MISSED {claim.benchmark}: {claim.name} = {claim.value:.3g}")
    for name in broken:
        print(f"BROKEN {name}: it ended without measuring anything")
    for claim in found:
        was = last.get((claim.benchmark, claim.name))
        if was and claim.worse_than(was):
            print(f"WORSE  {claim.benchmark}: {claim.name} = {claim.value:.3g}, was {was.value:.3g}")
    return 1 if missed or broken else 0


if __name__ == "__main__":
    sys.exit(main())
