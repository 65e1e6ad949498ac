"""Actions of `ui-mcp session` on the sessions of a directory."""

import sys
import time
from argparse import Namespace
from pathlib import Path
from secrets import token_hex

from anyio import to_thread

from ui_mcp import config as settings
from ui_mcp.errors import NotFoundError, RefusedError
from ui_mcp.jsontypes import dumps, loads
from ui_mcp.processes import run
from ui_mcp.ui.own_files import settle
from ui_mcp.ui.sessions import session_file
from ui_mcp.ui.sessions.record import SessionRecords
from ui_mcp.ui.sessions.worker_settings import state_database
from ui_mcp.ui.state.database import StateDatabase
from ui_mcp.ui.state.group import journal_name
from ui_mcp.ui.state.records import State
from ui_mcp.ui.state.segments import Entry
from ui_mcp.workspace import Workspace


def run_action(options: Namespace) -> int:
    return run(_act, options)


async def _act(options: Namespace) -> int:
    workspace = Workspace.at(options.dir)
    database = state_database(workspace, settings.load(workspace.config_file))
    if database is None:
        raise RefusedError("The setting session.journal is off: no state is saved here")
    await to_thread.run_sync(settle, workspace)
    try:
        act = export_session if options.action == "export" else import_session
        sys.stdout.write(await act(workspace, database, Path(options.file)))
    finally:
        await database.close()
    return 0


async def export_session(workspace: Workspace, database: StateDatabase, file: Path) -> str:
    """Write session 1, as it is saved at this moment, with all apps.

    Raises:
        NotFoundError: there is none: no server runs here, and none was killed.
    """
    kept = (await to_thread.run_sync(lambda: SessionRecords(workspace.state_dir, resumes=True).of(1))).kept
    entries = await (await database.store()).entries(journal_name(kept.secret)) if kept.secret else []
    if not entries:
        raise NotFoundError(f"No session is saved in {workspace.given}\nStart one there with `ui-mcp serve`.")
    state = State()
    for entry in entries:
        state.apply(loads(entry.body))
    records = dumps(list(state.records()))
    count = await to_thread.run_sync(session_file.write, file, workspace, records, kept.displayed or "")
    return f"Wrote {file}: the state and {count - 2} files of apps\n"


async def import_session(workspace: Workspace, database: StateDatabase, file: Path) -> str:
    """Write the apps of a file and leave its session for the next server of the directory.

    Raises:
        RefusedError: a session is there already, or an app differs.
    """
    found = await to_thread.run_sync(session_file.read, file)
    if await to_thread.run_sync((workspace.state_dir / "session.jsonl").exists):
        raise RefusedError(f"{workspace.given} has a session\nStop its server (ui-mcp stop), or import elsewhere.")
    apps = await to_thread.run_sync(found.unpack, workspace)
    secret = token_hex(16)
    await database.append(journal_name(secret), [Entry(1, time.time(), True, found.records, "start", "", "Import")])
    await to_thread.run_sync(_leave, workspace, secret, found.displayed)
    return f"Imported {', '.join(apps) or 'no apps'}; the next server here continues the session\n"


def _leave(workspace: Workspace, secret: str, displayed: str) -> None:
    """Write the record by which a server continues a session."""
    record = SessionRecords(workspace.state_dir).of(1)
    record.open(secret, list)
    if displayed:
        record.note("displayed", displayed)
