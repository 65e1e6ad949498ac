"""`nlui serve`: a chat page over APIs and MCP servers, with approvals, in one process."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import get_args

import anyio
from anyio.abc import TaskGroup

from ui_mcp.agent.attached_files import AttachedFiles
from ui_mcp.agent.calls import ApprovalLookup
from ui_mcp.agent.conversation import MakeLoop
from ui_mcp.agent.handlers import UpstreamChanges
from ui_mcp.agent.http import Timelines
from ui_mcp.agent.journal_store import JournalStore
from ui_mcp.agent.journal_writer import JournalWriter
from ui_mcp.agent.loop import Loop, LoopSettings
from ui_mcp.agent.models import model_settings
from ui_mcp.agent.sampler import Deltas
from ui_mcp.agent.tools import Selected, selection_of
from ui_mcp.chat.attachments import AttachmentStore
from ui_mcp.chat.composer_http import AttachmentApi, PromptApi
from ui_mcp.chat.identity import POST_ASSISTANT, AccessTokens, Authenticator, principal
from ui_mcp.chat.prompts import PromptLibrary
from ui_mcp.chat.service import Chat, open_chat
from ui_mcp.chat.tools import ChatTools, chat_context
from ui_mcp.errors import InvalidArgumentsError
from ui_mcp.gateway.approvals.agent_link import ApprovalWatch
from ui_mcp.gateway.approvals.http import ApprovalPages, person_routes
from ui_mcp.gateway.approvals.model import Answer, Scope
from ui_mcp.gateway.approvals.service import Decision
from ui_mcp.gateway.apps.records import AppContexts, AppResults, RecordedApps
from ui_mcp.gateway.config.configuration import GatewayOptions, configuration
from ui_mcp.gateway.results import StoredResult
from ui_mcp.gateway.runner import open_gateway
from ui_mcp.gateway.service import GatewayService
from ui_mcp.gateway.sign_in_pages import sign_in_routes
from ui_mcp.gateway.toolset import GatewayToolset
from ui_mcp.gateway.web.access import NluiAccess, may_watch, with_cors
from ui_mcp.gateway.web.api import ForwardedTokens, NluiApi, page_routes
from ui_mcp.gateway.web.app_sandbox import Sandbox
from ui_mcp.gateway.web.app_views import APP, AppViews
from ui_mcp.gateway.web.conversation_list import ConversationList
from ui_mcp.gateway.web.conversation_settings import ConversationSettingsApi, ConversationWishes
from ui_mcp.gateway.web.conversations import Conversations, ConversationToolset
from ui_mcp.gateway.web.demo import serve_demo_api
from ui_mcp.gateway.web.model_settings import ModelSettingsService, shown_services
from ui_mcp.gateway.web.server_settings import ServerSettingsService
from ui_mcp.gateway.web.settings_api import Listing, NluiConfig, NluiServers, NluiSources
from ui_mcp.gateway.web.streams import ChatSessions
from ui_mcp.gateway.web.target_settings import PRESETS, TargetSettingsService
from ui_mcp.inbox.http import InboxBridge, by_person
from ui_mcp.inbox.service import inbox_opener
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.tool import Call
from ui_mcp.toolkit.toolset import Toolset
from ui_mcp.webserver.person_auth import Access
from ui_mcp.webserver.server import App, mcp_app
from ui_mcp.workspace import JOURNAL_FILE, PAGE_CHAT_FILE

AGENT = "agent"

SYSTEM = """\
You are a helpful assistant with tools over the person's own APIs and servers. Use them to find out and to act, then
answer briefly in markdown. Results of tools are shown to the person as tables and cards, so do not repeat them whole.
To draw a chart, write a fenced block `nlui:chart` with JSON: {"type": "bar" | "line" | "area" | "stacked" | "pie" |
"donut" | "scatter", "label": …, "x": …, "rows": [objects]}. A block `nlui:table` with a list of objects is shown as a
table.
"""


@dataclass(frozen=True, slots=True)
class Serving:
    """The parts of a running chat."""

    gateway: GatewayService
    conversations: Conversations
    model: ModelSettingsService
    targets: TargetSettingsService
    servers: ServerSettingsService
    tasks: TaskGroup
    apps: AppViews
    sandbox: Sandbox
    attachments: AttachmentStore
    prompts: PromptLibrary


def chat_app(chat: Serving, mcp: App, access: Access) -> App:
    """Build the app of the chat listener, with access control in front of all routes; `mcp` serves MCP clients."""
    gateway = chat.gateway
    server = gateway.settings.server
    token = server.token or None
    tokens_to_forward = ForwardedTokens(partial(gateway.forward_token, AGENT), has_token=token is not None)
    attachments = AttachmentApi(chat.attachments)
    sessions = ChatSessions(chat.tasks)
    routes = [
        *NluiApi(chat.conversations, sessions, decider(gateway), tokens_to_forward, attachments).routes(),
        *attachments.routes("/api/attachments"),
        *PromptApi(chat.prompts).routes("/api/prompts"),
        *ConversationList(chat.conversations, chat.attachments).routes(),
        *ConversationSettingsApi(chat.conversations, chat.model).routes(),
        *NluiSources(chat.targets, Listing(lambda: tools_of(gateway), PRESETS), result_of(gateway)).routes(),
        *NluiServers(chat.servers).routes(),
        *NluiConfig(chat.model, shown_services).routes(),
        *Timelines(chat.conversations.open, may_watch(access, token)).routes(),
        *person_routes(access, gateway.approvals),
        *ApprovalPages(gateway.approvals, gateway.proposals, gateway.replay, gateway.masker).routes(),
        *sign_in_routes(lambda: gateway.sign_ins),
        *InboxBridge([inbox_opener(lambda: gateway.context.inbox)], by_person).routes(),
        *chat.apps.routes(),
        *page_routes(access.nonces, chat.apps.frames),
    ]
    return with_cors(NluiAccess(mcp_app(routes, mcp), access, token), server.cors)


@asynccontextmanager
async def open_chat_page(options: GatewayOptions) -> AsyncIterator[Serving]:
    """Run gateway, chat store, journal and conversations for the length of the block."""
    async with AsyncExitStack() as stack:
        opening = open_gateway(options, mode="guard", approval_timeout=_approval_timeout)
        gateway = await stack.enter_async_context(opening)
        data: Path = gateway.context.data
        chat = await stack.enter_async_context(open_chat(f"sqlite:///{data / PAGE_CHAT_FILE}"))
        journal = JournalStore(data / JOURNAL_FILE)
        stack.push_async_callback(journal.close)
        tasks = await stack.enter_async_context(anyio.create_task_group())
        stack.callback(tasks.cancel_scope.cancel)
        file = configuration(options).writable
        model = ModelSettingsService(model_settings(gateway.settings.llm), gateway.settings.proxy, file, data)
        stack.push_async_callback(model.close)
        conversations: Conversations
        writer = lambda name: conversations.writer(name)  # noqa: E731, PLW0108 - `conversations` is assigned below
        watch = ApprovalWatch(gateway.approvals, gateway.announcements, gateway.enforcer.outcome, writer, AGENT)
        results, contexts, sandbox = AppResults(data / "apps"), AppContexts(), Sandbox()
        apps = AppViews(gateway, results, contexts, sandbox)
        offered = RecordedApps(GatewayToolset(gateway), apps.has_app, results)
        attachments = AttachmentStore(data / "attachments")
        await attachments.clean()
        make_loops = loops(gateway, chat, model, watch, offered=offered, contexts=contexts, attachments=attachments)
        conversations = Conversations(chat, journal, make_loops, tasks, attachments=attachments, opened=watch.catch_up)
        tasks.start_soon(watch.run)
        targets = TargetSettingsService(gateway, file, _demo_starter(tasks))
        servers = ServerSettingsService(gateway, file)
        yield Serving(
            gateway,
            conversations,
            model,
            targets,
            servers,
            tasks,
            apps,
            sandbox,
            attachments,
            PromptLibrary(data / "prompts.json"),
        )


def _demo_starter(tasks: TaskGroup) -> Callable[[], Awaitable[str]]:
    urls: list[str] = []

    async def demo() -> str:
        if not urls:
            urls.append(await tasks.start(serve_demo_api))
        return urls[0]

    return demo


def loops(
    gateway: GatewayService,
    chat: Chat,
    model: ModelSettingsService,
    approvals: ApprovalLookup,
    *,
    offered: Toolset,
    contexts: AppContexts,
    attachments: AttachmentStore,
) -> Callable[[str], MakeLoop]:
    """Return a factory of the loop of each conversation."""
    keys = Authenticator(AccessTokens(chat.store), principal(AGENT, "agent"), open_scope=POST_ASSISTANT)
    posts = gateway.audited(ChatTools(chat_context(chat, keys), "assistant"), "chat")
    instructions = GatewayToolset(gateway).instructions

    def of(name: str) -> MakeLoop:
        def make(journal: JournalWriter, deltas: Deltas) -> Loop:
            wishes = ConversationWishes(model, journal)
            settings = LoopSettings(
                system=lambda: wishes.instructed(f"{SYSTEM}\n{instructions()}"),
                text_policy="implicit_post",
                max_samplings=25,
                max_context_tokens=model.settings.max_context_tokens,
                max_output_tokens=model.settings.max_output_tokens,
                principal=AGENT,
                resolved=AttachedFiles(attachments, wishes.sees).resolved,
                tuned=wishes.tuned,
                exhausted=wishes.exhausted,
                marks=True,
            )
            shared: Toolset = Selected(offered, lambda: selection_of(journal.events))
            return Loop(
                wishes,
                ConversationToolset(posts, shared, name),
                journal,
                settings,
                deltas,
                approvals=approvals,
                handlers=[contexts.handler(name), UpstreamChanges(gateway.sources.on_upstream_change)],
                audited=lambda own: gateway.audited(own, "loop"),
            )

        return make

    return of


async def tools_of(gateway: GatewayService) -> list[JsonObject]:
    """List the tools that the chat's agent may use."""
    listed = await GatewayToolset(gateway).tools(Call(principal=AGENT))
    return [{"name": tool.name, "description": tool.description, "parameters": tool.input_schema} for tool in listed]


def result_of(gateway: GatewayService) -> Callable[[str], Awaitable[StoredResult]]:
    """Return a function that reads stored results of the agent's calls."""
    return lambda handle: gateway.results.read(handle, AGENT)


def decider(gateway: GatewayService) -> Callable[[str, JsonObject], Awaitable[JsonObject]]:
    """Return a function that answers an approval."""

    async def decide(approval_id: str, body: JsonObject) -> JsonObject:
        edited = body.get("arguments")
        approve: Answer = "approve_with_edit" if edited is not None else "approve"
        scope = body.get("scope", "once")
        if scope not in get_args(Scope) or not isinstance(edited, dict | None):
            raise InvalidArgumentsError("scope must be once, session or always, and arguments an object")
        reply = Decision(
            decision=approve if body.get("approved") is True else "deny_continue",
            digest=str(body["digest"]),
            by="human",
            reason=str(body["reason"]) if body.get("reason") else None,
            arguments=edited,
            scope=scope,
        )
        row = await gateway.approvals.decide(approval_id, reply)
        return {"approval_id": row.id, "status": row.status}

    return decide


def _approval_timeout(call: Call) -> float | None:
    # Our own loop and page can wait without limit; MCP clients of the gateway have their own request timeouts.
    return None if call.principal in {AGENT, APP} else 45.0
