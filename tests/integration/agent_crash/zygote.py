"""Forks processes of ui-mcp that are already imported, so that a test can afford to kill hundreds of them.

`zygote.py FOLDER` listens at FOLDER/zygote; `launcher` hands it a command line and three pipes and ends with the child.
"""

import json
import os
import signal
import socket
import sys
import traceback
from pathlib import Path

import ui_mcp.agent.journal_store
import ui_mcp.app.agent_runner
import ui_mcp.chat.mcp
import ui_mcp.gateway.openapi.live
import ui_mcp.gateway.runner
import ui_mcp.mcp_client.client
import ui_mcp.mcp_server.server
import ui_mcp.mcp_server.transports.stdio
import ui_mcp.processes
from ui_mcp.cli.entry import main

sys.path.insert(0, str(Path(__file__).parents[2]))
from integration.agent_crash import faults

LAUNCHER = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as zygote:
    zygote.connect({socket!r})
    wanted = json.dumps({{"argv": sys.argv[1:], "cwd": os.getcwd()}}).encode()
    socket.send_fds(zygote, [wanted], [0, 1, 2])
    os.close(0)
    os.close(1)
    zygote.recv(1)
"""


def serve(folder: Path) -> None:
    """Fork a process for each request."""
    launcher = folder / "launcher"
    launcher.write_text(LAUNCHER.format(python=sys.executable, socket=str(folder / "zygote")))
    launcher.chmod(0o700)
    sys.executable = str(launcher)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "zygote"))
        listener.listen(64)
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while True:
            asking, _ = listener.accept()
            message, pipes, _, _ = socket.recv_fds(asking, 65536, 3)
            if os.fork() == 0:
                listener.close()
                become(folder, json.loads(message), pipes)
            asking.close()
            for pipe in pipes:
                os.close(pipe)


def become(folder: Path, wanted: dict[str, str], pipes: list[int]) -> None:
    """Be the process that was asked for; never returns."""
    code = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number, pipe in enumerate(pipes):
            os.dup2(pipe, number)
            os.close(pipe)
        ui_mcp.processes.PARENT_PID = os.getppid()  # the zygote, not its parent
        os.chdir(wanted["cwd"])
        argv = [part for part in wanted["argv"] if part not in {"-m", "ui_mcp"}]
        role = {"nlui": "gateway"}.get(argv[0], argv[0])
        (folder / "pids" / f"{role}.{os.getpid()}").touch()
        if role == "agent":
            faults.install(folder)
        sys.argv = ["ui-mcp", *argv]
        code = main() or 0
    except SystemExit as error:
        code = int(error.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
