"""`ui-mcp chat`: its servers, and its actions on a terminal (post, follow, stop, history, export, …)."""

import csv
import sys
from argparse import Namespace
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

from ui_mcp import config as settings
from ui_mcp.app import chat_server
from ui_mcp.app.chat_server import as_person, open_chat_client
from ui_mcp.chat.identity import Principal, principal
from ui_mcp.chat.mcp import ROLES, ChatServerOptions
from ui_mcp.chat.message import Author, Draft, Message, Page, conversation_name, cursor, id_text, optional_id, ts_text
from ui_mcp.chat.service import Chat, ReadRequest
from ui_mcp.chat.tail import Follower
from ui_mcp.chat.tools import Side
from ui_mcp.discovery import lazy
from ui_mcp.errors import NotFoundError
from ui_mcp.jsontypes import dumps
from ui_mcp.processes import run
from ui_mcp.workspace import Workspace

# Over stdio no web server is needed, and only a person who stops the agent asks it anything.
if TYPE_CHECKING:
    from ui_mcp.agent.observer import ask_agent
    from ui_mcp.app.chat_http_server import run_http
else:
    ask_agent = lazy("ui_mcp.agent.observer:ask_agent")
    run_http = lazy("ui_mcp.app.chat_http_server:run_http")

AUTHORS: dict[Side, Author] = {"human": "user", "assistant": "assistant"}
FIELDS = ("id", "ts", "author", "mime", "content")


def run_chat(options: Namespace) -> int:
    store = chat_server.store_named(options.store) if getattr(options, "store", None) else None
    served = ChatServerOptions(options.face, options.dir, options.principal, options.verbosity, store)
    if options.action is not None:
        return _run_action(served, options)
    if options.port is not None:
        return run_http(served, options.port)
    return chat_server.run_stdio(served, *options.stdio)


def _run_action(served: ChatServerOptions, options: Namespace) -> int:
    if options.action == "post" and " ".join(options.text) in {"", "-"}:
        options.text = [_typed()]
    return run(_act, served, options)


def _typed() -> str:
    """Read the message before the event loop starts, so that Ctrl+C still interrupts reading."""
    if sys.stdin.isatty():
        sys.stderr.write("Type the message and end it with Ctrl+D.\n")
    return sys.stdin.read().removesuffix("\n")


async def _act(served: ChatServerOptions, options: Namespace) -> int:
    # A backup only copies a file: it needs no person.
    if options.action != "backup":
        served = await as_person(served, f"ui-mcp chat {options.action}")
    if options.action in {"stop", "resume"}:
        return await _ask_agent(served, options)
    async with open_chat_client(served) as chat:
        role = ROLES[served.side][0]
        who = principal(served.principal or role, role)
        match options.action:
            case "post":
                await _post(chat, who, served.side, options)
            case "follow":
                await _follow(chat, who, options)
            case "history":
                window = await chat.earlier(who, options.conversation, str(2**63 - 1), options.limit)
                _print(window.messages)
            case "backup":
                await chat.store.backup(options.file)
                _line(f"Written: {options.file}")
            case "restore":
                await chat.store.restore(options.file)
                _line(f"Restored from {options.file}")
            case _:
                await _export(chat, who, options)
    return 0


async def _ask_agent(served: ChatServerOptions, options: Namespace) -> int:
    workspace = Workspace.at(served.base_dir)
    url = settings.load(workspace.config_file).storage.url
    if not await ask_agent(url, workspace.state_dir, conversation_name(options.conversation), options.action):
        raise NotFoundError(f"No agent serves the conversation {options.conversation}\nStart one with `ui-mcp agent`.")
    _line("Asked the agent to stop." if options.action == "stop" else "Asked the agent to go on.")
    return 0


async def _post(chat: Chat, who: Principal, side: Side, options: Namespace) -> None:
    (posted,) = await chat.post(who, AUTHORS[side], options.conversation, [Draft(" ".join(options.text))])
    _line(id_text(posted.id))


async def _follow(chat: Chat, who: Principal, options: Namespace) -> None:
    async def read(after: int) -> Page:
        return await chat.read(who, ReadRequest(optional_id(after), conversation=options.conversation))

    async def take(page: Page) -> None:
        _print(page.messages)

    start = options.after or await chat.head(who, options.conversation)
    follower = Follower(read, take, cursor(start))
    with chat.tail.watching():
        while True:
            await follower.drain()
            await chat.tail.wait_past(options.conversation, follower.after)


async def _export(chat: Chat, who: Principal, options: Namespace) -> None:
    write = _csv_row() if options.format == "csv" else _json_row
    async for message in _all(chat, who, options.conversation, options.after):
        write(message)
    sys.stdout.flush()


async def _all(chat: Chat, who: Principal, conversation: str, after: str | None) -> AsyncIterator[Message]:
    while True:
        page = await chat.read(who, ReadRequest(after, conversation=conversation))
        for message in page.messages:
            yield message
        after = optional_id(page.last)
        if not page.has_more:
            return


def _json_row(message: Message) -> None:
    sys.stdout.write(f"{dumps(message.to_json())}\n")


def _csv_row() -> Callable[[Message], None]:
    writer = csv.DictWriter(sys.stdout, FIELDS)
    writer.writeheader()
    return lambda message: writer.writerow(message.to_json())


def _print(messages: tuple[Message, ...]) -> None:
    for message in messages:
        # Control characters could rewrite what the terminal already shows.
        text = "".join(
            char if char.isprintable() or char in "\n\t" else "\N{REPLACEMENT CHARACTER}" for char in message.content
        )
        _line(f"{ts_text(message.ts)[11:19]} {message.author}: {text}")


def _line(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
