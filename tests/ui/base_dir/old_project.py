"""A base directory as versions before `.ui-mcp/` left it, and processes that go on using it as they did."""

import json
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from ui_mcp.chat.sqlite_store import SCHEMA
from ui_mcp.storage.sqlite import prepare
from ui_mcp.workspace import Workspace

TARGET = {"name": "url", "kind": "url", "title": "a page", "pid": 0, "port": 0, "token": "", "url": "http://localhost"}
HOLD = (
    "import sqlite3, sys\n"
    "store = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
    "{}\n"
    "print('open', flush=True)\n"
    "sys.stdin.read()\n"
)
IDLE = "store.execute('PRAGMA data_version').fetchone()"
UNUSED = ""
KILL_AT = (
    "import os, signal, sys\n"
    "from ui_mcp.ui.base_dir.migration import moving\n"
    "from ui_mcp.workspace import Workspace\n"
    "for number, step in enumerate(moving(Workspace.at(sys.argv[1]))):\n"
    "    if number == int(sys.argv[2]):\n"
    "        os.kill(os.getpid(), signal.SIGKILL)\n"
)
SETTLE = (
    "import sys\n"
    "from ui_mcp.ui.own_files import settle\n"
    "from ui_mcp.workspace import Workspace\n"
    "print(settle(Workspace.at(sys.argv[1])).name)\n"
)


def old_project(folder: Path, *messages: str) -> Workspace:
    """Lay out a directory with a chat, a journal, a manifest and a target of ours, and a file of an app."""
    workspace = Workspace.at(folder / ".claude" / "ui")
    (workspace.storage / "targets").mkdir(parents=True)
    for message in messages:
        post(workspace.storage, message)
    with closing(sqlite3.connect(workspace.storage / "agent.db")) as journal:
        journal.execute("CREATE TABLE events (data TEXT)")
        journal.execute("INSERT INTO events VALUES ('happened')")
        journal.commit()
    (workspace.storage / "install-manifest.json").write_text('{"version": "1", "files": {}}')
    (workspace.storage / "targets/url.json").write_text(json.dumps(TARGET))
    (workspace.storage / "targets/scores.json").write_text('{"best": 7}')
    (workspace.storage / "notes.db").write_text("an app's")
    return workspace


def post(folder: Path, message: str) -> None:
    """Say something in the store of a folder, which is made when it is not there: as any version does."""
    prepare(folder / "runtime.db", SCHEMA).close()
    with closing(sqlite3.connect(folder / "runtime.db", timeout=10, isolation_level=None)) as store:
        store.execute("BEGIN IMMEDIATE")
        store.execute("INSERT OR IGNORE INTO conversations VALUES (1, 'default', 0, 0)")
        (last,) = store.execute("SELECT COALESCE(MAX(id), 0) FROM messages").fetchone()
        row = (1, last + 1, time.time_ns(), "user", "human", "text/plain", message, None)
        store.execute("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)
        store.execute("COMMIT")


def said(store: Path) -> list[str]:
    """Return the messages of a store."""
    if not store.is_file():
        return []
    with closing(sqlite3.connect(store)) as opened:
        if not opened.execute("SELECT 1 FROM sqlite_master WHERE name = 'messages'").fetchone():
            return []
        return [row[0] for row in opened.execute("SELECT content FROM messages ORDER BY id")]


def chat(workspace: Workspace) -> list[str]:
    """Return what the present version finds in the chat."""
    return said(workspace.state_dir / "runtime.db")


def settled(workspace: Workspace) -> str:
    """Settle in a process of its own, and return the name of the folder in use."""
    command = [sys.executable, "-c", SETTLE, str(workspace.base)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def killed_at(workspace: Workspace, step: int) -> bool:
    """Move, killed with signal 9 after a step; False when there are no more steps."""
    command = [sys.executable, "-c", KILL_AT, str(workspace.base), str(step)]
    return subprocess.run(command, timeout=60, check=False).returncode != 0


@contextmanager
def older_process(store: Path, doing: str = IDLE) -> Iterator[subprocess.Popen[str]]:
    """Run a process that has a store open, as an older version does, for the length of the block."""
    command = [sys.executable, "-c", HOLD.format(doing), str(store)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "open\n"
        try:
            yield process
        finally:
            process.kill()
