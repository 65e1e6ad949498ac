"""GatewayService: sources, policy and approvals, started and stopped as one."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio
from anyio.abc import TaskGroup

from ui_mcp.errors import MountError
from ui_mcp.gateway.approvals.proposals import Proposals, bound, replay
from ui_mcp.gateway.approvals.questions import EnforcementSettings
from ui_mcp.gateway.approvals.service import ApprovalService, with_retry
from ui_mcp.gateway.approvals.store import open_store
from ui_mcp.gateway.audit import Audit, AuditedToolset, audit_file
from ui_mcp.gateway.catalog import Catalog
from ui_mcp.gateway.config.settings import (
    BackendSettings,
    GatewaySettings,
    Mode,
    Rule,
    TargetSettings,
    difference,
    name_of,
)
from ui_mcp.gateway.enforcement import PolicyEnforcer
from ui_mcp.gateway.mount import Mount
from ui_mcp.gateway.mount_connection import Connect, SavedMounts
from ui_mcp.gateway.openapi.live import DocumentCache, LiveTarget
from ui_mcp.gateway.openapi.response import Limits
from ui_mcp.gateway.openapi.tools import decisions
from ui_mcp.gateway.policy import Policy
from ui_mcp.gateway.results import ResultStore
from ui_mcp.gateway.sanitize import SecretMasker
from ui_mcp.gateway.source import Health
from ui_mcp.isolation import Boundary, Workers
from ui_mcp.jsontypes import JsonObject
from ui_mcp.log import logger, masking
from ui_mcp.toolkit.announcements import Announcements, ListKind
from ui_mcp.toolkit.names import SEPARATOR, source_name
from ui_mcp.toolkit.tool import Call
from ui_mcp.toolkit.toolset import Toolset

_log = logger("gateway")
_REPLAYED_CALLS = 200
_OWN_SCHEMES = ("nlui://", "compositor://", "approvals://", "ui://")


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
    secrets: tuple[str, ...] = ()  # values of the configuration that are masked everywhere


class GatewayService:
    """A gateway; `running` starts it."""

    def __init__(self, settings: GatewaySettings, context: GatewayContext) -> None:
        self.settings = settings
        self.context = context
        self.masker = SecretMasker()
        self.masker.add(context.secrets)
        self.announcements = context.announcements
        self.catalog = Catalog(self._catalog_changed)
        self.results = ResultStore(context.data / "results")
        self.store = open_store(settings.approvals_in(context.data))
        self.approvals = ApprovalService(self.store, announce=self.announcements.resource_updated)
        self.proposals = Proposals(self.store, lambda rule: bound(rule, self.catalog.entries()))
        self._audit = Audit(audit_file(settings, context.data), settings.audit.level, self.masker)
        enforcement = EnforcementSettings(self.policy, settings.approvals, context.approval_timeout, context.where)
        self.enforcer = PolicyEnforcer(self.catalog, self.approvals, enforcement, self._audit, self.masker)
        self.admins = frozenset(settings.admins)
        self._listeners: list[Callable[[str, str | None], None]] = []
        self.failures: dict[str, Health] = {}
        self.targets: dict[str, LiveTarget] = {}
        self.mounts: dict[str, Mount] = {}
        self._saved_mounts = SavedMounts(context.data / "mounts.json")
        self._attached: set[str] = set()  # mounts attached at run time
        self._added: set[str] = set()  # targets added at run time
        self._standing_rules: tuple[Rule, ...] = ()
        self._policy: Policy | None = None
        self._tasks: TaskGroup | None = None
        self._stack: AsyncExitStack | None = None
        self._workers = Workers()
        self._started = 0.0
        self._ending = False

    def policy(self, call: Call) -> Policy:
        """Return the policy in force: configured rules, then standing ones, then the mode."""
        if self._policy is None:
            fixed = {
                name: decision
                for target in self.targets.values()
                for name, decision in decisions(target.settings, target.source.entries())
            }
            rules = (*self.settings.policy.rules, *self._standing_rules)
            self._policy = Policy(self.settings.policy.mode or self.context.mode, rules, fixed)
        return self._policy

    def health(self) -> list[Health]:
        """Return the health of all sources, including those that could not be set up."""
        return [self._masked(one) for one in (*self.catalog.health(), *self.failures.values())]

    def _masked(self, one: Health) -> Health:
        """Mask secrets that a command line, an address or an error may contain."""
        text, details = self.masker.text, self.masker.json(one.details)
        return replace(one, where=text(one.where), error=text(one.error), details=details)

    async def ready(self) -> None:
        """Wait for the first tool lists: of local documents always, of other sources up to `mcp.startup_wait_ms`."""
        left = self._started + self.settings.mcp.startup_wait_ms / 1000 - time.monotonic()
        async with anyio.create_task_group() as group:
            for target in self.targets.values():
                # A local document is only parsed, so waiting for it is short.
                group.start_soon(_loaded, target, 3600.0 if target.is_local else max(left, 0.0))
            for mount in self.mounts.values():
                group.start_soon(mount.settled, max(left, 0.0))

    async def started(self, tool: str) -> None:
        """Wait for the server to which a tool name belongs, if it is still starting."""
        mount = self.mounts.get(tool.partition(SEPARATOR)[0])
        if mount is not None and mount.health().state == "pending":
            await mount.settled(mount.settings.start_timeout_s)

    async def attach(self, settings: BackendSettings) -> Mount:
        """Mount a server until the gateway stops.

        Raises:
            MountError: there is already a source of this name.
        """
        settings = settings.model_copy(update={"name": source_name(settings.name)})
        mount = Mount(
            settings,
            self.context.connect,
            changed=lambda kind: self._on_list_changed(kind, settings.name),
            updated=lambda uri, extra: self._on_updated(settings.name, uri, extra),
            state_changed=self._on_state_changed,
            ending=lambda: self._ending,
        )
        self.catalog.add(mount)
        self.mounts[settings.name] = mount
        self._workers.start(settings.name, mount.run, mount.boundary)
        return mount

    async def attach_lasting(self, settings: BackendSettings) -> Mount:
        """Mount a server now and after every restart.

        Raises:
            MountError: there is already a source of this name.
            DiskError: the mount cannot be saved.
        """
        mount = await self.attach(settings)
        self._attached.add(mount.name)
        await anyio.to_thread.run_sync(self._saved_mounts.add, mount.settings)
        return mount

    async def detach(self, name: str) -> bool:
        """Unmount a server permanently; return whether it was mounted."""
        if self.mounts.pop(name, None) is None:
            return False
        if name in self._attached:
            self._attached.discard(name)
            await anyio.to_thread.run_sync(self._saved_mounts.remove, name)
        self._end(name)
        self._on_state_changed(name)
        return True

    async def attach_target(self, settings: TargetSettings) -> str:
        """Add an API at run time and return its name.

        Raises:
            MountError: there is already a source of this name.
        """
        name = source_name(settings.name or settings.base_url or settings.spec)
        if self._stack is None or any(source.name == name for source in self.catalog.sources()):
            raise MountError(f"There is a source named {name!r}; choose another name", name=name)
        await self._add_target(settings, self._stack)
        self._added.add(name)
        return name

    async def detach_target(self, name: str) -> bool:
        """Remove an API; return whether there was one."""
        if self.targets.pop(name, None) is None:
            return self.failures.pop(name, None) is not None
        self._end(name)
        self._policy = None
        return True

    async def reconfigure(self, settings: GatewaySettings) -> None:
        """Apply a changed configuration; sources whose settings did not change keep running."""
        self.settings = settings
        self.admins = frozenset(settings.admins)
        self.failures.clear()
        named = {name_of(one) for one in settings.targets}
        # A target added on the page may hold a secret that the file lacks: keep it until the file no longer names it.
        self._added &= named
        apis = {name: target.settings for name, target in self.targets.items() if name not in self._added}
        targets = difference(apis, [one for one in settings.targets if name_of(one) not in self._added])
        running = {name: mount.settings for name, mount in self.mounts.items() if name not in self._attached}
        mounts = difference(running, [one for one in settings.backends if one.enabled])
        for name in targets.stop:
            await self.detach_target(name)
        for name in mounts.stop:
            await self.detach(name)
        for target in targets.start:
            await self._try_target(target)
        for backend in mounts.start:
            await self._add_backend(backend)
        self.catalog.changed()

    async def refresh_targets(self) -> None:
        for target in list(self.targets.values()):
            if await target.refresh():
                self.catalog.changed()

    def forward_token(self, principal: str, conversation: str, token: str) -> None:
        """Send a person's own token with the calls of a conversation, to the APIs that accept it."""
        self.masker.add([token])
        for target in self.targets.values():
            auth = target.settings.auth
            wanted = auth.passthrough if auth else None
            # By default only if there is a single API; with several, the token could reach the wrong one.
            if len(self.targets) == 1 if wanted is None else wanted:
                target.credentials.forward_token(principal, conversation, token)

    def audited(self, tools: Toolset, source: str) -> Toolset:
        """Return the tools with their calls recorded in the audit log."""
        return AuditedToolset(tools, source, self._audit)

    async def replay(self, rule: Rule) -> JsonObject:
        """Return what a rule would have decided about the latest calls."""
        history = await anyio.to_thread.run_sync(self._audit.history, _REPLAYED_CALLS)
        return replay(self.catalog, self.policy(Call()), rule, history)

    async def refresh_rules(self) -> None:
        self._standing_rules = tuple(rule for _, rule in await self.store.rules())
        self._policy = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator["GatewayService"]:
        """Start all sources, and stop them at the end of the block."""
        self._started = time.monotonic()
        async with AsyncExitStack() as stack:
            stack.enter_context(masking(self.masker.text))
            stack.callback(self.store.close)
            stack.callback(self._audit.close)
            await self.approvals.recover()  # before any call of this process runs
            await self.refresh_rules()
            self.approvals.on_rule = self.refresh_rules
            stack.callback(self.announcements.watch_interest(self._on_interest))
            self._stack = stack
            async with anyio.create_task_group() as self._tasks:
                self._workers.tasks = self._tasks
                for target in self.settings.targets:
                    await self._try_target(target)
                for backend in self.settings.backends:
                    await self._add_backend(backend)
                for backend in await anyio.to_thread.run_sync(self._saved_mounts.load):
                    await self._add_backend(backend)
                    self._attached.add(backend.name)
                self._tasks.start_soon(self._run_approved)
                self._tasks.start_soon(self._follow_rules)
                self._tasks.start_soon(self.approvals.follow)
                try:
                    yield self
                finally:
                    self._ending = True
                self._tasks.cancel_scope.cancel()

    async def _run_approved(self) -> None:
        # Calls approved while the gateway was down must not run before the catalog is loaded.
        await self.ready()
        await self.approvals.run_approved(self.enforcer.execute)

    async def _try_target(self, given: TargetSettings) -> None:
        """Add an API of the configuration; one that cannot be set up is reported in the health."""
        name = name_of(given)
        with Boundary(f"target {name}", lambda why: self._fail(name, why)):
            if self._stack is not None:
                await self._add_target(given, self._stack)

    def _fail(self, name: str, why: str) -> None:
        self.failures[name] = Health(name, "target", "failed", error=why)

    async def _add_target(self, given: TargetSettings, stack: AsyncExitStack) -> None:
        name = source_name(given.name or given.base_url or given.spec)
        target = LiveTarget(
            given.model_copy(update={"name": name}),
            cache=DocumentCache(self.context.cache),
            store=self.results,
            masker=self.masker,
            limits=Limits(self.settings.results.max_bytes, self.settings.results.max_rows),
            budget=self.settings.catalogue.tool_budget,
        )
        await stack.enter_async_context(target)
        try:
            self.catalog.add(target.source)
        except MountError as error:
            self._fail(name, error.message)
            return
        self.targets[name] = target
        if not target.is_local:
            target.start_from_cache()
        self._workers.start(name, lambda: self._follow_target(target), target.boundary)

    async def _follow_target(self, target: LiveTarget) -> None:
        try:
            if await target.refresh():
                self.catalog.changed()
        finally:
            target.first.set()
        if self._tasks is not None and target.siblings():
            # In a task of its own: removing the target cancels this one.
            self._tasks.start_soon(self._split, target)
        await target.follow(self.catalog.changed)

    async def _split(self, target: LiveTarget) -> None:
        """Replace a target by one target for each of several documents found at its address."""
        await self.detach_target(target.settings.name)
        for sibling in target.siblings():
            await self._try_target(sibling)

    async def _add_backend(self, backend: BackendSettings) -> None:
        if not backend.enabled:
            return
        # The name may belong to a mount that works; the failure is listed beside it.
        second = f"{backend.name} (second)"

        def failed(why: str) -> None:
            self.failures[second] = Health(backend.name, "backend", "failed", error=why)

        with Boundary(f"server {backend.name}", failed):
            await self.attach(backend)

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

    def _end(self, name: str) -> None:
        self._workers.end(name)
        self.catalog.remove(name)

    def _on_interest(self, uri: str, change: int) -> None:
        """Forward a client's subscription to all servers: any of them may own the resource."""
        if self._tasks is not None and not uri.startswith(_OWN_SCHEMES):
            for mount in self.mounts.values():
                self._tasks.start_soon(mount.subscribe if change > 0 else mount.unsubscribe, uri)

    def _catalog_changed(self) -> None:
        self._policy = None
        self.announcements.list_changed("tools")

    def on_upstream_change(self, listener: Callable[[str, str | None], None]) -> None:
        """Call `listener` with the server and URI of each changed resource; the URI is None for a changed list."""
        self._listeners.append(listener)

    def _on_updated(self, server: str, uri: str, extra: JsonObject | None) -> None:
        self.announcements.resource_updated(uri, extra)
        for listener in self._listeners:
            listener(server, uri)

    def _on_list_changed(self, kind: ListKind, server: str) -> None:
        if kind == "resources":
            for listener in self._listeners:
                listener(server, None)
        if kind == "tools":
            self.catalog.changed()
        else:
            self.announcements.list_changed(kind)

    def _on_state_changed(self, name: str) -> None:
        self.announcements.resource_updated(f"compositor://{name}/state")
        self.announcements.resource_updated("compositor://servers")
        self.announcements.list_changed("resources")


async def _loaded(target: LiveTarget, seconds: float) -> None:
    if target.source.api is not None:
        return
    with anyio.move_on_after(seconds):
        await target.first.wait()
