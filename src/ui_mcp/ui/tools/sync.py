"""`ui_sync`: transport for pages inside an MCP host."""

from dataclasses import dataclass, field
from typing import Annotated

from ui_mcp.fields import Limit
from ui_mcp.jsontypes import Json, JsonObject, dumps
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call, Text, ToolResult
from ui_mcp.ui.server import UiServer
from ui_mcp.ui.sessions.longpoll import GONE, OVER, Numbered, Synced

MAX_WAIT_MS = 25_000


@dataclass(frozen=True, slots=True)
class SentFrame:
    """One frame of the page."""

    n: Annotated[int, "Number of the frame, counted from 1; repeated ones are ignored.", Limit(ge=1)]
    frame: Annotated[Json, "The frame: JSON text, or the JSON itself."]


@dataclass(frozen=True, slots=True)
class SyncArgs:
    """What the page has and wants."""

    session: Annotated[str, "Session of the page."] = "1"
    conn: Annotated[str | None, "Connection from the first answer; absent to open one."] = None
    after: Annotated[int, "Last frame number processed; later ones are sent again.", Limit(ge=0)] = 0
    frames: Annotated[list[SentFrame], "What the page sends."] = field(default_factory=list)
    wait_ms: Annotated[int, "How long to wait for frames, 0 to 25000 milliseconds."] = 20_000


@tool(
    "ui_sync",
    SyncArgs,
    title="Synchronise an embedded page",
    annotations=Annotations(destructive=False),
    meta={"ui": {"visibility": ["app"]}},
    app_only=True,
)
async def sync(host: UiServer, args: SyncArgs, call: Call) -> ToolResult:
    """Carry frames between an embedded page and its session. For pages, not for models."""
    running = host.running()
    session = running.sessions.get(args.session)
    if session.over and not args.conn:
        return _answer("", OVER)
    poll = session.polls.find(args.conn) if args.conn else await session.polls.open()
    if poll is None:
        return _answer(args.conn or "", GONE)
    sent = [Numbered(one.n, one.frame if isinstance(one.frame, str) else dumps(one.frame)) for one in args.frames]
    # A page that just connected sends its first frame next, so there is nothing to wait for yet.
    wait = min(max(args.wait_ms, 0), MAX_WAIT_MS) / 1000 if args.conn else 0
    synced = await poll.sync(args.after, sent, wait, call.closing)
    if args.conn:
        return _answer(poll.name, synced)
    socket = f"{running.url.replace('http', 'ws', 1)}/ws/{session.vended}"
    return _answer(poll.name, synced, {"ws": {"url": socket, "token": running.mint_token(session.secret)}})


def _answer(name: str, synced: Synced, extra: JsonObject | None = None) -> ToolResult:
    structured = {
        "conn": name,
        "seq": synced.seq,
        "frames": synced.frames,
        "closed": synced.closed,
        "ended": synced.ended,
        **(extra or {}),
    }
    return ToolResult((Text("synced"),), structured=structured)
