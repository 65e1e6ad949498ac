"""A script of 40 calls and 3 approvals survives kills of gateway, worker and upstream: nothing is doubled or lost.

`SCRIPT_KILLS=500` kills that often.
"""

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import anyio
import pytest

from ui_mcp.gateway.approvals.service import ApprovalService, Decision
from ui_mcp.gateway.approvals.store import open_store
from ui_mcp.gateway.scripts.store import Run, ScriptStore

KILLS = int(os.environ.get("SCRIPT_KILLS", "9"))
CODE = """
  local tools, done = {"add", "put", "look"}, {}
  for key = 1, 40 do
    local tool = key % 13 == 0 and "remove" or tools[key % 3 + 1]
    local ok, answer = pcall(call, "count__" .. tool, {key = key})
    done[key] = ok and answer.doubled or (answer.uncertain and "uncertain" or tostring(answer))
  end
  return done
"""


@pytest.mark.slow
@pytest.mark.timeout(300 + 20 * KILLS)
@pytest.mark.covers("GW-RUN-4", "GW-RUN-5")
@pytest.mark.parametrize("database", ["sqlite", "postgres"])
async def test_nothing_is_doubled_or_lost_by_kills(
    database: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    store = str(tmp_path / "store.sqlite") if database == "sqlite" else request.getfixturevalue("postgres_url")()
    killed = uncertain = 0
    while killed < KILLS:
        log = tmp_path / f"calls-{killed}.log"
        run, kills = await _run_to_its_end(tmp_path, store, log)
        killed += kills
        uncertain += _check(run, Counter(log.read_text().splitlines()))
    print(f"{database}: {killed} kills, {uncertain} calls with an unknown outcome, none doubled, none lost")


def _check(run: Run, calls: Counter[str]) -> int:
    """Compare the script's answer with what the server counted; return how many calls the script calls uncertain."""
    assert run.state == "done", run.outcome
    assert run.outcome is not None
    done = dict(enumerate(run.outcome["value"], start=1))
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


async def _run_to_its_end(folder: Path, store: str, log: Path) -> tuple[Run, int]:
    approvals = ApprovalService(open_store(store))
    scripts = ScriptStore(approvals.store.database)
    gateway, run_id = await _start(folder, store, log, CODE)
    kills = enough = 0
    try:
        while True:
            run = await scripts.get(run_id)
            assert run is not None
            if run.state != "running":
                return run, kills
            for row in await approvals.pending():
                await approvals.decide(row.id, Decision("approve", row.digest, "me"))
            await anyio.sleep(random.uniform(0.0, 0.15))
            # Kills follow the script, not the clock: on a busy machine it would never get on between two of them.
            steps = len(await scripts.steps(run_id))
            victim = _victim(gateway) if steps >= enough else None
            if victim is not None:
                os.kill(victim, signal.SIGKILL)
                kills += 1
                enough = steps + random.randint(0, 4)
            if gateway.poll() is not None:
                gateway, _ = await _start(folder, store, log)
    finally:
        gateway.kill()
        gateway.wait()
        approvals.store.close()


async def _start(folder: Path, store: str, log: Path, *code: str) -> tuple[subprocess.Popen[str], str]:
    program = Path(__file__).with_name("killed.py")
    command = [sys.executable, str(program), str(folder), store, str(log), *code]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    return process, (await anyio.to_thread.run_sync(process.stdout.readline)).strip()


def _victim(gateway: subprocess.Popen[str]) -> int | None:
    """Return the gateway, the process of the script or the mounted server."""
    children = {"gateway": gateway.pid}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent, words = stat.read_text().rpartition(")")[2].split()[1], (stat.parent / "cmdline").read_bytes()
        except OSError:
            continue
        if int(parent) == gateway.pid:
            for name in ("script_worker", "counting_server"):
                if name.encode() in words:
                    children[name] = int(stat.parent.name)
    chosen = random.choice(["gateway", "script_worker", "counting_server"])
    return children.get(chosen)
