"""Records 30 tasks and plays each again: `python -m recordings.run [--times 20] [--only miniwob]`."""

import argparse
import os
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from recordings.apps import apps
from recordings.pages import tasks
from recordings.programs import programs
from recordings.recording import Played, Recordable

PLACES: dict[str, Callable[[], AbstractContextManager[list[Recordable]]]] = {
    "example": apps,  # type: ignore[dict-item]
    "javafx": programs,  # type: ignore[dict-item]
    "miniwob": tasks,  # type: ignore[dict-item]
}


@dataclass(slots=True)
class Result:
    """How the replays of one recording went."""

    name: str
    steps: int = 0
    played: list[Played] = field(default_factory=list)
    changed: Played | None = None
    seconds: float = 0

    @property
    def green(self) -> bool:
        """Whether all replays went well, and the changed program was noticed by a named step."""
        noticed = self.changed is not None and not self.changed.ok and bool(self.changed.does)
        return bool(self.steps) and all(one.ok for one in self.played) and noticed

    def line(self) -> str:
        good = sum(one.ok for one in self.played)
        failed = next((f"; FAILED {one.does} {one.why}" for one in self.played if not one.ok), "")
        noticed = self.changed.does if self.changed is not None and not self.changed.ok else "NOT NOTICED"
        return (
            f"{self.name:<32} steps {self.steps:<3} green {good} of {len(self.played)} {self.seconds:.0f} s; "
            f"after a change: {noticed}{failed}"
        )


def prove(shown: Recordable, times: int) -> Result:
    """Record something once, play it again, and once after a change of the program."""
    begun = time.monotonic()
    steps = shown.record()
    played = [shown.play(steps) for _ in range(times)]
    return Result(shown.name, len(steps), played, shown.play(steps, changed=True), time.monotonic() - begun)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--only", choices=PLACES)
    given = parser.parse_args()
    results: list[Result] = []
    for name, place in PLACES.items():
        if given.only in (None, name):
            with place() as found:
                for shown in found:
                    results.append(prove(shown, given.times))
                    sys.stdout.write(results[-1].line() + "\n")
                    sys.stdout.flush()
    green = [result for result in results if result.green]
    plays = sum(len(result.played) for result in results)
    sys.stdout.write(
        f"{len(green)} of {len(results)} recordings green, {plays} replays; load {os.getloadavg()[0]:.1f}\n"
    )
    return 0 if len(green) == len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
