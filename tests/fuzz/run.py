"""`make fuzz`: every border at length, in two processes; prints the cases of each and fails below the wanted total.

`python -m fuzz.run CASES [SEED [BORDER…]]` repeats a run, or a part of it.
"""

import logging
import os
import random
import sys
import traceback
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from warnings import simplefilter

LEAST = 200_000
PROCESSES = 2


def one(name: str, count: int, seed: int) -> tuple[int, str]:
    """Feed one border; answer the cases that were run, and what went wrong."""
    from fuzz.border import feed, ran
    from fuzz.everything import BORDERS

    simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    border = next(border for border in BORDERS if border.name == name)
    before = ran[name]
    problem = ""
    with TemporaryDirectory() as folder:
        # Settings, state and data of the account stay out of it, in child processes too.
        os.environ |= {f"XDG_{kind}_HOME": f"{folder}/account" for kind in ("CONFIG", "STATE", "DATA")}
        try:
            feed(border, Path(folder), count, seed)
        except Exception:  # whatever it is, it is a finding, and the other borders go on
            problem = traceback.format_exc()
    return ran[name] - before, problem


def main(total: int, seed: int, *names: str) -> int:
    """Run all borders, or those that are named, each with its share of `total`."""
    from fuzz.everything import BORDERS

    borders = sorted((one for one in BORDERS if not names or one.name in names), key=lambda border: border.share)
    shares = sum(border.share for border in borders)
    print(f"seed {seed}", flush=True)
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn"), max_tasks_per_child=1) as pool:
        # The slow ones have the small shares; they begin first, so that both processes are busy to the end.
        running: dict[str, Future[tuple[int, str]]] = {
            border.name: pool.submit(one, border.name, -(-border.share * total * 102 // (shares * 100)), seed)
            for border in borders
        }
        found = {}
        for name, future in running.items():
            found[name] = future.result()
            cases, problem = found[name]
            print(f"{cases:>9,}  {name}{'  FAILED' if problem else ''}", flush=True)
            print(*(line[:400] for line in problem.splitlines()[-60:]), sep="\n", end="", flush=True)
    done = sum(cases for cases, _ in found.values())
    print(f"{done:>9,}  in total")
    if done < total:
        print(f"Fewer than {total:,} cases were run")
    return int(done < total or any(problem for _, problem in found.values()))


if __name__ == "__main__":
    defaults = [str(LEAST), str(random.randrange(2**32))]
    cases, seed, *chosen = [*sys.argv[1:], *defaults[len(sys.argv) - 1 :]]
    sys.exit(main(int(cases), int(seed), *chosen))
