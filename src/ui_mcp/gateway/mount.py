"""A mounted MCP server: kept alive, restarted with growing patience, its tools listed even while it is away."""

import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase

import anyio

from ui_mcp.errors import UiMcpError, UnknownToolError, UpstreamError
from ui_mcp.gateway.config.settings import BackendSettings, Selection
from ui_mcp.gateway.mount_connection import Connect, Connection, MountHandlers
from ui_mcp.gateway.sanitize import MAX_FOREIGN_DEPTH
from ui_mcp.gateway.source import Entry, Health, Permit, Preview, State
from ui_mcp.isolation import Boundary
from ui_mcp.jsontypes import JsonObject, is_deeper
from ui_mcp.log import logger
from ui_mcp.toolkit.announcements import ListKind
from ui_mcp.toolkit.names import Unnamed, tool_names
from ui_mcp.toolkit.tool import Call, Tool, ToolResult

_log = logger("compositor.mount")
_FIRST_WAIT = 0.5
_LONGEST_WAIT = 60.0
_HEALTHY = 60.0
_FREE_RESTARTS = 5
"""Crashes of a server that did start, within a minute, before the pauses grow."""
_PATIENCE = 5.0
_PING = 30.0
_STDERR = 200


@dataclass(slots=True)
class _Status:
    state: State = "pending"
    error: str = ""
    restarts: int = 0
    since: str = ""
    next_try: float = 0.0
    was_up: bool = False
    """Whether the latest attempt to connect succeeded."""
    stderr: deque[str] = field(default_factory=lambda: deque(maxlen=_STDERR))


class Mount:
    """One server as a source; `run` owns its life."""

    def __init__(
        self,
        settings: BackendSettings,
        connect: Connect,
        *,
        changed: Callable[[ListKind], None] = lambda _: None,
        updated: Callable[[str, JsonObject | None], None] = lambda *_: None,
        state_changed: Callable[[str], None] = lambda _: None,
        ending: Callable[[], bool] = lambda: False,
    ) -> None:
        self.settings = settings
        self._connect = connect
        self._changed = changed
        self._updated = updated
        self._state_changed = state_changed
        self._listeners = MountHandlers(self._on_list, updated, self._heard, ending)
        self.boundary = Boundary(f"server {settings.name}", self._down)
        self.requests = Boundary(f"server {settings.name}, a request", lambda _: None)
        """For what is asked beside calls: failing leaves the connection as it is."""
        self._status = _Status()
        self._connection: Connection | None = None
        self._entries: tuple[Entry, ...] = ()
        self._by_name: dict[str, Entry] = {}
        self._settled = anyio.Event()
        self._up = anyio.Event()
        self._relist = anyio.Event()
        self._wanted: dict[str, int] = {}

    @property
    def name(self) -> str:
        """The prefix of its tools."""
        return self.settings.name

    @property
    def connection(self) -> Connection | None:
        """The connection, while there is one."""
        return self._connection

    def entries(self) -> Sequence[Entry]:
        """Return the last good list."""
        return () if self._connection is None and self.settings.drop_when_down else self._entries

    def health(self) -> Health:
        """Say how the server is."""
        status = self._status
        notes = {"notes": list(self._connection.notes)} if self._connection and self._connection.notes else {}
        where = self.settings.url or " ".join((self.settings.command, *self.settings.args))
        return Health(
            self.name,
            "backend",
            status.state,
            len(self._entries),
            status.error,
            status.restarts,
            status.since,
            where,
            pinned=self.settings.pinned,
            details={"stderr": list(status.stderr)[-20:], **notes},
        )

    def instructions(self) -> str:
        """Return what the server tells agents."""
        told = self._connection.instructions if self._connection else None
        return f"{self.name}: {told}" if told else ""

    async def settled(self, seconds: float) -> None:
        """Wait until the server is ready or has failed once, at most so long."""
        with anyio.move_on_after(seconds):
            await self._settled.wait()

    async def describe(self, name: str) -> JsonObject:
        """Return a tool as the server lists it."""
        entry = self._entry(name)
        return {
            "name": name,
            "server": self.name,
            "tool": entry.local_name,
            "description": entry.tool.description,
            "input_schema": entry.tool.input_schema,
            "output_schema": entry.tool.output_schema,
        }

    def is_dry_run(self, name: str, arguments: JsonObject, call: Call) -> bool:
        """Say no: what an argument means is for the server to say."""
        return False

    async def preview(self, name: str, arguments: JsonObject, call: Call) -> Preview:
        """Show nothing more than the arguments."""
        return Preview(None, self._entry(name).fingerprint)

    async def call(self, name: str, arguments: JsonObject, call: Call, permit: Permit | None = None) -> ToolResult:
        """Call a tool; one that only reads is tried again after a crash.

        Raises:
            ChangedError: the server lists another tool under this name than the permit is about.
            UpstreamError: the server is away or failed; its message says when it is tried again.
        """
        connection = await self._ready()
        entry = self._permitted(name, permit)
        try:
            return await connection.call(entry.local_name, arguments, call)
        except UpstreamError as error:
            with anyio.move_on_after(0.5):  # a crash shows as an error a moment before the pipe ends
                if "rpc_code" not in error.details or error.details["rpc_code"] == -32000:
                    await connection.lost.wait()
            hints = entry.tool.annotations
            if not connection.lost.is_set() or not (hints.read_only or hints.idempotent):
                raise self._named(error, lost=connection.lost.is_set()) from error
        connection = await self._ready()
        return await connection.call(self._permitted(name, permit).local_name, arguments, call)

    async def subscribe(self, uri: str) -> None:
        """Be told of changes of a resource; counted, and asked for again after a restart."""
        self._wanted[uri] = self._wanted.get(uri, 0) + 1
        if self._wanted[uri] == 1 and self._connection is not None:
            with self.requests:
                await self._tell_wanted(self._connection, uri)

    async def unsubscribe(self, uri: str) -> None:
        """Stop being told once nobody wants it."""
        left = self._wanted.get(uri, 0) - 1
        if left > 0:
            self._wanted[uri] = left
        elif self._wanted.pop(uri, None) is not None and self._connection is not None:
            with self.requests:
                await self._connection.unsubscribe(uri)

    async def _tell_wanted(self, connection: Connection, uri: str) -> bool:
        """Subscribe at the server; one that has no such resource says so, which is no harm."""
        try:
            if connection.offers("resources"):
                await connection.subscribe(uri)
                return True
        except UiMcpError as error:
            _log.debug("%s: %s", self.name, error.message)
        return False

    async def run(self) -> None:
        """Keep the server connected for ever; the more often it failed lately, the longer the pause."""
        failures: deque[float] = deque(maxlen=20)
        while True:
            self._status.was_up = False
            with self.boundary:
                await self._until_gone()
            now = anyio.current_time()
            failures.append(now)
            recent = sum(now - when < _HEALTHY for when in failures) - (_FREE_RESTARTS if self._status.was_up else 1)
            pause = min(_FIRST_WAIT * 2.0 ** max(recent, 0), _LONGEST_WAIT)
            pause *= random.uniform(0.8, 1.0)  # noqa: S311 - jitter, not a secret
            self._status.next_try = now + pause
            await anyio.sleep(pause)
            self._status.restarts += 1

    async def _until_gone(self) -> None:
        try:
            async with self._connect(self.settings, self._listeners) as found:
                self._status.was_up = True
                await self._live(found)
        except TimeoutError as error:
            limit = self.settings.start_timeout_s
            raise UpstreamError(f"the server did not list its tools within {limit:g} s") from error
        raise UpstreamError("the server went away")

    async def _live(self, connection: Connection) -> None:
        with anyio.fail_after(self.settings.start_timeout_s):
            self._adopt(await connection.tools(Call()))
        self._connection = connection
        self._set_state("active")
        self._up.set()
        self._settled.set()
        self._changed("tools")
        try:
            for uri in list(self._wanted):
                if await self._tell_wanted(connection, uri):
                    self._updated(uri, None)
            async with anyio.create_task_group() as group:
                group.start_soon(self._follow_lists, connection)
                group.start_soon(self._keep_alive, connection)
                await connection.lost.wait()
                group.cancel_scope.cancel()
        finally:
            self._connection = None
            self._up = anyio.Event()

    async def _follow_lists(self, connection: Connection) -> None:
        while True:
            await self._relist.wait()
            self._relist = anyio.Event()
            try:
                self._adopt(await connection.tools(Call()))
            except UiMcpError as error:
                _log.warning("%s: cannot list its tools: %s", self.name, error.message)
            self._changed("tools")

    async def _keep_alive(self, connection: Connection) -> None:
        while True:
            await anyio.sleep(_PING)
            try:
                await connection.ping()
            except UiMcpError as error:
                _log.info("%s does not answer a ping: %s", self.name, error.message)

    async def _ready(self) -> Connection:
        usable = self._usable()
        if usable is not None:
            return usable
        patience = self.settings.start_timeout_s if self._status.state == "pending" else _PATIENCE
        with anyio.move_on_after(patience):
            while (found := self._usable()) is None:
                with anyio.move_on_after(0.1):
                    await self._up.wait()
                    await anyio.sleep(0.02)
            return found
        soon = max(self._status.next_try - anyio.current_time(), 0.0)
        raise UpstreamError(
            f"{self.name} is not running: {self._status.error or 'still starting'}\nIt is tried again in {soon:.1f} s."
        )

    def _usable(self) -> Connection | None:
        connection = self._connection
        return connection if connection is not None and not connection.lost.is_set() else None

    def _adopt(self, tools: Sequence[Tool]) -> None:
        kept = [tool for tool in tools if _selected(tool.name, self.settings) and self._is_writable(tool)]
        names = tool_names(self.name, [Unnamed(tool.name, tool.name) for tool in kept])
        where = self.settings.url or " ".join((self.settings.command, *self.settings.args))
        self._entries = tuple(
            Entry(replace(tool, name=name, aliases=()), self.name, "backend", tool.name, server=where)
            for name, tool in zip(names, kept, strict=True)
        )
        self._by_name = {entry.name: entry for entry in self._entries}

    def _is_writable(self, tool: Tool) -> bool:
        if not is_deeper([tool.input_schema, tool.output_schema, tool.meta, tool.extra], MAX_FOREIGN_DEPTH):
            return True
        _log.warning("%s: the tool %.80s is left out: its schema is nested too deeply", self.name, tool.name)
        return False

    def _permitted(self, name: str, permit: Permit | None) -> Entry:
        """Return a tool as the server lists it now; one that was started again may list another one."""
        entry = self._entry(name)
        if permit is not None:
            permit.require(name, entry.fingerprint, entry.fingerprint)
        return entry

    def _entry(self, name: str) -> Entry:
        found = self._by_name.get(name)
        if found is None:
            raise UnknownToolError(name)
        return found

    def _named(self, error: UpstreamError, *, lost: bool) -> UpstreamError:
        told = f"{self.name}: {error.message}" if error.details.get("malformed") else error.message
        text = f"{self.name} stopped during the call; it is being restarted" if lost else told
        return UpstreamError(text, **error.details)

    def _down(self, why: str) -> None:
        self._status.error = why
        self._set_state("stale" if self._entries else "failed")
        self._settled.set()
        if self.settings.drop_when_down:
            self._changed("tools")

    def _set_state(self, state: State) -> None:
        if state == "active":
            self._status.error = ""
        self._status.state = state
        self._status.since = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        self._state_changed(self.name)

    def _on_list(self, kind: ListKind) -> None:
        if kind == "tools":
            self._relist.set()
        else:
            self._changed(kind)

    def _heard(self, line: str) -> None:
        self._status.stderr.append(line)


def _selected(tool: str, settings: BackendSettings) -> bool:
    included = not settings.include or _matches(tool, settings.include)
    override = settings.overrides.get(tool)
    return included and not _matches(tool, settings.exclude) and not (override and override.hidden)


def _matches(tool: str, selection: Selection) -> bool:
    return any(fnmatchcase(tool, glob) for glob in (*selection.operations, *selection.paths, *selection.methods))
