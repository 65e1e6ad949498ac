"""`ui-mcp agent`: the agent loop as a client of the chat, with the tools of the gateway."""

import os
import sys
from collections.abc import AsyncIterator, Callable, Collection
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
from ui_mcp.chat.tools import ChatTools, chat_context, naming_of
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
    conversation: str = "default"
    verbosity: int = 0
    from_start: bool = False
    """Whether an agent without a journal also answers messages that have been answered before."""
    name: str | None = None
    """Its name among several agents of the conversation."""

    @property
    def key(self) -> str:
        """The name of its journal; agents of one conversation have one each."""
        return f"{self.conversation}.{self.name}" if self.name else self.conversation


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
        model = choose_model(llm, gateway.settings.proxy)
        context = chat_context(chat, directory_of(served, chat))
        posts = ChatTools(context, "assistant", naming_of(config), options.conversation)
        offered = GatewayToolset(gateway)
        watch = _watch(gateway, lambda name: agent.journal if name == options.key else None)
        inbox = _inbox(options, gateway_options)
        files = AttachmentStore(Workspace.at(options.base_dir).attachments)
        loop_settings = _loop_settings(llm, config, partial(_system, options.name, offered), files)
        live = _live_answer(journal, options.key, loop_settings)
        agent = Orchestrator(
            options.key,
            journal,
            inbox,
            lambda writer: Loop(
                model,
                Combined([gateway.audited(posts, "chat"), offered]),
                writer,
                loop_settings,
                live.deltas(),
                approvals=watch,
                handlers=[UpstreamChanges(gateway.sources.on_upstream_change)],
                audited=lambda own: gateway.audited(own, "loop"),
            ),
            poll=PollSettings(max_batch=config.orchestrator.max_batch),
            ready=lambda writer: _ready(writer, tasks, watch, options),
            waiting=lambda: _say(f"Another process serves conversation {options.conversation}; waiting until it ends"),
            begin=partial(begin_journal, chat, options.conversation, from_start=options.from_start),
        )
        async with _closing(journal, model), anyio.create_task_group() as tasks:
            for work in (inbox.run, watch.run, live.run):
                tasks.start_soon(work)
            await agent.run()
            tasks.cancel_scope.cancel()
    return 0


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


def _inbox(options: AgentOptions, gateway_options: GatewayOptions) -> McpInbox:
    secrets = configuration(gateway_options).variables
    return McpInbox(inbox_opener(options.base_dir, secrets), options.conversation, options.name)


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


def _ready(writer: JournalWriter, tasks: TaskGroup, watch: ApprovalWatch, options: AgentOptions) -> None:
    tasks.start_soon(watch.catch_up, writer)
    named = f"{options.name} (ui-mcp agent)" if options.name else "ui-mcp agent"
    _say(f"{named} serves conversation {options.conversation} of {options.base_dir}")


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
