"""Kills gateway, worker and upstream while a script of 40 calls and 3 approvals runs, and compares what each one saw.

`make script-kills`, with KILLS=500 DATABASE="sqlite postgres" SEED=24, or python -m integration.script_kills.killing in
the folder of the tests. Each line of progress says how long the kills took, so that a slow machine is seen early.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio
import psycopg

from chat.conftest import postgres_cluster
from ui_mcp.gateway.approvals.service import ApprovalService, Decision
from ui_mcp.gateway.approvals.store import open_store
from ui_mcp.gateway.scripts.store import Run, ScriptStore

CODE = """
  local tools, done = {"add", "put", "look"}, {}
  for key = 1, 40 do
    local tool = key % 13 == 0 and "remove" or tools[key % 3 + 1]
    local ok, answer = pcall(call, "count__" .. tool, {key = key})
    done[key] = ok and answer.doubled or (answer.uncertain and "uncertain" or tostring(answer))
  end
  return done
"""
VICTIMS = ("gateway", "script_worker", "counting_server")
MOST_STEPS = 4
"""Between two kills: they follow the script, not the clock, or it would never get on while the machine is busy."""


@dataclass
class Killing:
    """Scripts one after the other in one folder and store, until there were enough kills."""

    folder: Path
    store: str
    dice: random.Random
    kills: Counter[str] = field(default_factory=Counter)
    scripts: int = 0
    uncertain: int = 0
    _began: float = field(default_factory=time.monotonic)

    async def run(self, kills: int) -> None:
        while self.kills.total() < kills:
            log = self.folder / f"calls-{self.scripts}.log"
            run = await self._run_to_its_end(log)
            self.scripts += 1
            self.uncertain += check(run, Counter(log.read_text().splitlines()))
            print(self, flush=True)

    def __str__(self) -> str:
        seconds = time.monotonic() - self._began
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self.kills.items()))
        return (
            f"{self.kills.total()} kills ({kinds}) of {self.scripts} scripts, {self.uncertain} calls with an unknown "
            f"outcome, none doubled, none lost; {seconds:.0f} s, load {os.getloadavg()[0]:.0f}"
        )

    async def _run_to_its_end(self, log: Path) -> Run:
        approvals = ApprovalService(open_store(self.store))
        scripts = ScriptStore(approvals.store.database)
        gateway, run_id = await self._start(log, CODE)
        enough = 0
        try:
            while True:
                run = await scripts.get(run_id)
                assert run is not None
                if run.state != "running":
                    return run
                for row in await approvals.pending():
                    await approvals.decide(row.id, Decision("approve", row.digest, "me"))
                await anyio.sleep(self.dice.uniform(0.0, 0.1))
                steps = len(await scripts.steps(run_id))
                if steps >= enough and self._killed_one(gateway):
                    enough = steps + self.dice.randint(0, MOST_STEPS)
                if gateway.poll() is not None:
                    gateway, _ = await self._start(log)
        finally:
            gateway.kill()
            gateway.wait()
            approvals.store.close()

    async def _start(self, log: Path, *code: str) -> tuple[subprocess.Popen[str], str]:
        program = Path(__file__).with_name("killed.py")
        command = [sys.executable, str(program), str(self.folder), self.store, str(log), *code]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert process.stdout is not None
        return process, (await anyio.to_thread.run_sync(process.stdout.readline)).strip()

    def _killed_one(self, gateway: subprocess.Popen[str]) -> bool:
        """Kill the gateway, the process of the script or the mounted server; return False if there is none of these."""
        chosen = self.dice.choice(VICTIMS)
        victim = gateway.pid if chosen == "gateway" else _child(gateway.pid, chosen)
        if victim is None:
            return False
        os.kill(victim, signal.SIGKILL)
        if chosen == "gateway":
            gateway.wait()
        self.kills[chosen] += 1
        return True


def _child(parent: int, name: str) -> int | None:
    tasks = Path(f"/proc/{parent}/task").glob("*/children")  # a thread's children are listed with the thread
    for number in (number for task in tasks for number in _read(task).split()):
        if name in _read(Path(f"/proc/{number}/cmdline")):
            return int(number)
    return None


def _read(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""


def check(run: Run, calls: Counter[str]) -> int:
    """Compare the script's answer with what the server counted; return how many calls the script calls uncertain."""
    assert run.state == "done", run.outcome
    assert run.outcome is not None
    done = dict(enumerate(run.outcome["value"], start=1))
    assert len(done) == 40
    for line, times in calls.items():
        tool, number = line.split()
        assert times == 1 or tool in {"put", "look"}, f"{line} ran {times} times"
        assert done[int(number)] in {int(number) * 2, "uncertain"}
    counted = {int(line.split()[1]) for line in calls}
    for key, answer in done.items():
        assert answer == "uncertain" or (answer == key * 2 and key in counted), f"{key} was lost: {answer}"
    unsure = [key for key, answer in done.items() if answer == "uncertain"]
    assert len(run.outcome.get("uncertain", [])) == len(unsure)
    return len(unsure)


@contextmanager
def stored(database: str, folder: Path) -> Iterator[str]:
    """Provide the address of an empty store."""
    if database == "sqlite":
        yield str(folder / "store.sqlite")
        return
    with postgres_cluster() as url:
        with psycopg.connect(url.format("postgres"), autocommit=True) as connection:
            connection.execute("CREATE DATABASE kills")
        yield url.format("kills")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=24)
    parser.add_argument("databases", nargs="*", default=["sqlite", "postgres"])
    options = parser.parse_args()
    for database in options.databases:
        with tempfile.TemporaryDirectory() as folder, stored(database, Path(folder)) as store:
            os.environ["HOME"] = folder  # keeps the key that seals scripts
            killing = Killing(Path(folder), store, random.Random(options.seed))
            print(f"{database}:", flush=True)
            anyio.run(partial(killing.run, options.kills))
            print(f"done: {database}: {killing}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
