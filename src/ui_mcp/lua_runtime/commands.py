"""Runs the shell commands of app code: in a process if that is permitted, otherwise emulated."""

import os
import signal
from collections.abc import Callable

from ui_mcp.lua_runtime.permissions import Permissions, Refusal
from ui_mcp.lua_runtime.shell import Emulator

LIMIT = 16 * 1024 * 1024
"""Bytes of a process's output that app code gets."""


def run_command(
    emulator: Emulator, permissions: Permissions, report: Callable[[Refusal], None], command: str
) -> tuple[bytes | None, object]:
    """Run a shell command in the project; return (output, exit status), or (None, reason).

    Without the permission to start processes, the common file commands are emulated, and others refused.
    """
    if permissions.exec:
        return run_process(permissions, command)
    done = emulator.run(command)
    if done is not None:
        return done
    refusal = permissions.refused_process(command)
    report(refusal)
    return None, refusal.message


def run_process(permissions: Permissions, command: str) -> tuple[bytes | None, object]:
    """Run a shell command in a process."""
    import subprocess  # slows the worker's start, and few apps may run processes

    environment = {**os.environ, "UI_MCP": "true", "FRICTIONLESS_MCP": "true"}
    try:
        process = subprocess.Popen(  # noqa: S602
            command,
            shell=True,  # the person allowed it with lua.permissions.exec
            cwd=permissions.project,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        return None, str(error)
    try:
        output, _ = process.communicate(timeout=permissions.exec_timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return None, f"process killed after {permissions.exec_timeout:g} s (lua.permissions.exec_timeout)"
    return output[:LIMIT], process.returncode
