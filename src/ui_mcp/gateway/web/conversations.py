"""The conversations of the chat page: opened on demand, served by an agent loop each, deleted."""

from collections.abc import Awaitable, Callable, Sequence
from secrets import token_hex

import anyio
from anyio.abc import TaskGroup

from ui_mcp.agent.conversation import Conversation, MakeLoop
from ui_mcp.agent.conversation_settings import EVENT, ConversationSettings, settings_of
from ui_mcp.agent.journal import AgentSummary, Found, Journal, Label, NewEvent, text_of
from ui_mcp.agent.journal_writer import JournalWriter
from ui_mcp.agent.orchestrator import InboxPage
from ui_mcp.agent.tools import Selection, selection_of
from ui_mcp.chat.attachments import AttachmentStore, attachments_in, reference_to
from ui_mcp.chat.identity import principal
from ui_mcp.chat.message import Draft, id_text
from ui_mcp.chat.service import Chat, ReadRequest
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.tool import Call, Tool, ToolResult
from ui_mcp.toolkit.toolset import Toolset

HUMAN = principal("human", "human")
READER = principal("orchestrator", "orchestrator")


class ChatInbox:
    """The inbox of an agent, on a chat store in the same process."""

    def __init__(self, chat: Chat, conversation: str) -> None:
        self._chat = chat
        self._conversation = conversation
        self._seen: str | None = None

    async def read(self, after: str | None, limit: int) -> InboxPage:
        """Return people's messages after a cursor."""
        ask = ReadRequest(after_id=after, limit=limit, authors=["user"], conversation=self._conversation)
        page = (await self._chat.read(READER, ask)).to_json()
        self._seen = page["last_id"]
        return InboxPage(page["messages"], page["last_id"], page["has_more"])

    async def hint(self, seconds: float) -> None:
        """Return when there may be new messages, after `seconds` at the latest."""
        await self._chat.wait(
            READER, ReadRequest(after_id=self._seen, authors=["user"], conversation=self._conversation), seconds
        )


ADD_SECONDS = 60
"""For how long a conversation that is stored belongs to who stores it."""


class Conversations:
    def __init__(
        self,
        chat: Chat,
        journal: Journal,
        make_loop: Callable[[str], MakeLoop],
        tasks: TaskGroup,
        *,
        attachments: AttachmentStore,
        opened: Callable[[JournalWriter], Awaitable[None]] | None = None,
    ) -> None:
        self._attachments = attachments
        self._opened = opened
        self._chat = chat
        self._journal = journal
        self._make_loop = make_loop
        self._tasks = tasks
        self._open: dict[str, Conversation] = {}
        self._scopes: dict[str, anyio.CancelScope] = {}
        self._opening = anyio.Lock()

    async def list_agents(self) -> list[AgentSummary]:
        """Return the conversations, pinned ones first, then the newest."""
        return sorted(await self._journal.list_agents(), key=lambda one: not one.label.pinned)

    async def search(self, words: str, limit: int) -> list[Found]:
        """Return a message with these words from each conversation that has one."""
        return await self._journal.search(words, limit)

    async def set_label(self, name: str, label: Label) -> None:
        await self._journal.set_label(name, label)

    async def create(self) -> str:
        """Return the name of a new conversation; it is stored with its first message."""
        return f"c-{token_hex(6)}"

    async def open(self, name: str) -> Conversation:
        """Return a conversation; start serving it if it is not served yet."""
        # One conversation must not be served twice: its journal has a single lease.
        async with self._opening:
            if name not in self._open:
                conversation = Conversation(name, self._journal, ChatInbox(self._chat, name), self._make_loop(name))
                await self._tasks.start(self._serve, conversation)
                self._open[name] = conversation
                if self._opened is not None:
                    await self._opened(conversation.journal)
            return self._open[name]

    def served(self, name: str) -> Conversation | None:
        """Return a conversation if it is being served."""
        return self._open.get(name)

    def writer(self, name: str) -> JournalWriter | None:
        """Return the journal writer of a conversation if it is served here."""
        served = self._open.get(name)
        return served.writer if served else None

    async def say(self, name: str, text: str, client_id: str | None = None) -> str:
        """Post a person's message and return its id."""
        await self.open(name)
        (posted,) = await self._chat.post(HUMAN, "user", name, [Draft(text, client_id=client_id)])
        return id_text(posted.id)

    async def delete_agent(self, name: str) -> bool:
        """Stop serving a conversation and delete its journal and files; the chat log keeps the messages."""
        said = [text_of(event) for event in await self._journal.events(name)]
        self._open.pop(name, None)
        if scope := self._scopes.pop(name, None):
            scope.cancel()
        deleted = await self._journal.delete_agent(name)
        for digest in {file.digest for text in said for file in attachments_in(text)}:
            if not await self._journal.search(reference_to(digest), 1):
                await self._attachments.remove(digest)
        return deleted

    async def selection(self, name: str) -> Selection:
        return selection_of((await self.open(name)).journal.events)

    async def select(self, name: str, selection: Selection) -> None:
        await (await self.open(name)).journal.write(NewEvent("tools_selected", selection.as_json()))

    async def add(self, events: Sequence[NewEvent]) -> str:
        """Store a conversation that was held elsewhere and return its name; it is served once a person opens it."""
        name = await self.create()
        lease = await self._journal.take_lease(name, name, ADD_SECONDS)
        assert lease is not None  # the name is new
        await self._journal.append(name, lease, events)
        await self._journal.drop_lease(name, lease)
        return name

    async def settings(self, name: str) -> ConversationSettings:
        return settings_of((await self.open(name)).journal.events)

    async def set_settings(self, name: str, settings: ConversationSettings) -> None:
        await (await self.open(name)).journal.write(NewEvent(EVENT, settings.as_json()))

    async def _serve(self, conversation: Conversation, *, task_status: anyio.abc.TaskStatus[None]) -> None:
        with anyio.CancelScope() as scope:
            self._scopes[conversation.name] = scope
            await conversation.run(task_status=task_status)


SHOWN = {"user_message": "user", "assistant_markdown": "assistant", "tool": "tool"}
"""Kinds of items that are messages, and who says them."""


def shown_messages(conversation: Conversation) -> list[JsonObject]:
    """Return the visible messages of a conversation, numbered from 0."""
    items = [
        item
        for item in conversation.journal.timeline.state.items
        if item["kind"] in SHOWN and not item.get("superseded")
    ]
    return [
        {"index": index, "item": item["id"], "role": SHOWN[item["kind"]], **_content(item)}
        for index, item in enumerate(items)
    ]


def _content(item: JsonObject) -> JsonObject:
    if item["kind"] == "tool":
        return {"name": item["name"], "arguments": item.get("args", {}), "content": item.get("content")}
    return {"content": item.get("text") or item.get("md") or ""}


POST = "chat_assistant_post"


class ConversationToolset:
    """The shared tools, and posting into one conversation, which the loop does for the model."""

    def __init__(self, chat: Toolset, shared: Toolset, conversation: str) -> None:
        self._chat = chat
        self._shared = shared
        self._conversation = conversation

    async def tools(self, call: Call) -> Sequence[Tool]:
        """List only the shared tools: the loop posts plain text by itself."""
        return await self._shared.tools(call)

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        if name == POST:
            return await self._chat.call(POST, {**arguments, "conversation": self._conversation}, call)
        return await self._shared.call(name, arguments, call)
