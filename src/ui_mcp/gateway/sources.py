"""Sources: the APIs and mounted servers of a gateway, added and removed while it runs."""

import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio
from anyio.abc import TaskGroup

from ui_mcp.errors import MountError
from ui_mcp.gateway.apps.addresses import app_address, owner_of, resource_address
from ui_mcp.gateway.catalog import Catalog
from ui_mcp.gateway.config.settings import BackendSettings, GatewaySettings, TargetSettings, difference, name_of
from ui_mcp.gateway.mount import Mount
from ui_mcp.gateway.mount_connection import Connect, SavedMounts
from ui_mcp.gateway.openapi.live import LiveTarget, MakeTarget
from ui_mcp.gateway.sanitize import single_line
from ui_mcp.gateway.source import Health, Kind
from ui_mcp.isolation import Boundary, Workers
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.announcements import LOG_LEVELS, Announcements, ListKind
from ui_mcp.toolkit.names import SEPARATOR, source_name
from ui_mcp.toolkit.tool import Tool

if TYPE_CHECKING:
    from ui_mcp.mcp_client.transport import AskToSignIn

_NOTICE_SECONDS = 0.1
_OWN_SCHEMES = ("nlui://", "compositor://", "approvals://", "ui://")


class ListNotices:
    """Announces changed lists, each kind once per short while: many sources start and change at the same time."""

    def __init__(self, announcements: Announcements) -> None:
        self._announcements = announcements
        self._kinds: set[ListKind] = set()
        self._due = anyio.Event()

    def changed(self, kind: ListKind) -> None:
        self._kinds.add(kind)
        self._due.set()

    async def run(self) -> None:
        """Announce what has changed until cancelled."""
        while True:
            await self._due.wait()
            await anyio.sleep(_NOTICE_SECONDS)
            kinds, self._kinds, self._due = self._kinds, set(), anyio.Event()
            for kind in sorted(kinds):
                self._announcements.list_changed(kind)


class Sources:
    """Keeps sources running and the catalog up to date; `start` starts the configured ones."""

    def __init__(
        self,
        settings: GatewaySettings,
        catalog: Catalog,
        announcements: Announcements,
        notices: ListNotices,
        *,
        make_target: MakeTarget,
        connect: Connect,
        saved: SavedMounts,
        admit: Callable[[str, str, Sequence[Tool]], Awaitable[Sequence[Tool]]],
        sign_in: "AskToSignIn | None" = None,
    ) -> None:
        self._settings = settings
        self._catalog = catalog
        self._announcements = announcements
        self._notices = notices
        self._make_target = make_target
        self._connect = connect
        self._saved_mounts = saved
        self._admit = admit
        self._sign_in = sign_in
        self.targets: dict[str, LiveTarget] = {}
        self.mounts: dict[str, Mount] = {}
        self.failures: dict[str, Health] = {}
        """What could not be set up, by name."""
        self.ending = False
        """Set when the gateway stops: servers that exit then have not failed."""
        self._log_level: str | None = None
        self._attached: set[str] = set()  # mounts attached at run time
        self._added: set[str] = set()  # targets added at run time
        self._listeners: list[Callable[[str, str | None], None]] = []
        self._workers = Workers()
        self._tasks: TaskGroup | None = None
        self._stack: AsyncExitStack | None = None
        self._started = 0.0

    async def start(self, tasks: TaskGroup, stack: AsyncExitStack) -> None:
        """Start the configured and the saved sources in `tasks`; `stack` closes them."""
        self._started = time.monotonic()
        self._tasks = self._workers.tasks = tasks
        self._stack = stack
        stack.callback(self._announcements.watch_interest(self._on_interest))
        for target in self._settings.targets:
            await self._try_target(target)
        for backend in self._settings.backends:
            await self._add_backend(backend)
        for backend in await anyio.to_thread.run_sync(self._saved_mounts.load):
            await self._add_backend(backend)
            self._attached.add(backend.name)

    async def ready(self) -> None:
        """Wait for the first tool lists: of local documents always, of other sources up to `mcp.startup_wait_ms`."""
        left = self._started + self._settings.mcp.startup_wait_ms / 1000 - time.monotonic()
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

    async def restarted(self, tool: str, seconds: float) -> None:
        """Wait, up to `seconds`, for the server to which a tool name belongs, if it is down."""
        mount = self.mounts.get(tool.partition(SEPARATOR)[0])
        with anyio.move_on_after(seconds):
            if mount is not None:
                await mount.connected()

    async def attach(self, settings: BackendSettings) -> Mount:
        """Mount a server until the gateway stops.

        Raises:
            MountError: there is already a source of this name.
        """
        settings = replace(settings, name=source_name(settings.name))
        mount = Mount(
            settings,
            self._connect,
            changed=lambda kind: self._on_list_changed(kind, settings.name),
            updated=lambda uri, extra: self._on_updated(settings.name, uri, extra),
            state_changed=self._on_state_changed,
            logged=lambda params: self._on_logged(settings.name, params),
            ending=lambda: self.ending,
            sign_in=self._sign_in,
            admit=self._admit if self._settings.policy.pin_tools else None,
        )
        self._catalog.add(mount)
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
        if self._stack is None or any(source.name == name for source in self._catalog.sources()):
            raise MountError(f"There is a source named {name!r}; choose another name", name=name)
        await self._add_target(settings, self._stack)
        self._added.add(name)
        return name

    async def detach_target(self, name: str) -> bool:
        """Remove an API; return whether there was one."""
        if self.targets.pop(name, None) is None:
            return self.failures.pop(name, None) is not None
        self._end(name)
        return True

    async def reconfigure(self, settings: GatewaySettings) -> None:
        """Apply a changed configuration; sources whose settings did not change keep running."""
        self._settings = settings
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
        self._catalog.changed()

    async def refresh_targets(self) -> None:
        for target in list(self.targets.values()):
            if await target.refresh():
                self._catalog.changed()

    def forward_token(self, principal: str, conversation: str, token: str) -> None:
        """Send a person's own token with the calls of a conversation, to the APIs that accept it."""
        for target in self.targets.values():
            auth = target.settings.auth
            wanted = auth.passthrough if auth else None
            # By default only if there is a single API; with several, the token could reach the wrong one.
            if len(self.targets) == 1 if wanted is None else wanted:
                target.credentials.forward_token(principal, conversation, token)

    async def accepted(self, name: str) -> None:
        """Offer tools that were held back and that a person has accepted."""
        if mount := self.mounts.get(name):
            mount.relist()
        target = self.targets.get(name)
        if target is not None and await target.compare_again():
            self._catalog.changed()

    async def _try_target(self, given: TargetSettings) -> None:
        """Add an API of the configuration; one that cannot be set up is reported in the health."""
        name = name_of(given)
        with Boundary(f"target {name}", lambda why: self.fail(name, why)):
            if self._stack is not None:
                await self._add_target(given, self._stack)

    def fail(self, name: str, why: str, kind: Kind = "target") -> None:
        """List a source that could not be set up, with the reason."""
        self.failures[name] = Health(name, kind, "failed", error=why)

    async def _add_target(self, given: TargetSettings, stack: AsyncExitStack) -> None:
        name = source_name(given.name or given.base_url or given.spec)
        target = self._make_target(replace(given, name=name), self._settings)
        await stack.enter_async_context(target)
        try:
            self._catalog.add(target.source)
        except MountError as error:
            self.fail(name, error.message)
            return
        self.targets[name] = target
        if not target.is_local:
            await target.start_from_cache()
        self._workers.start(name, lambda: self._follow_target(target), target.boundary)

    async def _follow_target(self, target: LiveTarget) -> None:
        try:
            if await target.refresh():
                self._catalog.changed()
        finally:
            target.first.set()
        if self._tasks is not None and target.siblings():
            # In a task of its own: removing the target cancels this one.
            self._tasks.start_soon(self._split, target)
        await target.follow(self._catalog.changed)

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

    def _on_interest(self, uri: str, change: int) -> None:
        """Forward a client's subscription to the server that the URI names, else to all: any may own the resource."""
        if self._tasks is None:
            return
        server, inner = owner_of(uri) or ("", uri)
        mounts = [self.mounts[server]] if server in self.mounts else []
        if not server and not uri.startswith(_OWN_SCHEMES):
            mounts = list(self.mounts.values())
        for mount in mounts:
            self._tasks.start_soon(mount.subscribe if change > 0 else mount.unsubscribe, inner)

    def on_upstream_change(self, listener: Callable[[str, str | None], None]) -> None:
        """Call `listener` with the server and URI of each changed resource; the URI is None for a changed list."""
        self._listeners.append(listener)

    def _on_updated(self, server: str, uri: str, extra: JsonObject | None) -> None:
        # Under each of its addresses: only those to which a client is subscribed are sent.
        for address in dict.fromkeys((app_address(server, uri), resource_address(server, uri))):
            self._announcements.resource_updated(address, extra)
        if not uri.startswith("ui://"):  # another server, or this program, may have the same
            self._announcements.resource_updated(uri, extra)
        for listener in self._listeners:
            listener(server, uri)

    def _on_list_changed(self, kind: ListKind, server: str) -> None:
        if kind == "resources":
            for listener in self._listeners:
                listener(server, None)
        if kind == "tools":
            self._catalog.changed()
        else:
            self._notices.changed(kind)

    async def set_log_level(self, level: str) -> None:
        """Ask every server for log messages from a level on; the lowest that any client wants counts."""
        known = LOG_LEVELS.index(self._log_level) if self._log_level else len(LOG_LEVELS)
        self._log_level = LOG_LEVELS[min(known, LOG_LEVELS.index(level))]
        async with anyio.create_task_group() as group:
            for mount in self.mounts.values():
                group.start_soon(mount.set_log_level, self._log_level)

    def _on_logged(self, server: str, params: JsonObject) -> None:
        """Relay a log message under the server's name."""
        level, name = params.get("level"), params.get("logger")
        if level in LOG_LEVELS:
            logger = f"{server}/{single_line(name)}" if isinstance(name, str) and name else server
            self._announcements.log_message(level, logger, params.get("data"))

    def _on_state_changed(self, name: str) -> None:
        self._announcements.resource_updated(f"compositor://{name}/state")
        self._announcements.resource_updated("compositor://servers")
        self._notices.changed("resources")

    def _end(self, name: str) -> None:
        self._workers.end(name)
        self._catalog.remove(name)


async def _loaded(target: LiveTarget, seconds: float) -> None:
    if target.source.api is not None:
        return
    with anyio.move_on_after(seconds):
        await target.first.wait()
