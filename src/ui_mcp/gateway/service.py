"""The gateway: every API and every server behind one policed tool surface, started and stopped as one."""

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

_log = logger("compositor")
_REPLAYED = 200
_OWN = ("nlui://", "compositor://", "approvals://", "ui://")


@dataclass(frozen=True, slots=True)
class GatewayContext:
    """What the gateway is given by the program around it."""

    data: Path
    cache: Path
    connect: Connect
    announcements: Announcements = field(default_factory=Announcements)
    mode: Mode = "host"
    """The policy mode when the configuration names none."""
    patience: Callable[[Call], float | None] | None = None
    where: Callable[[], str] = lambda: ""
    secrets: tuple[str, ...] = ()
    """Values of the configuration that are shown to nobody."""


class GatewayService:
    """Sources, gate and stores; `running` brings it to life."""

    def __init__(self, settings: GatewaySettings, around: GatewayContext) -> None:
        self.settings = settings
        self.context = around
        self.scrubber = SecretMasker()
        self.scrubber.add(around.secrets)
        self.announcements = around.announcements
        self.catalogue = Catalog(self._catalogue_changed)
        self.results = ResultStore(around.data / "results")
        self.store = open_store(settings.approvals_in(around.data))
        self.desk = ApprovalService(self.store, announce=self.announcements.resource_updated)
        self.proposals = Proposals(self.store, lambda rule: bound(rule, self.catalogue.entries()))
        self._audit = Audit(audit_file(settings, around.data), settings.audit.level, self.scrubber)
        rulebook = EnforcementSettings(self.policy, settings.approvals, around.patience, around.where)
        self.enforcer = PolicyEnforcer(self.catalogue, self.desk, rulebook, self._audit, self.scrubber)
        self.admins = frozenset(settings.admins)
        self._listeners: list[Callable[[str, str | None], None]] = []
        self.failures: dict[str, Health] = {}
        self.targets: dict[str, LiveTarget] = {}
        self.mounts: dict[str, Mount] = {}
        self._kept = SavedMounts(around.data / "mounts.json")
        self._attached: set[str] = set()
        """Names of mounts that are not in the configuration."""
        self._added: set[str] = set()
        """Names of targets that were added while running."""
        self._standing: tuple[Rule, ...] = ()
        self._policy: Policy | None = None
        self._tasks: TaskGroup | None = None
        self._stack: AsyncExitStack | None = None
        self._work = Workers()
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
            rules = (*self.settings.policy.rules, *self._standing)
            self._policy = Policy(self.settings.policy.mode or self.context.mode, rules, fixed)
        return self._policy

    def health(self) -> list[Health]:
        """Say how every source is, refused ones included."""
        return [self._shown(one) for one in (*self.catalogue.health(), *self.failures.values())]

    def _shown(self, one: Health) -> Health:
        """Leave out what a command line, an address or an error may hold of a secret."""
        scrub = self.scrubber
        return replace(one, where=scrub.text(one.where), error=scrub.text(one.error), details=scrub.json(one.details))

    async def ready(self) -> None:
        """Wait for the first list: local documents always, everything else as long as configured."""
        left = self._started + self.settings.mcp.startup_wait_ms / 1000 - time.monotonic()
        async with anyio.create_task_group() as group:
            for target in self.targets.values():
                group.start_soon(_loaded, target, 3600.0 if target.is_local else max(left, 0.0))
            for mount in self.mounts.values():
                group.start_soon(mount.settled, max(left, 0.0))

    async def started(self, tool: str) -> None:
        """Wait for the server a tool would belong to, if that is still starting."""
        mount = self.mounts.get(tool.partition(SEPARATOR)[0])
        if mount is not None and mount.health().state == "pending":
            await mount.settled(mount.settings.start_timeout_s)

    async def attach(self, settings: BackendSettings) -> Mount:
        """Mount a server.

        Raises:
            MountError: the name is taken.
        """
        settings = settings.model_copy(update={"name": source_name(settings.name)})
        mount = Mount(
            settings,
            self.context.connect,
            changed=lambda kind: self._list_changed(kind, settings.name),
            updated=lambda uri, extra: self._updated(settings.name, uri, extra),
            state_changed=self._state_changed,
            ending=lambda: self._ending,
        )
        self.catalogue.add(mount)
        self.mounts[settings.name] = mount
        self._work.start(settings.name, mount.run, mount.boundary)
        return mount

    async def attach_lasting(self, settings: BackendSettings) -> Mount:
        """Mount a server now and after every restart.

        Raises:
            MountError: the name is taken.
        """
        mount = await self.attach(settings)
        self._attached.add(mount.name)
        await anyio.to_thread.run_sync(self._kept.add, mount.settings)
        return mount

    async def detach(self, name: str) -> bool:
        """Unmount a server, for good; say whether there was one."""
        if self.mounts.pop(name, None) is None:
            return False
        if name in self._attached:
            self._attached.discard(name)
            await anyio.to_thread.run_sync(self._kept.remove, name)
        self._end(name)
        self._state_changed(name)
        return True

    async def attach_target(self, settings: TargetSettings) -> str:
        """Take one more API while running; return its name.

        Raises:
            MountError: the name is taken.
        """
        name = source_name(settings.name or settings.base_url or settings.spec)
        if self._stack is None or any(source.name == name for source in self.catalogue.sources()):
            raise MountError(f"There is a source named {name!r}; choose another name", name=name)
        await self._add_target(settings, self._stack)
        self._added.add(name)
        return name

    async def detach_target(self, name: str) -> bool:
        """Let an API go; say whether there was one."""
        if self.targets.pop(name, None) is None:
            return self.failures.pop(name, None) is not None
        self._end(name)
        self._policy = None
        return True

    async def reconfigure(self, settings: GatewaySettings) -> None:
        """Take a changed configuration: sources it does not concern keep running."""
        self.settings = settings
        self.admins = frozenset(settings.admins)
        self.failures.clear()
        named = {name_of(one) for one in settings.targets}
        # One that was added on the page may hold a secret that the file does not; it goes when the file forgets it.
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
        self.catalogue.changed()

    async def refresh_targets(self) -> None:
        """Read every document again, now."""
        for target in list(self.targets.values()):
            if await target.refresh():
                self.catalogue.changed()

    def forward_token(self, principal: str, conversation: str, token: str) -> None:
        """Send a person's own token on with the calls of a conversation, to the APIs that take it."""
        self.scrubber.add([token])
        for target in self.targets.values():
            auth = target.settings.auth
            wanted = auth.passthrough if auth else None
            if len(self.targets) == 1 if wanted is None else wanted:
                target.credentials.forward_token(principal, conversation, token)

    def audited(self, tools: Toolset, source: str) -> Toolset:
        """Return tools of our own so that their calls are in the audit log."""
        return AuditedToolset(tools, source, self._audit)

    async def replay(self, rule: Rule) -> JsonObject:
        """Say what a rule would have done with the latest calls."""
        history = await anyio.to_thread.run_sync(self._audit.history, _REPLAYED)
        return replay(self.catalogue, self.policy(Call()), rule, history)

    async def refresh_rules(self) -> None:
        """Take standing rules that people made meanwhile."""
        self._standing = tuple(rule for _, rule in await self.store.rules())
        self._policy = None

    @asynccontextmanager
    async def running(self) -> AsyncIterator["GatewayService"]:
        """Start every source, and end them all with the block."""
        self._started = time.monotonic()
        async with AsyncExitStack() as stack:
            stack.enter_context(masking(self.scrubber.text))
            stack.callback(self.store.close)
            stack.callback(self._audit.close)
            await self.desk.recover()
            await self.refresh_rules()
            self.desk.on_rule = self.refresh_rules
            stack.callback(self.announcements.watch_interest(self._interest))
            self._stack = stack
            async with anyio.create_task_group() as self._tasks:
                self._work.tasks = self._tasks
                for target in self.settings.targets:
                    await self._try_target(target)
                for backend in self.settings.backends:
                    await self._add_backend(backend)
                for backend in await anyio.to_thread.run_sync(self._kept.load):
                    await self._add_backend(backend)
                    self._attached.add(backend.name)
                self._tasks.start_soon(self._run_approved)
                self._tasks.start_soon(self._follow_rules)
                self._tasks.start_soon(self.desk.follow)
                try:
                    yield self
                finally:
                    self._ending = True
                self._tasks.cancel_scope.cancel()

    async def _run_approved(self) -> None:
        # A yes given while nothing ran must not meet a catalogue that is still being read.
        await self.ready()
        await self.desk.run_approved(self.enforcer.execute)

    async def _try_target(self, given: TargetSettings) -> None:
        """Take an API of the configuration; one that cannot even be set up is told among the sources."""
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
            scrubber=self.scrubber,
            limits=Limits(self.settings.results.max_bytes, self.settings.results.max_rows),
            budget=self.settings.catalogue.tool_budget,
        )
        await stack.enter_async_context(target)
        try:
            self.catalogue.add(target.source)
        except MountError as error:
            self._fail(name, error.message)
            return
        self.targets[name] = target
        if not target.is_local:
            target.start_from_cache()
        self._work.start(name, lambda: self._follow_target(target), target.boundary)

    async def _follow_target(self, target: LiveTarget) -> None:
        try:
            if await target.refresh():
                self.catalogue.changed()
        finally:
            target.first.set()
        if self._tasks is not None and target.siblings():
            self._tasks.start_soon(self._split, target)
        await target.follow(self.catalogue.changed)

    async def _split(self, target: LiveTarget) -> None:
        """Offer each of several documents found at one address as a target of its own."""
        await self.detach_target(target.settings.name)
        for sibling in target.siblings():
            await self._try_target(sibling)

    async def _add_backend(self, backend: BackendSettings) -> None:
        if not backend.enabled:
            return
        second = f"{backend.name} (second)"

        def failed(why: str) -> None:
            self.failures[second] = Health(backend.name, "backend", "failed", error=why)

        with Boundary(f"server {backend.name}", failed):
            await self.attach(backend)

    async def _follow_rules(self) -> None:
        """Notice rules that another process wrote."""
        known = ""
        while True:
            changed = self.desk.changed
            version = await with_retry(self.store.rules_version)
            if version != known:
                known = version
                await with_retry(self.refresh_rules)
            await changed.wait()

    def _end(self, name: str) -> None:
        self._work.end(name)
        self.catalogue.remove(name)

    def _interest(self, uri: str, change: int) -> None:
        """Relay a client's subscription to the servers whose resource it may be."""
        if self._tasks is not None and not uri.startswith(_OWN):
            for mount in self.mounts.values():
                self._tasks.start_soon(mount.subscribe if change > 0 else mount.unsubscribe, uri)

    def _catalogue_changed(self) -> None:
        self._policy = None
        self.announcements.list_changed("tools")

    def changes_since(self, listener: Callable[[str, str | None], None]) -> None:
        """Tell `listener` which server announced a change of which resource, or (None) of its list of them."""
        self._listeners.append(listener)

    def _updated(self, server: str, uri: str, extra: JsonObject | None) -> None:
        self.announcements.resource_updated(uri, extra)
        for listener in self._listeners:
            listener(server, uri)

    def _list_changed(self, kind: ListKind, server: str) -> None:
        if kind == "resources":
            for listener in self._listeners:
                listener(server, None)
        if kind == "tools":
            self.catalogue.changed()
        else:
            self.announcements.list_changed(kind)

    def _state_changed(self, name: str) -> None:
        self.announcements.resource_updated(f"compositor://{name}/state")
        self.announcements.resource_updated("compositor://servers")
        self.announcements.list_changed("resources")


async def _loaded(target: LiveTarget, seconds: float) -> None:
    if target.source.api is not None:
        return
    with anyio.move_on_after(seconds):
        await target.first.wait()
