"""A mounted MCP server: kept connected, restarted with back-off, its tools listed even while it is down."""

import random
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import field, replace
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import anyio

from ui_mcp.errors import UiMcpError, UnknownToolError, UpstreamError
from ui_mcp.gateway.apps.addresses import is_for, relayed_result, with_address
from ui_mcp.gateway.config.settings import BackendSettings, Selection
from ui_mcp.gateway.mount_connection import Connect, Connection, MountHandlers
from ui_mcp.gateway.mount_tasks import call_server
from ui_mcp.gateway.sanitize import MAX_FOREIGN_DEPTH
from ui_mcp.gateway.source import Entry, Health, Permit, Preview, State
from ui_mcp.isolation import Boundary
from ui_mcp.jsontypes import JsonObject, is_deeper
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.log import logger
from ui_mcp.toolkit.announcements import ListKind
from ui_mcp.toolkit.names import Unnamed, tool_names
from ui_mcp.toolkit.tool import Call, Tool, ToolResult

if TYPE_CHECKING:
    from ui_mcp.mcp_client.transport import AskToSignIn

_log = logger("gateway.mount")
_FIRST_WAIT = 0.5
_LONGEST_WAIT = 60.0
_FAILURE_WINDOW_SECONDS = 60.0
_FREE_RESTARTS = 5
"""Crashes within a minute, of a server that did start, before the back-off grows."""
_RECONNECT_TIMEOUT_SECONDS = 5.0
_PING_SECONDS = 30.0
_STDERR_LINES = 200


@dataclass(slots=True)
class _Status:
    state: State = "pending"
    error: str = ""
    restarts: int = 0
    since: str = ""
    next_try: float = 0.0
    was_up: bool = False
    """Whether the latest attempt to connect succeeded."""
    stderr: deque[str] = field(default_factory=lambda: deque(maxlen=_STDERR_LINES))


class Mount:
    """One server as a source; `run` connects and reconnects it."""

    def __init__(
        self,
        settings: BackendSettings,
        connect: Connect,
        *,
        changed: Callable[[ListKind], None] = lambda _: None,
        updated: Callable[[str, JsonObject | None], None] = lambda *_: None,
        state_changed: Callable[[str], None] = lambda _: None,
        logged: Callable[[JsonObject], None] = lambda _: None,
        ending: Callable[[], bool] = lambda: False,
        sign_in: "AskToSignIn | None" = None,
        admit: Callable[[str, str, Sequence[Tool]], Awaitable[Sequence[Tool]]] | None = None,
    ) -> None:
        self.settings = settings
        self._connect = connect
        self._changed = changed
        self._updated = updated
        self._state_changed = state_changed
        self._admit = admit
        self._listeners = MountHandlers(self._on_list_changed, updated, self._on_stderr, logged, ending, sign_in)
        self.boundary = Boundary(f"server {settings.name}", self._on_failure)
        self.requests = Boundary(f"server {settings.name}, a request", lambda _: None)
        """Contains failures of requests other than calls; they leave the connection open."""
        self._status = _Status()
        self._connection: Connection | None = None
        self._entries: tuple[Entry, ...] = ()
        self._by_name: dict[str, Entry] = {}
        self._repeated: list[str] = []
        self._first_attempt_done = anyio.Event()
        self._up = anyio.Event()
        self._relist = anyio.Event()
        self._retry = anyio.Event()
        self._subscriptions: dict[str, int] = {}
        self._log_level: str | None = None

    @property
    def name(self) -> str:
        return self.settings.name

    @property
    def connection(self) -> Connection | None:
        return self._connection

    def entries(self) -> Sequence[Entry]:
        """Return the tools of the last successful list; none while down if `drop_when_down` is set."""
        return () if self._connection is None and self.settings.drop_when_down else self._entries

    def health(self) -> Health:
        status = self._status
        found = [*(self._connection.notes if self._connection else ()), *self._repeated]
        notes = {"notes": found} if found else {}
        return Health(
            self.name,
            "backend",
            status.state,
            len(self._entries),
            status.error,
            status.restarts,
            status.since,
            self._where,
            pinned=self.settings.pinned,
            details={"stderr": list(status.stderr)[-20:], **notes},
        )

    def instructions(self) -> str:
        """Return the server's name, the number of its tools and its own instructions for agents."""
        text = self._connection.instructions if self._connection else None
        tools = f" ({len(self._entries)} tools)" if self._entries else ""
        return f"{self.name}{tools}: {text or 'an MCP server'}"

    def app_names(self) -> dict[str, str]:
        """Return the listed names of the tools that the server's apps may call, by their own names."""
        return {entry.local_name: entry.name for entry in self._entries if is_for(entry.tool, "app")}

    async def settled(self, seconds: float) -> None:
        """Wait, up to `seconds`, until the server is ready or the first attempt has failed."""
        with anyio.move_on_after(seconds):
            await self._first_attempt_done.wait()

    async def describe(self, name: str) -> JsonObject:
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
        return False  # the gateway cannot know what an argument means to the server

    async def preview(self, name: str, arguments: JsonObject, call: Call) -> Preview:
        return Preview(None, self._entry(name).fingerprint)  # no request: the arguments say it all

    async def call(self, name: str, arguments: JsonObject, call: Call, permit: Permit | None = None) -> ToolResult:
        """Call a tool; if the server crashes, a read-only or idempotent call is repeated once.

        Raises:
            ChangedError: the server now lists another tool under this name than the permit is about.
            UpstreamError: the server is down or failed; the message says when it is restarted.
        """
        connection = await self._wait_connected()
        entry = self._permitted(name, permit)
        try:
            return await self._called(entry, arguments, call)
        except UpstreamError as error:
            with anyio.move_on_after(0.5):  # after a crash the error arrives shortly before the pipe closes
                # Any other code is an answer of a server that still runs; -32000 means a closed connection.
                if "rpc_code" not in error.details or error.details["rpc_code"] == -32000:
                    await connection.lost.wait()
            hints = entry.tool.annotations
            if not connection.lost.is_set() or not (hints.read_only or hints.idempotent):
                raise self._with_server_name(error, lost=connection.lost.is_set()) from error
        await self._wait_connected()
        return await self._called(self._permitted(name, permit), arguments, call)

    async def _called(self, entry: Entry, arguments: JsonObject, call: Call) -> ToolResult:
        return relayed_result(await call_server(self._wait_connected, entry, arguments, call), self.name)

    async def set_log_level(self, level: str) -> None:
        """Ask the server for log messages from a level on, now and after a restart."""
        self._log_level = level
        if self._connection is not None:
            with self.requests:
                await self._connection.set_log_level(level)

    async def subscribe(self, uri: str) -> None:
        """Subscribe to a resource at the server; counted per URI, and renewed after a restart."""
        self._subscriptions[uri] = self._subscriptions.get(uri, 0) + 1
        if self._subscriptions[uri] == 1 and self._connection is not None:
            with self.requests:
                await self._subscribe_upstream(self._connection, uri)

    async def unsubscribe(self, uri: str) -> None:
        """Unsubscribe at the server once no client is subscribed any more."""
        left = self._subscriptions.get(uri, 0) - 1
        if left > 0:
            self._subscriptions[uri] = left
        elif self._subscriptions.pop(uri, None) is not None and self._connection is not None:
            with self.requests:
                await self._connection.unsubscribe(uri)

    async def _subscribe_upstream(self, connection: Connection, uri: str) -> bool:
        """Subscribe at the server; return False if it has no such resource."""
        try:
            if connection.offers("resources"):
                await connection.subscribe(uri)
                return True
        except UiMcpError as error:
            _log.debug("%s: %s", self.name, error.message)
        return False

    async def run(self) -> None:
        """Keep the server connected until cancelled, with exponential back-off over recent failures."""
        failures: deque[float] = deque(maxlen=20)
        while True:
            self._status.was_up = False
            with self.boundary:
                await self._connect_once()
            now = anyio.current_time()
            failures.append(now)
            free = _FREE_RESTARTS if self._status.was_up else 1
            recent = sum(now - when < _FAILURE_WINDOW_SECONDS for when in failures) - free
            pause = min(_FIRST_WAIT * 2.0 ** max(recent, 0), _LONGEST_WAIT)
            pause *= random.uniform(0.8, 1.0)  # noqa: S311 - jitter, not a secret
            self._status.next_try = now + pause
            self._retry = anyio.Event()
            with anyio.move_on_after(pause):
                await self._retry.wait()
            self._status.restarts += 1

    async def _connect_once(self) -> None:
        try:
            async with self._connect(self.settings, self._listeners) as found:
                self._status.was_up = True
                await self._serve(found)
        except TimeoutError as error:
            limit = self.settings.start_timeout_s
            raise UpstreamError(f"the server did not list its tools within {limit:g} s") from error
        raise UpstreamError("the server went away")

    async def _serve(self, connection: Connection) -> None:
        with anyio.fail_after(self.settings.start_timeout_s):
            self._adopt(await self._listed(connection))
        self._connection = connection
        self._set_state("active")
        self._up.set()
        self._first_attempt_done.set()
        self._changed("tools")
        try:
            if self._log_level is not None:
                await self.set_log_level(self._log_level)
            # Clients may have missed updates while the server was down.
            for uri in list(self._subscriptions):
                if await self._subscribe_upstream(connection, uri):
                    self._updated(uri, None)
            async with anyio.create_task_group() as group:
                group.start_soon(self._relist_on_change, connection)
                group.start_soon(self._ping_forever, connection)
                await connection.lost.wait()
                group.cancel_scope.cancel()
        finally:
            self._connection = None
            self._up = anyio.Event()

    async def _relist_on_change(self, connection: Connection) -> None:
        while True:
            await self._relist.wait()
            self._relist = anyio.Event()  # before listing, so that a change during the request is not lost
            try:
                self._adopt(await self._listed(connection))
            except UiMcpError as error:
                _log.warning("%s: cannot list its tools: %s", self.name, error.message)
            self._changed("tools")

    async def _ping_forever(self, connection: Connection) -> None:
        while True:
            await anyio.sleep(_PING_SECONDS)
            try:
                await connection.ping()
            except UiMcpError as error:
                _log.info("%s does not answer a ping: %s", self.name, error.message)

    async def _wait_connected(self) -> Connection:
        usable = self._usable()
        if usable is not None:
            return usable
        timeout = self.settings.start_timeout_s if self._status.state == "pending" else _RECONNECT_TIMEOUT_SECONDS
        with anyio.move_on_after(timeout):
            return await self.connected()
        soon = max(self._status.next_try - anyio.current_time(), 0.0)
        raise UpstreamError(
            f"{self.name} is not running: {self._status.error or 'still starting'}\nTrying again in {soon:.1f} s."
        )

    async def connected(self) -> Connection:
        """Return the connection once the server is up."""
        # In short steps, because `_up` is replaced whenever the connection is lost.
        while (found := self._usable()) is None:
            with anyio.move_on_after(0.1):
                await self._up.wait()
                await anyio.sleep(0.02)
        return found

    def _usable(self) -> Connection | None:
        connection = self._connection
        return connection if connection is not None and not connection.lost.is_set() else None

    async def _listed(self, connection: Connection) -> Sequence[Tool]:
        """Return the tools that the server lists, without those that are held back."""
        tools = await connection.tools(Call())
        return await self._admit(self.name, self._where, tools) if self._admit else tools

    def retry(self) -> None:
        """Try to connect at once instead of after the back-off."""
        self._retry.set()

    def relist(self) -> None:
        """Ask the server for its tools again."""
        self._relist.set()

    @property
    def _where(self) -> str:
        return self.settings.url or " ".join((self.settings.command, *self.settings.args))

    def _adopt(self, tools: Sequence[Tool]) -> None:
        first: dict[str, Tool] = {}
        for tool in tools:
            first.setdefault(tool.name, tool)
        uses = Counter(tool.name for tool in tools)
        self._repeated = [
            f"tool {name[:60]!r} is listed {n} times; the first counts" for name, n in uses.items() if n > 1
        ]
        kept = [tool for tool in first.values() if _selected(tool.name, self.settings) and self._is_shallow(tool)]
        names = tool_names(self.name, [Unnamed(tool.name, tool.name) for tool in kept])
        self._entries = tuple(
            Entry(_offered(tool, name, self.name), self.name, "backend", tool.name, server=self._where)
            for name, tool in zip(names, kept, strict=True)
        )
        self._by_name = {entry.name: entry for entry in self._entries}

    def _is_shallow(self, tool: Tool) -> bool:
        if not is_deeper([tool.input_schema, tool.output_schema, tool.meta, tool.extra], MAX_FOREIGN_DEPTH):
            return True
        _log.warning("%s: the tool %.80s is left out: its schema is nested too deeply", self.name, tool.name)
        return False

    def _permitted(self, name: str, permit: Permit | None) -> Entry:
        """Return the entry of a tool; a restarted server may list another tool under the same name."""
        entry = self._entry(name)
        if permit is not None:
            permit.require(name, entry.fingerprint, entry.fingerprint)
        return entry

    def _entry(self, name: str) -> Entry:
        found = self._by_name.get(name)
        if found is None:
            raise UnknownToolError(name)
        return found

    def _with_server_name(self, error: UpstreamError, *, lost: bool) -> UpstreamError:
        message = f"{self.name}: {error.message}" if error.details.get("malformed") else error.message
        text = f"{self.name} stopped during the call; it is being restarted" if lost else message
        return UpstreamError(text, **{**error.details, "uncertain": lost})

    def _on_failure(self, why: str) -> None:
        self._status.error = why
        # With an earlier list the tools stay listed, and calls wait for the reconnect.
        self._set_state("stale" if self._entries else "failed")
        self._first_attempt_done.set()
        if self.settings.drop_when_down:
            self._changed("tools")

    def _set_state(self, state: State) -> None:
        if state == "active":
            self._status.error = ""
        self._status.state = state
        self._status.since = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        self._state_changed(self.name)

    def _on_list_changed(self, kind: ListKind) -> None:
        if kind == "tools":
            self._relist.set()
        else:
            self._changed(kind)

    def _on_stderr(self, line: str) -> None:
        self._status.stderr.append(line)


def _offered(tool: Tool, name: str, server: str) -> Tool:
    return replace(with_address(tool, server), name=name, aliases=())


def _selected(tool: str, settings: BackendSettings) -> bool:
    included = not settings.include or _matches(tool, settings.include)
    override = settings.overrides.get(tool)
    return included and not _matches(tool, settings.exclude) and not (override and override.hidden)


def _matches(tool: str, selection: Selection) -> bool:
    return any(fnmatchcase(tool, glob) for glob in (*selection.operations, *selection.paths, *selection.methods))
