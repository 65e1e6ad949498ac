"""The product as a person uses it: its commands in a terminal, and its servers as processes."""

import os
import pty
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

START_SECONDS = 90.0
POLL_SECONDS = 0.02


def free_ports(count: int) -> list[int]:
    """Return ports without a listener; they are kept over restarts, as an address in a bookmark is."""
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    try:
        return [one.getsockname()[1] for one in held]
    finally:
        for one in held:
            one.close()


def command(name: str) -> str:
    """Return the path of a command of the product, beside the Python that runs this."""
    return str(Path(sys.executable).with_name(name))


def in_terminal(words: Sequence[str], folder: Path, variables: dict[str, str]) -> str:
    """Run a command that wants a person at a terminal, and return what it shows."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        os.execvpe(words[0], list(words), variables)
    shown = b""
    with suppress(OSError):  # Linux reports the end of a terminal as an error
        while piece := os.read(terminal, 4096):
            shown += piece
    os.close(terminal)
    _, status = os.waitpid(child, 0)
    text = shown.decode(errors="replace")
    if os.waitstatus_to_exitcode(status) != 0:
        raise RuntimeError(f"{' '.join(words)}: {text}")
    return text


@dataclass
class Server:
    """One server of the product, started again at the same ports after each kill."""

    words: Sequence[str]
    folder: Path
    variables: dict[str, str]
    ports: Sequence[int]
    log: Path
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.words,
                cwd=self.folder,
                env=self.variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self) -> None:
        """End the process as the kernel does, without a word to it."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def wait_ready(self) -> None:
        limit = time.monotonic() + START_SECONDS
        while not all(map(listens, self.ports)):
            assert self.process is not None
            if self.process.poll() is not None or time.monotonic() > limit:
                raise RuntimeError(f"{self.words[0]} did not start: {self.log.read_text()[-2000:]}")
            time.sleep(POLL_SECONDS)

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()


def listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def postgres() -> Iterator[str]:
    """Run a PostgreSQL of our own on a socket; provide the URL of an empty database."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    place = shutil.which("initdb") or (str(found[-1]) if found else None)
    if place is None:
        raise RuntimeError("PostgreSQL is missing (package postgresql)")
    binaries, home = Path(place).resolve().parent, Path(tempfile.mkdtemp(prefix="chat-kills-pg-"))
    owner: list[str] = []
    if os.geteuid() == 0:
        shutil.chown(home, "nobody")
        owner = ["setpriv", "--reuid=nobody", "--clear-groups"]

    def run(*words: str) -> None:
        subprocess.run([*owner, *words], check=True, stdout=subprocess.DEVNULL, cwd=home, timeout=180)

    run(str(binaries / "initdb"), "-D", f"{home}/data", "-U", "kills", "-A", "trust", "-E", "UTF8", "--no-sync")
    options = f"-c listen_addresses='' -c unix_socket_directories={home} -c fsync=off -c max_connections=300"
    run(str(binaries / "pg_ctl"), "-D", f"{home}/data", "-w", "-t", "150", "-l", f"{home}/log", "-o", options, "start")
    try:
        run(str(binaries / "createdb"), "-h", str(home), "-U", "kills", "kills")
        yield f"postgresql://kills@/kills?host={home}"
    finally:
        run(str(binaries / "pg_ctl"), "-D", f"{home}/data", "-m", "immediate", "stop")
        shutil.rmtree(home, ignore_errors=True)
