"""Opens the chat for `ui-mcp chat`, and serves it over stdio."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from anyio import to_thread

from ui_mcp import config as settings
from ui_mcp.app.terminal import TOKEN_VARIABLE, person
from ui_mcp.chat.announcer import NewMessages
from ui_mcp.chat.mcp import ChatServerOptions, chat_definition, directory_of
from ui_mcp.chat.message import id_text
from ui_mcp.chat.service import Chat, limits_of, open_chat, store_url
from ui_mcp.chat.tools import OpenChat
from ui_mcp.config import Config
from ui_mcp.errors import ConfigError, RefusedError
from ui_mcp.log import to_stderr
from ui_mcp.mcp_server.server import McpServer
from ui_mcp.mcp_server.transports.stdio import serve
from ui_mcp.mcp_tasks.tasks import pausing
from ui_mcp.processes import run, until_signalled
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.ui.own_files import settle
from ui_mcp.workspace import Workspace


def store_named(given: str) -> str:
    """Return the URL of an existing store.

    Raises:
        ConfigError: there is no such file.
    """
    if "://" in given:
        return given
    if not Path(given).is_file():
        raise ConfigError(f"There is no store {given}\nName the file of a chat, or its URL.")
    return f"sqlite:///{Path(given).resolve()}"


async def as_person(served: ChatServerOptions, command: str, stdin: int = 0) -> ChatServerOptions:
    """Require a person for the human side of the chat; with a token, the principal is its holder.

    Raises:
        RefusedError: there is neither a terminal nor a human's token, or the token belongs to another principal.
    """
    if served.side != "human":
        return served
    holder = await person(command, served.base_dir, stdin)
    if holder is None:
        return served
    if served.principal not in {None, holder.name}:
        raise RefusedError(f"{TOKEN_VARIABLE} is the token of {holder.name}\nLeave --principal out.")
    return replace(served, principal=holder.name)


@asynccontextmanager
async def open_served_chat(served: ChatServerOptions) -> AsyncIterator[tuple[Config, Chat, Announcements]]:
    """Open a workspace's chat to serve it; creates nothing but the folder of our own files."""
    to_stderr(served.verbosity)
    workspace = Workspace.at(served.base_dir)
    config = settings.load(workspace.config_file)
    await to_thread.run_sync(settle, workspace)
    announcements = Announcements()

    def push(new: NewMessages) -> None:
        if config.mcp.claude_channel and served.side == "assistant":
            announcements.channel_event(*channel_text(new))

    async with open_chat(
        store_url(config, workspace),
        limits=limits_of(config),
        announcements=announcements,
        on_new_messages=push,
        poll=config.storage.poll_ms / 1000,
    ) as chat:
        yield config, chat, announcements


@asynccontextmanager
async def open_chat_client(served: ChatServerOptions) -> AsyncIterator[Chat]:
    """Open a workspace's chat as a participant, without announcements."""
    to_stderr(served.verbosity)
    workspace = Workspace.at(served.base_dir)
    config = settings.load(workspace.config_file)
    await to_thread.run_sync(settle, workspace)
    url, poll = served.store or store_url(config, workspace), config.storage.poll_ms / 1000
    async with open_chat(url, limits=limits_of(config), poll=poll) as chat:
        yield chat


def channel_text(new: NewMessages) -> tuple[str, dict[str, str]]:
    """Return content and metadata of the channel event for new messages."""
    meta = {"conversation": new.conversation, "last_id": id_text(new.last)}
    if new.messages is None:
        return "New messages in the chat; read them with chat_read_since.", meta
    return "\n\n".join(message.content for message in new.messages), meta


def run_stdio(served: ChatServerOptions, stdin: int, stdout: int) -> int:
    """Serve one client on two file descriptors."""
    return run(_stdio, served, stdin, stdout)


async def _stdio(served: ChatServerOptions, stdin: int, stdout: int) -> int:
    served = await as_person(served, "ui-mcp chat --face human", stdin)
    async with until_signalled(), open_served_chat(served) as (config, chat, announcements):
        face = chat_definition(served, config, OpenChat(chat, directory_of(served, chat)), announcements)
        async with pausing(face.tasks):
            await serve(McpServer(face), stdin, stdout)
    return 0
