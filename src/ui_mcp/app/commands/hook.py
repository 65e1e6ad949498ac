"""What `ui-mcp approvals hook` does: put a host's permission prompt into the inbox and wait for the decision."""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import anyio

from ui_mcp import config as settings
from ui_mcp.errors import InvalidArgumentsError, UiMcpError
from ui_mcp.inbox.host_hooks import HOSTS, Wanted, decision_json, wanted
from ui_mcp.inbox.model import Question
from ui_mcp.inbox.service import Inbox, inbox_url, opened
from ui_mcp.inbox.words import display_name
from ui_mcp.jsontypes import JsonObject, dumps, loads
from ui_mcp.ui.instance import other_server
from ui_mcp.workspace import Workspace, default_dir

LIFETIME = 3600.0
"""Seconds until an unanswered question is denied; the hook's own limit in the host's settings is longer."""
GRACE_SECONDS = 60.0
"""How long a server may be away, as during a restart, before the host asks by itself."""
LOOK_SECONDS = 2.0


def run_hook(words: Sequence[str]) -> int:
    """Print the person's decision about what stdin describes, or nothing; the exit code is always 0.

    Codex takes other codes for a failed hook, and 2 means a denial without words in all three hosts.
    """
    try:
        asked = wanted(_host(words), loads(sys.stdin.buffer.read()))
        decision = None if asked is None else anyio.run(decide, asked)
    except (UiMcpError, OSError, ValueError) as error:
        sys.stderr.write(f"ui-mcp approvals hook: {error}\n")
        return 0
    if decision is not None:
        sys.stdout.write(f"{dumps(decision)}\n")
    return 0


def _host(words: Sequence[str]) -> str:
    match list(words):
        case [host] if host in HOSTS:
            return host
        case _:
            raise InvalidArgumentsError(f"Name the host that starts it: {', '.join(HOSTS)}")


async def decide(asked: Wanted) -> JsonObject | None:
    """Ask the person and return the decision for the host; None if no server shows the inbox."""
    workspace = served_workspace(Path(asked.cwd or Path.cwd()))
    if workspace is None:
        return None
    serves = partial(other_server, workspace)
    config = settings.load(workspace.config_file)
    async with opened(inbox_url(config, workspace)) as inbox:
        agent = display_name(asked.host)
        new = inbox.new(
            "permission", asked.title, asked.body(), source=asked.host, agent=agent, lifetime=LIFETIME, held=True
        )
        question = await inbox.ask(new)
        settled = await _settled(inbox, question, lambda: serves() is not None)
        return decision_json(asked, settled)


def served_workspace(folder: Path) -> Workspace | None:
    """Return the base directory that a server serves for a folder or one above it; hosts work in subfolders too."""
    for project in (folder, *folder.parents):
        workspace = Workspace.at(default_dir(project), project)
        if other_server(workspace) is not None:
            return workspace
    return None


async def _settled(inbox: Inbox, question: Question, is_served: Callable[[], bool]) -> Question:
    """Wait for the decision while a server shows the question; its process ends with it, which withdraws it."""
    seen = anyio.current_time()
    while question.status == "pending" and anyio.current_time() < seen + GRACE_SECONDS:
        question = await inbox.settled(question.id, LOOK_SECONDS)
        if is_served():
            seen = anyio.current_time()
    return question
