"""Runs the few tests that failed in a parallel run once more, alone, and says which of them are flaky.

Browsers, JVMs and databases on two cores sometimes miss a time limit that they keep on a quiet machine. More than
`LIMIT` failures, or a run that ended without a result, are never taken for that.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
RECORD = ROOT / ".pytest_cache/v/cache/lastfailed"
LIMIT = 8


def main() -> int:
    failed = list(json.loads(RECORD.read_text())) if RECORD.is_file() else []
    if not 0 < len(failed) <= LIMIT:
        print(f"{len(failed)} tests failed; only 1 to {LIMIT} are run again.")
        return 1
    print("Running the failed tests once more, alone:", *failed, sep="\n  ", flush=True)
    code = subprocess.call([sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *failed], cwd=ROOT)
    print("FLAKY, passed when run alone:" if code == 0 else "Failed again:", *failed, sep="\n  ")
    return code


if __name__ == "__main__":
    sys.exit(main())
