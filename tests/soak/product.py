"""The product under load: `ui-mcp serve` in a directory of its own, started again whenever it is killed."""

import os
import random
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from agreeing import agree

APP = """
Tally = session:prototype("Tally", { presses = 0 })
function Tally:press() self.presses = self.presses + 1 end
if not session.reloading then tally = Tally:new() end
"""
VIEW = '<template><div><i>%d</i><b ui-value="presses"></b><button ui-action="press()">+</button></div></template>'
GATEWAY = """
mcp:
  clients:
    - name: echo
      command: {python}
      args: [{server}]
"""
SERVER = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method, params = message["method"], message.get("params") or {}
    if method == "initialize":
        result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "echo", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "echo", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}]}
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": json.dumps(params.get("arguments"))}]}
    else:
        result = {}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


class Product:
    """One server and everything it started."""

    def __init__(self, folder: Path, log: Path | None = None) -> None:
        self.folder = folder
        self.log = log or folder / "server.log"
        self.base = folder / ".claude" / "ui"
        self.ui_port, self.mcp_port, person_port = free_ports()
        self.ui, self.mcp = f"http://127.0.0.1:{self.ui_port}", f"http://127.0.0.1:{self.mcp_port}"
        self.person = f"http://127.0.0.1:{person_port}"
        self.starts = 0
        app = self.base / "apps" / "tally"
        (app / "viewdefs").mkdir(parents=True)
        (app / "app.lua").write_text(APP)
        self.view = app / "viewdefs" / "Tally.DEFAULT.html"
        self.view.write_text(VIEW % 0)
        (folder / "echo.py").write_text(SERVER)
        (folder / "nlui.yaml").write_text(GATEWAY.format(python=sys.executable, server=folder / "echo.py"))
        (self.base / "config").mkdir()
        (self.base / "config" / "config.toml").write_text(f'[gateway]\nconfig = "{folder / "nlui.yaml"}"\n')
        agree(self.base)

    def start(self) -> None:
        """Start the server and wait for its addresses."""
        ports = ["--port", str(self.ui_port), "--mcp-port", str(self.mcp_port)]
        ports += ["--person-port", self.person.rpartition(":")[2]]
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "ui_mcp", "serve", *ports],
                cwd=self.folder, stdout=subprocess.PIPE, stderr=log, text=True,
            )  # fmt: skip
        assert self.process.stdout is not None
        said = [self.process.stdout.readline() for _ in range(3)]
        assert self.ui in said[1], (said, self.log.read_text()[-2000:])
        self.starts += 1

    def kill(self) -> None:
        """Kill the server as hard as the system can, and start it again."""
        self.process.kill()
        self.process.wait()
        self.start()

    def kill_child(self, kind: str) -> bool:
        """Kill a process the server started, or one of a process it started; tell whether there was one."""
        found = [pid for pid in descendants(self.process.pid) if kind in command_line(pid)]
        if found:
            with suppress(ProcessLookupError):
                os.kill(random.choice(found), signal.SIGKILL)
        return bool(found)

    def stop(self) -> int:
        """End the server politely and return its exit code."""
        self.process.terminate()
        return self.process.wait(timeout=120)

    def weight(self) -> tuple[float, int, int]:
        """Return megabytes, open files and descendants of the server."""
        pid = self.process.pid
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        return pages * 4096 / 1e6, len(list(Path(f"/proc/{pid}/fd").iterdir())), len(descendants(pid))


def descendants(pid: int) -> list[int]:
    """Return the children of a process, and theirs."""
    found: list[int] = []
    with suppress(FileNotFoundError, ProcessLookupError):  # it may end while we look
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in map(int, (task / "children").read_text().split()):
                found += [child, *descendants(child)]
    return found


def command_line(pid: int) -> str:
    """Return how a process was started; empty when it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def free_ports() -> tuple[int, int, int]:
    """Return three free ports, below those the system gives out."""
    found: list[int] = []
    for number in range(20000 + time.monotonic_ns() // 1000 % 10000, 32000):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", number))
            found.append(number)
        if len(found) == 3:
            return found[0], found[1], found[2]
    raise AssertionError("no free ports")
