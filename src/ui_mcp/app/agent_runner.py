"""`ui-mcp agent`: the agent loop as a client of the chat, with the tools of the gateway."""

import os
import sys
from collections.abc import AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

import anyio
from anyio.abc import TaskGroup

from ui_mcp.agent.attached_files import AttachedFiles
from ui_mcp.agent.handlers import UpstreamChanges
from ui_mcp.agent.history import begin_journal
from ui_mcp.agent.inbox import McpInbox, Open
from ui_mcp.agent.journal_store import JournalStore, journal_place
from ui_mcp.agent.journal_writer import JournalWriter
from ui_mcp.agent.live import LiveAnswer
from ui_mcp.agent.loop import Loop, LoopSettings
from ui_mcp.agent.models import ChosenModel, ModelSettings, choose_model, model_settings, sees
from ui_mcp.agent.orchestrator import Orchestrator, PollSettings
from ui_mcp.app.chat_server import open_served_chat
from ui_mcp.app.commands.trust import offer
from ui_mcp.chat.attachments import AttachmentStore
from ui_mcp.chat.mcp import ChatServerOptions, directory_of
from ui_mcp.chat.service import Chat
from ui_mcp.chat.tools import ChatContext, ChatTools, chat_context, naming_of
from ui_mcp.config import Config
from ui_mcp.gateway.approvals.agent_link import ApprovalWatch
from ui_mcp.gateway.config.configuration import GatewayOptions, configuration
from ui_mcp.gateway.runner import open_gateway
from ui_mcp.gateway.service import GatewayService
from ui_mcp.gateway.toolset import GatewayToolset
from ui_mcp.inbox.service import inbox_url
from ui_mcp.mcp_client.client import McpClient, Options, connect
from ui_mcp.mcp_client.transport import Command
from ui_mcp.processes import run, until_signalled
from ui_mcp.toolkit.toolset import Combined
from ui_mcp.workspace import Workspace

AGENT = "agent"
SYSTEM = """\
You are the assistant in a chat with a person. The only way to reach them is the tool chat_assistant_post;
text outside a tool call is never shown. Use the other tools to find out and to act. When you have said what
there is to say, call loop_yield_turn; you hear from the person again when they write.
"""
NAMED = """\
Your name is {name}. Other agents may be in this conversation; chat_read_since shows what they said. A message that
begins with @{name} is for you, one that begins with no name is for all of you.
"""


@dataclass(frozen=True, slots=True)
class AgentOptions:
    base_dir: str
    config: str | None = None
    conversations: Sequence[str] = ("default",)
    verbosity: int = 0
    from_start: bool = False
    """Whether an agent without a journal also answers messages that have been answered before."""
    name: str | None = None
    """Its name among several agents of a conversation."""


def run_agent(options: AgentOptions) -> int:
    """Run until interrupted."""
    offer(options.config)
    return run(_agent, options)


async def _agent(options: AgentOptions) -> int:
    gateway_options = GatewayOptions(source=options.config, verbosity=options.verbosity)
    served = ChatServerOptions("assistant", options.base_dir, options.name, options.verbosity)
    async with (
        until_signalled(),
        open_served_chat(served) as (config, chat, _),
        open_gateway(
            gateway_options,
            mode="guard",
            waits_for_ever=AGENT,
            inbox=inbox_url(config, Workspace.at(options.base_dir)),
        ) as gateway,
    ):
        journal = JournalStore(journal_place(config.storage.url, Workspace.at(options.base_dir).state_dir))
        llm = model_settings(gateway.settings.llm)
        offered = GatewayToolset(gateway)
        files = AttachmentStore(Workspace.at(options.base_dir).attachments)
        agents: dict[str, Orchestrator] = {}
        shared = _Shared(
            options,
            config,
            chat,
            gateway,
            chat_context(chat, directory_of(served, chat)),
            journal,
            choose_model(llm, gateway.settings.proxy),
            _loop_settings(llm, config, partial(_system, options.name, offered), files),
            offered,
            _watch(gateway, lambda key: agents[key].journal if key in agents else None),
            configuration(gateway_options).variables,
        )
        async with _closing(journal, shared.model), anyio.create_task_group() as tasks:
            tasks.start_soon(shared.watch.run)
            async with anyio.create_task_group() as serving:
                for conversation in dict.fromkeys(options.conversations):
                    serving.start_soon(_serve, conversation, shared, agents)
            tasks.cancel_scope.cancel()
    return 0


@dataclass(frozen=True, slots=True)
class _Shared:
    """What the agents of all conversations have in common."""

    options: AgentOptions
    config: Config
    chat: Chat
    gateway: GatewayService
    context: ChatContext
    journal: JournalStore
    model: ChosenModel
    settings: LoopSettings
    offered: GatewayToolset
    watch: ApprovalWatch
    secrets: Collection[str]


async def _serve(conversation: str, shared: _Shared, agents: dict[str, Orchestrator]) -> None:
    """Answer in one conversation; its agent is among `agents` by the name of its journal."""
    options, config, gateway = shared.options, shared.config, shared.gateway
    # Agents of one conversation have a journal each.
    key = f"{conversation}.{options.name}" if options.name else conversation
    posts = ChatTools(shared.context, "assistant", naming_of(config), conversation)
    inbox = McpInbox(inbox_opener(options.base_dir, shared.secrets), conversation, options.name)
    live = _live_answer(shared.journal, key, shared.settings)
    async with anyio.create_task_group() as tasks:
        agents[key] = Orchestrator(
            key,
            shared.journal,
            inbox,
            lambda writer: Loop(
                shared.model,
                Combined([gateway.audited(posts, "chat"), shared.offered]),
                writer,
                shared.settings,
                live.deltas(),
                approvals=shared.watch,
                handlers=[UpstreamChanges(gateway.sources.on_upstream_change)],
                audited=lambda own: gateway.audited(own, "loop"),
            ),
            poll=PollSettings(max_batch=config.orchestrator.max_batch),
            ready=lambda writer: _ready(writer, tasks, shared, conversation),
            waiting=lambda: _say(f"Another process serves conversation {conversation}; waiting until it ends"),
            begin=partial(begin_journal, shared.chat, conversation, from_start=options.from_start),
        )
        for work in (inbox.run, live.run):
            tasks.start_soon(work)
        await agents[key].run()
        tasks.cancel_scope.cancel()


@asynccontextmanager
async def _closing(journal: JournalStore, model: ChosenModel) -> AsyncIterator[None]:
    try:
        yield
    finally:
        with anyio.CancelScope(shield=True):
            await journal.close()
            await model.close()


def _watch(gateway: GatewayService, journal_of: Callable[[str], JournalWriter | None]) -> ApprovalWatch:
    return ApprovalWatch(gateway.approvals, gateway.announcements, gateway.enforcer.outcome, journal_of, AGENT)


def _live_answer(journal: JournalStore, conversation: str, settings: LoopSettings) -> LiveAnswer:
    shows_text = settings.text_policy == "implicit_post"
    return LiveAnswer(partial(journal.set_live, conversation), settings.posts, shows_text=shows_text)


def _system(name: str | None, offered: GatewayToolset) -> str:
    return f"{SYSTEM}{NAMED.format(name=name) if name else ''}\n{offered.instructions()}"


def _loop_settings(
    llm: ModelSettings, config: Config, system: Callable[[], str], files: AttachmentStore
) -> LoopSettings:
    return LoopSettings(
        system=system,
        text_policy=config.loop.text_policy,
        max_samplings=config.loop.max_samplings,
        max_denials=config.loop.max_denials,
        max_context_tokens=llm.max_context_tokens,
        max_output_tokens=llm.max_output_tokens,
        principal=AGENT,
        legacy=config.chat.legacy_ui_tools,
        marks=True,
        resolved=AttachedFiles(files, lambda: sees(llm)).resolved,
    )


def _ready(writer: JournalWriter, tasks: TaskGroup, shared: _Shared, conversation: str) -> None:
    tasks.start_soon(shared.watch.catch_up, writer)
    name, place = shared.options.name, shared.options.base_dir
    named = f"{name} (ui-mcp agent)" if name else "ui-mcp agent"
    _say(f"{named} serves conversation {conversation} of {place}")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def inbox_opener(base_dir: str, secrets: Collection[str] = ()) -> Open:
    """Return a function that opens the chat in a child process, as a reader that cannot post for people.

    It is our own program, so it gets our environment (PGPASSWORD, certificates, locale), except for the variables
    from which nlui.yaml takes `secrets`.
    """
    environment = {name: value for name, value in os.environ.items() if name not in secrets}
    arguments = ("-m", "ui_mcp", "chat", "--face", "assistant", "--principal", "orchestrator", "--dir", base_dir)

    @asynccontextmanager
    async def open_inbox(hinted: Callable[[str], None]) -> AsyncIterator[McpClient]:
        options = Options(resource_updated=lambda uri, _: hinted(uri))
        async with connect(Command(sys.executable, arguments, environment), options) as server:
            yield server

    return open_inbox
