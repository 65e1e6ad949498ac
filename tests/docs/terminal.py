"""A person's terminal in an empty home: our programs, stand-ins for foreign ones, free ports instead of fixed ones."""

import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Timer
from typing import Any

import httpx2

from docs import foreign
from terminals import Done, run_in_terminal, with_terminal

PROGRAMS = Path(sys.executable).parent
PATIENCE = 600.0
"""Seconds after which a command is killed, so that no test waits for its output for ever."""
ADDRESS = r"http://[\w.]+:\d+"
FIXED_PORT = re.compile(r"--((?:mcp-)?port) \d+|--mcp-sse \d+")
CHAT = re.compile(r"nlui(?! --mcp| --port)(?: (?:[\w./-]+\.yaml|https?://\S+))?")

get = partial(httpx2.get, timeout=60, trust_env=False)
"""Ask a server of this machine, with patience."""


FOR_THE_PERSON = re.compile(r"ui-mcp (?:approvals|token|chat (?!--face assistant))")


def _run(command: list[str], cwd: Path, env: dict[str, str]) -> Done:
    done = subprocess.run(
        command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180, check=False
    )
    return Done(done.returncode, done.stdout, done.stderr, "")


def _typed(line: str, command: list[str]) -> list[str]:
    """Give a real terminal to what speaks for the person."""
    return with_terminal(command) if FOR_THE_PERSON.search(line) else command


class Terminal:
    """Types commands word for word; `replaced` says what stands for addresses that are not on this machine."""

    def __init__(self, home: Path, replaced: dict[str, str] | None = None, **environment: str) -> None:
        self.home = self.folder = home
        self.replaced = replaced or {}
        self._said = home / ".stderr"
        stand_ins = home / ".stand-ins"
        foreign.put_into(stand_ins)
        kept = {name: value for name, value in os.environ.items() if name in {"CI", "LANG", "JAVA_HOME", "DISPLAY"}}
        self.environment = {
            **kept, "PATH": f"{stand_ins}:{PROGRAMS}:/usr/bin:/bin", "HOME": str(home), "BROWSER": "true",
            "UI_PORT": "0", "UI_MCP_PORT": "0", "XDG_CONFIG_HOME": str(home / ".config"),
            "XDG_DATA_HOME": str(home / ".local/share"), "XDG_STATE_HOME": str(home / ".local/state"), **environment,
        }  # fmt: skip

    def run(self, line: str, **environment: str) -> str:
        """Run a line to its end, stay in the directory it leads to, and return what it printed."""
        where = self.home / ".where"
        command = ["bash", "-c", f'{self._here(line)}\ncode=$?; pwd >"{where}"; exit $code']
        typed = run_in_terminal if FOR_THE_PERSON.search(line) else _run
        done = typed(command, self.folder, {**self.environment, **environment})
        assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
        self.folder = Path(where.read_text().strip())
        return done.stdout + done.shown

    @contextmanager
    def going(self, line: str, *, stderr: int | None = None) -> Iterator[subprocess.Popen[str]]:
        """Run a line that goes on, with pipes on its ends, and end it afterwards."""
        words = shlex.split(self._here(line.removesuffix(" &")))
        program = PROGRAMS / words[0]
        with self._said.open("a") as kept, subprocess.Popen(
            _typed(line, [str(program) if program.exists() else words[0], *words[1:]]),
            cwd=self.folder, env=self.environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr or kept,
        ) as process:  # fmt: skip
            patience = Timer(PATIENCE, process.kill)
            patience.start()
            try:
                yield process
            finally:
                patience.cancel()
                process.terminate()
                process.wait(timeout=120)

    @contextmanager
    def serving(self, line: str) -> Iterator[list[str]]:
        """Run a server; yield the addresses it prints, on whichever stream."""
        with self.going(line, stderr=subprocess.STDOUT) as process:
            assert process.stdout is not None
            said = ""
            while not (found := re.findall(ADDRESS, said)):
                more = process.stdout.readline()
                assert more, f"{line}\n{said}"
                said += more
            if "ui-mcp v" in said:
                found += re.findall(ADDRESS, process.stdout.readline())
            yield found

    @contextmanager
    def following(self, line: str) -> Iterator[subprocess.Popen[str]]:
        """Run a follower of the chat; what is posted in the block is posted after it began to listen."""
        bells = self.folder / ".claude/ui/.ui-mcp/runtime.db-bells"
        with self.going(line) as process:
            while not list(bells.glob(f"{process.pid}-*")):
                assert process.poll() is None, self._said.read_text()
                time.sleep(0.02)
            yield process

    def speaks(self, line: str) -> dict[str, Any]:
        """Run an MCP server on pipes, greet it, and return what it is."""
        with self.going(line) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps(foreign.INITIALIZE) + "\n")
            process.stdin.flush()
            answer = process.stdout.readline()
            assert answer, f"{line}\n{self._said.read_text()}"
            process.stdin.close()
            assert process.wait(timeout=120) == 0
            server: dict[str, Any] = json.loads(answer)["result"]["serverInfo"]
            return server

    def _here(self, line: str) -> str:
        for there, here in self.replaced.items():
            line = line.replace(there, here)
        line = FIXED_PORT.sub(lambda found: f"--{found[1]} 0" if found[1] else "--mcp-sse 0", line)
        return f"{line} --port 0" if CHAT.fullmatch(line) else line
