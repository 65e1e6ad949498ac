"""`ui-mcp chat`: its servers, and its actions on a terminal (post, follow, stop, history, export, …)."""

import csv
import sys
from argparse import Namespace
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING

from anyio import create_task_group, sleep

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
from ui_mcp.workspace import Workspace, default_dir

# Over stdio no web server is needed, and only a person who follows or stops the agent has to do with it.
if TYPE_CHECKING:
    from ui_mcp.agent.observer import Reader, ask_agent, reader_for
    from ui_mcp.agent.timeline import StoredEvent
    from ui_mcp.app.chat_http_server import run_http
else:
    ask_agent = lazy("ui_mcp.agent.observer:ask_agent")
    reader_for = lazy("ui_mcp.agent.observer:reader_for")
    run_http = lazy("ui_mcp.app.chat_http_server:run_http")

AUTHORS: dict[Side, Author] = {"human": "user", "assistant": "assistant"}
FIELDS = ("id", "ts", "author", "mime", "content")
DECIDED = {"approval_decided", "approval_expired"}
POLL_SECONDS = 0.25


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
    async with open_chat_client(served) as chat:
        if options.action in {"stop", "resume"}:
            return await _ask_agent(chat, served, options)
        role = ROLES[served.side][0]
        who = principal(served.principal or role, role)
        match options.action:
            case "post":
                await _post(chat, who, served.side, options)
            case "follow":
                await _follow(chat, who, served, options)
            case "history":
                window = await chat.earlier(who, options.conversation, str(2**63 - 1), options.limit)
                _print(window.messages)
                if not window.messages:
                    sys.stderr.write("No messages yet.\n")
            case "backup":
                await chat.store.backup(options.file)
                _line(f"Written: {options.file}")
            case "restore":
                await chat.store.restore(options.file)
                _line(f"Restored from {options.file}")
            case _:
                await _export(chat, who, options)
    return 0


async def _ask_agent(chat: Chat, served: ChatServerOptions, options: Namespace) -> int:
    workspace = Workspace.at(served.base_dir)
    url = settings.load(workspace.config_file).storage.url
    agent = conversation_name(options.conversation)
    if not await ask_agent(chat, url, workspace.state_dir, agent, options.action):
        raise NotFoundError(f"No agent serves the conversation {options.conversation}\nStart one with `ui-mcp agent`.")
    _line("Asked the agent to stop." if options.action == "stop" else "Asked the agent to go on.")
    return 0


async def _post(chat: Chat, who: Principal, side: Side, options: Namespace) -> None:
    (posted,) = await chat.post(who, AUTHORS[side], options.conversation, [Draft(" ".join(options.text))])
    _line(id_text(posted.id))


async def _follow(chat: Chat, who: Principal, served: ChatServerOptions, options: Namespace) -> None:
    """Print messages, and what keeps the agent from answering: errors, and calls that wait for the person."""
    config = settings.load(Workspace.at(served.base_dir).config_file)
    url, folder = served.store or config.storage.url, Workspace.at(served.base_dir).state_dir
    hints = Hints(options.conversation, options.dir if options.dir != default_dir() else None)
    async with create_task_group() as tasks:
        begun = await _time_of(chat, who, options) if options.after else None
        tasks.start_soon(_follow_agent, reader_for(url, folder, options.conversation), hints, begun)
        await _follow_messages(chat, who, options)


async def _time_of(chat: Chat, who: Principal, options: Namespace) -> str:
    """Return the time of the message that `--after` names."""
    window = await chat.earlier(who, options.conversation, id_text(cursor(options.after) + 1), 1)
    return ts_text(window.messages[-1].ts) if window.messages else ""


async def _follow_agent(reader: "Reader", hints: "Hints", begun: str | None) -> None:
    """Print what the agent's journal adds; of what it has, questions that still wait, and notices after `begun`."""
    events = await reader.news()
    decided = {event.data["approval_id"] for event in events if event.type in DECIDED}
    for event in events:
        waits = event.type == "approval_requested" and event.data["approval_id"] not in decided
        if waits or (begun is not None and event.ts > begun and event.type == "notice"):
            hints.show(event)
    while True:
        await sleep(POLL_SECONDS)
        for event in await reader.news():
            hints.show(event)


@dataclass(frozen=True, slots=True)
class Hints:
    """Prints events of an agent that a person must know of, with the command that answers a question."""

    conversation: str
    directory: str | None

    def show(self, event: "StoredEvent") -> None:
        at, data = event.ts[11:19], event.data
        if event.type == "notice":
            _line(f"{at} {data['level']}: {_printable(str(data['text']))}")
        elif event.type == "approval_requested":
            where = f" --dir {quote(self.directory)}" if self.directory else ""
            asked = _printable(f"{data['tool']} {dumps(data.get('args') or {})}")
            _line(f"{at} waits for you: {asked}\n  ui-mcp approvals approve {data['approval_id']}{where}  (or deny)")


async def _follow_messages(chat: Chat, who: Principal, options: Namespace) -> None:
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
        _line(f"{ts_text(message.ts)[11:19]} {message.author}: {_printable(message.content)}")


def _printable(text: str) -> str:
    """Replace control characters, which could rewrite what the terminal already shows."""
    return "".join(char if char.isprintable() or char in "\n\t" else "\N{REPLACEMENT CHARACTER}" for char in text)


def _line(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
