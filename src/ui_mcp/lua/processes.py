"""Processes started by app code: one group, no input, a time limit, in the project root."""

import os
import signal
from collections.abc import Callable

from ui_mcp.lua_runtime.permissions import Permissions, Refusal

LIMIT = 16 * 1024 * 1024


def run_process(permissions: Permissions, tell: Callable[[Refusal], None], command: str) -> tuple[bytes | None, object]:
    """Return (output, exit status), or (None, why not)."""
    if not permissions.exec:
        refusal = permissions.refused_process()
        tell(refusal)
        return None, refusal.message
    import subprocess  # a child starts faster without it, and few apps are allowed processes

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
