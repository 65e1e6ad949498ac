"""GatewayService: sources, policy and approvals, started and stopped as one."""

from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from ui_mcp.discovery import lazy
from ui_mcp.errors import GatewayError, InvalidArgumentsError
from ui_mcp.gateway.approvals.proposals import Proposals, bound, replay
from ui_mcp.gateway.approvals.questions import EnforcementSettings
from ui_mcp.gateway.approvals.service import ApprovalService, with_retry
from ui_mcp.gateway.approvals.store import open_store
from ui_mcp.gateway.audit import Audit, AuditedToolset, audit_file
from ui_mcp.gateway.catalog import Catalog
from ui_mcp.gateway.config.settings import (
    GatewaySettings,
    Mode,
    Rule,
)
from ui_mcp.gateway.enforcement import PolicyEnforcer
from ui_mcp.gateway.internal_source import person_source
from ui_mcp.gateway.mount_connection import Connect, SavedMounts
from ui_mcp.gateway.openapi.live import target_factory
from ui_mcp.gateway.openapi.tools import decisions
from ui_mcp.gateway.pins import ACCEPT, Change, ToolPins, pin_source
from ui_mcp.gateway.policy import Policy, Verdict
from ui_mcp.gateway.results import ResultStore
from ui_mcp.gateway.sanitize import SecretMasker
from ui_mcp.gateway.search.index import SearchHistory
from ui_mcp.gateway.source import Entry, Health
from ui_mcp.gateway.sources import ListNotices, Sources
from ui_mcp.jsontypes import JsonObject
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.log import logger, masking
from ui_mcp.mcp_tasks.store import TaskStore
from ui_mcp.mcp_tasks.tasks import Tasks
from ui_mcp.storage.database import Database, close_database
from ui_mcp.toolkit.announcements import Announcements
from ui_mcp.toolkit.tool import Call
from ui_mcp.toolkit.toolset import Toolset

if TYPE_CHECKING:
    from ui_mcp.gateway.scripts.requests import Services
    from ui_mcp.gateway.scripts.runs import ScriptRuns
    from ui_mcp.gateway.scripts.store import ScriptStore
    from ui_mcp.gateway.search.builder import IndexBuilder
    from ui_mcp.gateway.search.index import Hit, Index
    from ui_mcp.gateway.sign_ins import SignIns
    from ui_mcp.inbox.elicitation import AskPerson
    from ui_mcp.oauth.account import Account
    from ui_mcp.oauth.metadata import Challenge
else:
    IndexBuilder = lazy("ui_mcp.gateway.search.builder:IndexBuilder")
    SignIns = lazy("ui_mcp.gateway.sign_ins:SignIns")
    Services = lazy("ui_mcp.gateway.scripts.requests:Services")
    ScriptRuns = lazy("ui_mcp.gateway.scripts.runs:ScriptRuns")
    ScriptStore = lazy("ui_mcp.gateway.scripts.store:ScriptStore")

_log = logger("gateway")
_REPLAYED_CALLS = 200
_RESTART_SECONDS = 60.0
_SCRIPT_DELAY = 1.0


@dataclass(frozen=True, slots=True)
class GatewayContext:
    """What the surrounding program provides to a gateway."""

    data: Path
    cache: Path
    connect: Connect
    announcements: Announcements = field(default_factory=Announcements)
    mode: Mode = "host"  # used if the configuration names none
    approval_timeout: Callable[[Call], float | None] | None = None
    """Returns how many seconds a call waits for an answer of a person; None waits without limit."""
    where: Callable[[], str] = lambda: ""  # the address of the approvals page, "" while there is none
    inbox: str = ""  # the store of these questions
    ask_person: "AskPerson | None" = None  # asks what a mounted server elicits and the caller's client cannot show
    secrets: tuple[str, ...] = ()  # values of the configuration that are masked everywhere


@asynccontextmanager
async def running_gateway(settings: GatewaySettings, context: GatewayContext) -> AsyncIterator["GatewayService"]:
    """Run a gateway for the length of the block."""
    # In a thread: the approvals store is opened, which waits while another process changes its schema.
    gateway = await to_thread.run_sync(GatewayService, settings, context)
    async with gateway.running():
        yield gateway


class GatewayService:
    """A gateway; `running` starts it."""

    def __init__(self, settings: GatewaySettings, context: GatewayContext) -> None:
        self.settings = settings
        self.context = context
        self.masker = SecretMasker()
        self.masker.add(context.secrets)
        self.announcements = context.announcements
        self._notices = ListNotices(self.announcements)
        self.catalog = Catalog(self._catalog_changed, self._build_index)
        self._searches = SearchHistory()
        self.results = ResultStore(context.data / "results")
        self.store = open_store(settings.approvals_in(context.data))
        self.approvals = ApprovalService(self.store, announce=self.announcements.resource_updated)
        self.proposals = Proposals(self.store, lambda rule: bound(rule, self.catalog.entries()))
        self._audit = Audit(audit_file(settings, context.data), settings.audit.level, self.masker, self._searches.note)
        enforcement = EnforcementSettings(
            self.policy, settings.approvals, context.approval_timeout, context.where, context.ask_person
        )
        self.enforcer = PolicyEnforcer(self.catalog, self.approvals, enforcement, self._audit, self.masker)
        self.admins = frozenset(settings.admins)
        self.pins = ToolPins(context.data / "pins", self._ask_soon, self._accepted)
        self.sources = Sources(
            settings,
            self.catalog,
            self.announcements,
            self._notices,
            make_target=target_factory(context.cache, self.results, self.masker, self.pins.admit_operations),
            connect=context.connect,
            saved=SavedMounts(context.data / "mounts.json"),
            admit=self.pins.admit,
            sign_in=self._ask_to_sign_in,
        )
        self.catalog.add_internal(person_source())
        self.catalog.add_internal(pin_source(self.pins))
        self.tasks = Tasks(TaskStore(self._database))
        self._tasks: TaskGroup | None = None
        self._scripts: ScriptRuns | None = None
        self._script_wanted, self._scripts_running = anyio.Event(), anyio.Event()
        self._standing_rules: tuple[Rule, ...] = ()
        self._policy: Policy | None = None

    async def _database(self) -> Database:
        return self.store.database

    def policy(self, call: Call) -> Policy:
        """Return the policy in force: configured rules, then standing ones, then the mode."""
        if self._policy is None:
            fixed = {
                name: decision
                for target in self.sources.targets.values()
                for name, decision in decisions(target.settings, target.source.entries())
            }
            rules = (*self.settings.policy.rules, *self._standing_rules)
            self._policy = Policy(self.settings.policy.mode or self.context.mode, rules, fixed)
        return self._policy

    def health(self) -> list[Health]:
        """Return the health of all sources, including those that could not be set up."""
        return [self._masked(one) for one in (*self.catalog.health(), *self.sources.failures.values())]

    def _masked(self, one: Health) -> Health:
        """Mask secrets that a command line, an address or an error may contain."""
        text, details = self.masker.text, self.masker.json(one.details)
        return replace(one, where=text(one.where), error=text(one.error), details=details)

    async def reconfigure(self, settings: GatewaySettings) -> None:
        """Apply a changed configuration; sources whose settings did not change keep running."""
        self.settings = settings
        self.admins = frozenset(settings.admins)
        await self.sources.reconfigure(settings)

    def forward_token(self, principal: str, conversation: str, token: str) -> None:
        """Send a person's own token with the calls of a conversation, to the APIs that accept it."""
        self.masker.add([token])
        self.sources.forward_token(principal, conversation, token)

    def audited(self, tools: Toolset, source: str) -> Toolset:
        """Return the tools with their calls recorded in the audit log."""
        return AuditedToolset(tools, source, self._audit)

    async def replay(self, rule: Rule) -> JsonObject:
        """Return what a rule would have decided about the latest calls."""
        history = await anyio.to_thread.run_sync(self._audit.history, _REPLAYED_CALLS)
        return replay(self.catalog, self.policy(Call()), rule, history)

    async def search(
        self, query: str, principal: str, *, limit: int = 8, source: str = "", method: str = ""
    ) -> "list[Hit]":
        """Find tools by words, by meaning, and by what the principal called after similar searches."""
        index = await self.catalog.index()
        await anyio.to_thread.run_sync(self._searches.load, self._audit.lines())
        learned = self._searches.learned(principal, query)
        return index.search(query, limit=limit, source=source, method=method, learned=learned)

    def start_soon(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run a function in the background while the gateway runs."""
        if self._tasks is not None:
            self._tasks.start_soon(work)

    def _build_index(self, entries: Sequence[Entry]) -> "Index":
        return self._index_builder.build(entries)

    @cached_property
    def _index_builder(self) -> "IndexBuilder":
        return IndexBuilder(self.context.cache, self.settings.catalogue.search_model, self.catalog.index_again)

    @cached_property
    def sign_ins(self) -> "SignIns":
        """The person's accounts at the sources."""
        return SignIns(self.sources.mounts.values, self.sources.targets.values, self.start_soon)

    async def _ask_to_sign_in(self, account: "Account", challenge: "Challenge") -> None:
        await self.sign_ins.ask(lambda text: _log.warning("%s: %s", account.place.name, text), account, challenge)

    def _ask_soon(self, change: Change) -> None:
        self.start_soon(partial(with_retry, partial(self._ask_about, change)))

    async def _ask_about(self, change: Change) -> None:
        """Ask a person about a changed tool; one that was denied stays denied until it changes again."""
        call = Call("gateway", client_name=f"the server {change.source}")
        verdict = Verdict("ask", f"{change.source} changed a tool since it was first used")
        row = await self.enforcer.ask(ACCEPT, change.arguments(), call, verdict)
        if row.status == "expired":
            await self.approvals.delivered(row)
            await self.enforcer.ask(ACCEPT, change.arguments(), call, verdict)

    def _accepted(self, source: str) -> None:
        self.start_soon(partial(self.sources.accepted, source))

    async def started_entry(self, name: str) -> Entry:
        """Return a tool; wait for its source, which may be starting again after a crash."""
        await self._started(name)
        entry = self.catalog.entry(name)
        if entry.tool.app_only:
            raise InvalidArgumentsError(f"{name} is for its server's app only")
        return entry

    async def _started(self, name: str) -> None:
        await self.sources.ready()
        await self.sources.started(name)
        if not self.catalog.has(name):
            await self.sources.restarted(name, _RESTART_SECONDS)

    async def _search_for_script(self, query: str, principal: str, limit: int) -> "list[Hit]":
        return await self.search(query, principal, limit=limit)

    async def refresh_rules(self) -> None:
        self._standing_rules = tuple(rule for _, rule in await self.store.rules())
        self._policy = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator["GatewayService"]:
        """Start all sources, and stop them at the end of the block."""
        async with AsyncExitStack() as stack:
            stack.enter_context(masking(self.masker.text))
            stack.push_async_callback(close_database, self.store)
            stack.callback(self._audit.close)
            await self.approvals.recover()  # before any call of this process runs
            await self.refresh_rules()
            self.approvals.on_rule = self.refresh_rules
            async with anyio.create_task_group() as tasks:
                self._tasks = tasks
                tasks.start_soon(self._notices.run)
                await self.sources.start(tasks, stack)
                tasks.start_soon(self._run_approved)
                tasks.start_soon(self._follow_rules)
                tasks.start_soon(self.approvals.follow)
                tasks.start_soon(self._run_scripts)
                try:
                    async with self.tasks.paused():  # before its sources end, which would fail their calls
                        yield self
                finally:
                    self.sources.ending = True
                tasks.cancel_scope.cancel()

    async def _run_approved(self) -> None:
        # Calls approved while the gateway was down must not run before the catalog is loaded.
        await self.sources.ready()
        await self.approvals.run_approved(self.enforcer.execute, self._started)

    async def scripts(self) -> "ScriptRuns":
        """Return the scripts of this gateway, once they are driven."""
        self._script_wanted.set()
        await self._scripts_running.wait()
        if self._scripts is None:
            raise GatewayError("The gateway is stopping; it takes no scripts")
        return self._scripts

    async def _run_scripts(self) -> None:
        """Go on with scripts that a crash interrupted, and drive new ones."""
        await self.sources.ready()
        with anyio.move_on_after(_SCRIPT_DELAY):  # the first answers come before what is imported here
            await self._script_wanted.wait()
        services = Services(self.enforcer, self.started_entry, self._search_for_script, self.results.read)
        async with ScriptRuns(ScriptStore(self.store.database), services).running() as scripts:
            self._scripts = scripts
            self._scripts_running.set()
            try:
                await anyio.sleep_forever()
            finally:
                self._scripts = None

    async def _follow_rules(self) -> None:
        """Reload the standing rules after another process changed them."""
        known = ""
        while True:
            changed = self.approvals.changed  # before reading, so that no change in between is missed
            version = await with_retry(self.store.rules_version)
            if version != known:
                known = version
                await with_retry(self.refresh_rules)
            await changed.wait()

    def _catalog_changed(self) -> None:
        self._policy = None
        self._notices.changed("tools")
