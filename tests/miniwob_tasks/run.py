"""Solves MiniWoB++ tasks with our tools: `python -m miniwob_tasks.run [--package FOLDER] [--seeds N] [TASK ...]`."""

import argparse
import sys
import time
import traceback
from dataclasses import dataclass

from miniwob_tasks.hands import Ui, browser
from miniwob_tasks.oracles import oracles
from miniwob_tasks.site import Site, package, serving, tasks

SECONDS = 4.0
"""How long a task may take to tell its reward after the oracle's last action."""


@dataclass(frozen=True, slots=True)
class Result:
    """How one episode went."""

    task: str
    reward: float | None
    calls: int
    tokens: int
    seconds: float
    error: str = ""

    @property
    def solved(self) -> bool:
        return (self.reward or 0) > 0


def solve(ui: Ui, site: Site, task: str, seed: int) -> Result:
    """Play one episode."""
    oracle = oracles().get(task)
    if oracle is None:
        return Result(task, None, 0, 0, 0, "no oracle")
    ui.begin(site.url(task, seed))
    begun, error = time.monotonic(), ""
    try:
        oracle(ui)
    except Exception:
        error = traceback.format_exc(limit=-2)
    reward = site.reward(2 if error else SECONDS)
    return Result(task, reward, ui.calls, ui.characters // 4, time.monotonic() - begun, error)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--package")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--log", action="store_true", help="print every call of a task that is not solved")
    parser.add_argument("tasks", nargs="*")
    given = parser.parse_args()
    folder = package(given.package)
    results: list[Result] = []
    with serving(folder) as site, browser(site.url("click-test", 0)) as ui:
        for task in given.tasks or tasks(folder):
            for seed in range(given.first_seed, given.first_seed + given.seeds):
                result = solve(ui, site, task, seed)
                results.append(result)
                _report(result, seed)
                if given.log and not result.solved:
                    sys.stdout.write("\n".join(ui.log[-6:]) + "\n")
    _summary(results)
    return 0


def _report(result: Result, seed: int) -> None:
    verdict = "solved" if result.solved else "NOT SOLVED"
    cost = f"calls {result.calls} tokens {result.tokens} {result.seconds:.1f} s"
    sys.stdout.write(f"{result.task:<32} seed {seed:<3} {verdict:<11} reward {result.reward} {cost}\n")
    if result.error:
        sys.stdout.write("    " + result.error.strip().replace("\n", "\n    ")[-1200:] + "\n")
    sys.stdout.flush()


def _summary(results: list[Result]) -> None:
    names = sorted({result.task for result in results})
    whole = [name for name in names if all(result.solved for result in results if result.task == name)]
    solved = [result for result in results if result.solved]
    sys.stdout.write(
        f"\n{len(whole)} of {len(names)} tasks solved in every episode; {len(solved)} of {len(results)} episodes\n"
    )
    if solved:
        calls, tokens = (sum(getattr(result, name) for result in solved) / len(solved) for name in ("calls", "tokens"))
        sys.stdout.write(
            f"per solved episode: {calls:.1f} calls, {tokens:.0f} tokens (characters / 4, both directions)\n"
        )


if __name__ == "__main__":
    sys.exit(main())
