"""Serves one face of a workspace's chat, on stdin and stdout or over HTTP with the bridges."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from anyio import to_thread

from ui_mcp import config as settings
from ui_mcp.app.terminal import TOKEN_VARIABLE, person
from ui_mcp.chat.announcer import Heard
from ui_mcp.chat.desk import Open, Side, desk_for
from ui_mcp.chat.directory import Directory
from ui_mcp.chat.identity import POST_ASSISTANT, POST_USER, Role, principal
from ui_mcp.chat.inbox import ChatResources
from ui_mcp.chat.message import id_text
from ui_mcp.chat.service import Chat, open_chat
from ui_mcp.chat.settings import limits_of, store_url
from ui_mcp.chat.tokens import Keys
from ui_mcp.chat.tools import naming_of
from ui_mcp.chat.toolset import ChatTools
from ui_mcp.config import Config
from ui_mcp.errors import ConfigError, RefusedError
from ui_mcp.log import to_stderr
from ui_mcp.mcp_server.definition import Face
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.ui.own_files import settle
from ui_mcp.version import bundled_version
from ui_mcp.workspace import Workspace

if TYPE_CHECKING:
    from ui_mcp.mcp_server.transports.routes import Endpoints
    from ui_mcp.webserver.server import App


ROLES: dict[Side, tuple[Role, str]] = {"human": ("human", POST_USER), "assistant": ("agent", POST_ASSISTANT)}

INSTRUCTIONS: dict[Side, str] = {
    "human": (
        "The human's side of a chat with an agent. chat_human_post says something as the human. Subscribe to "
        "ui://chat/inbox to hear of the human's messages and to ui://chat/head to hear of all; read with "
        "chat_read_since(after_id) and keep last_id."
    ),
    "assistant": (
        "The agent's side of a chat with a human. chat_assistant_post is the only way to reach them. Wait for them "
        'with chat_wait_since(after_id, authors ["user"]) or subscribe to ui://chat/inbox; read with '
        "chat_read_since(after_id) and keep last_id: nothing is lost or repeated, even over restarts."
    ),
}


@dataclass(frozen=True, slots=True)
class Served:
    """Which face is served, for which directory, and who is at the other end of a pipe."""

    side: Side
    base_dir: str
    principal: str | None = None
    verbosity: int = 0
    store: str | None = None
    """The URL of another store than the workspace's own."""


def store_named(given: str) -> str:
    """Return the URL of a store that is there already.

    Raises:
        ConfigError: there is no such file.
    """
    if "://" in given:
        return given
    if not Path(given).is_file():
        raise ConfigError(f"There is no store {given}\nName the file of a chat, or its URL.")
    return f"sqlite:///{Path(given).resolve()}"


async def as_person(served: Served, command: str, stdin: int = 0) -> Served:
    """Make sure that whoever asks for the human's face is a person; with a token they are its holder.

    Raises:
        RefusedError: there is neither a terminal nor a human's token, or the token is somebody else's.
    """
    if served.side != "human":
        return served
    holder = await person(command, served.base_dir, stdin)
    if holder is None:
        return served
    if served.principal not in {None, holder.name}:
        raise RefusedError(f"{TOKEN_VARIABLE} is the token of {holder.name}\nLeave --principal out.")
    return replace(served, principal=holder.name)


def face_app(side: Side, desk: Open, per_second: float, endpoints: "Endpoints", port: int) -> "App":
    """Build one face over HTTP; the human's is for holders of a human token and for the person."""
    from ui_mcp.httpd.chat_routes import assistant_face_routes, human_face_routes
    from ui_mcp.httpd.face_access import HumanFaceAccess
    from ui_mcp.httpd.mcp_app import mcp_app
    from ui_mcp.webserver.auth import Admission
    from ui_mcp.webserver.person_auth import Access

    admit = desk.directory.admit
    if side == "assistant":
        return Admission(mcp_app(assistant_face_routes(desk, per_second), endpoints), admit)
    access = Access(str(port))
    return HumanFaceAccess(mcp_app(human_face_routes(desk, per_second, access), endpoints), admit, access)


@asynccontextmanager
async def opened(served: Served) -> AsyncIterator[tuple[Config, Chat, Announcements]]:
    """Open a workspace's chat; only the folder of our own files is ever created."""
    to_stderr(served.verbosity)
    workspace = Workspace.at(served.base_dir)
    config = settings.load(workspace.config_file)
    await to_thread.run_sync(settle, workspace)
    announcements = Announcements()

    def push(heard: Heard) -> None:
        if config.mcp.claude_channel and served.side == "assistant":
            announcements.channel_event(*channel_text(heard))

    async with open_chat(
        store_url(config, workspace),
        limits=limits_of(config),
        announcements=announcements,
        heard=push,
        poll=config.storage.poll_ms / 1000,
    ) as chat:
        yield config, chat, announcements


@asynccontextmanager
async def joined(served: Served) -> AsyncIterator[Chat]:
    """Open a workspace's chat to take part in it, announcing nothing."""
    to_stderr(served.verbosity)
    workspace = Workspace.at(served.base_dir)
    config = settings.load(workspace.config_file)
    await to_thread.run_sync(settle, workspace)
    url, poll = served.store or store_url(config, workspace), config.storage.poll_ms / 1000
    async with open_chat(url, limits=limits_of(config), poll=poll) as chat:
        yield chat


def channel_text(heard: Heard) -> tuple[str, dict[str, str]]:
    """Write what people said for hosts that let servers speak up."""
    meta = {"conversation": heard.conversation, "last_id": id_text(heard.last)}
    if heard.messages is None:
        return "New messages in the chat; read them with chat_read_since.", meta
    return "\n\n".join(message.content for message in heard.messages), meta


def directory_of(served: Served, chat: Chat, *, always: bool = False) -> Directory:
    """Return who may call this face; `always` asks everyone for a token."""
    role, scope = ROLES[served.side]
    return Directory(Keys(chat.store), principal(served.principal or role, role), open_scope=scope, always=always)


def chat_face(served: Served, config: Config, opened: Open, announcements: Announcements) -> Face:
    """Assemble one face."""
    desk = desk_for(opened.chat, opened.directory)
    return Face(
        name=f"ui-mcp-chat-{served.side}",
        title="Chat with the agent" if served.side == "human" else "Chat with the human",
        version=bundled_version(),
        toolset=ChatTools(desk, served.side, naming_of(config)),
        resources=ChatResources(desk),
        announcements=announcements,
        instructions=INSTRUCTIONS[served.side],
        experimental={"claude/channel": {}} if config.mcp.claude_channel and served.side == "assistant" else {},
    )
