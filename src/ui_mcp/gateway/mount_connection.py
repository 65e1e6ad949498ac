"""Connects mounts, remembers them, labels their questions."""

import json
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Protocol

import anyio
from platformdirs import user_data_path
from pydantic import TypeAdapter, ValidationError

from ui_mcp.account_seal import is_sealed, seal
from ui_mcp.errors import DiskError, MountError
from ui_mcp.gateway.config.settings import BackendSettings
from ui_mcp.gateway.sanitize import escape_control
from ui_mcp.jsontypes import Json, JsonObject, canonical
from ui_mcp.log import logger
from ui_mcp.toolkit.announcements import ListKind
from ui_mcp.toolkit.resources import Resource, ResourceContent, ResourceTemplate
from ui_mcp.toolkit.tool import Call, InputNeeded, Tool, ToolResult


class Connection(Protocol):
    """A server that answers."""

    lost: anyio.Event

    @property
    def notes(self) -> Sequence[str]:
        """What of its lists was left out or mended because it was malformed."""
        ...

    @property
    def name(self) -> str:
        """The name the server gives itself."""
        ...

    @property
    def instructions(self) -> str | None:
        """What the server tells agents about itself."""
        ...

    def offers(self, kind: ListKind) -> bool:
        """Say whether the server has such things at all."""
        ...

    async def ping(self) -> None:
        """See whether the server is still there."""
        ...

    async def tools(self, call: Call) -> Sequence[Tool]:
        """Return its tools."""
        ...

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        """Call a tool."""
        ...

    async def resources(self, call: Call) -> Sequence[Resource]:
        """Return its resources."""
        ...

    async def templates(self, call: Call) -> Sequence[ResourceTemplate]:
        """Return its templates."""
        ...

    async def read(self, uri: str, call: Call) -> Sequence[ResourceContent]:
        """Read a resource."""
        ...

    async def prompts(self, call: Call) -> Sequence[JsonObject]:
        """Return its prompts."""
        ...

    async def get(self, name: str, arguments: Mapping[str, str], call: Call) -> JsonObject:
        """Return a prompt."""
        ...

    async def complete(self, reference: JsonObject, argument: JsonObject, call: Call) -> JsonObject:
        """Complete an argument."""
        ...

    async def subscribe(self, uri: str) -> None:
        """Ask to be told of changes."""
        ...

    async def unsubscribe(self, uri: str) -> None:
        """Stop being told."""
        ...


@dataclass(frozen=True, slots=True)
class MountHandlers:
    """Whom a connection tells what its server says."""

    list_changed: Callable[[ListKind], None]
    resource_updated: Callable[[str, JsonObject | None], None]
    stderr: Callable[[str], None]
    ending: Callable[[], bool] = lambda: False
    """Says whether the whole gateway ends, so that a child process gets less time."""


Connect = Callable[[BackendSettings, MountHandlers], AbstractAsyncContextManager[Connection]]
"""Connects to a server for the length of a block; raises MountError when it cannot."""

_ELICIT = "elicitation/create"


def label_call(call: Call, server: str) -> Call:
    """Return the call with a way to its client that tells who asks."""
    ask = call.ask_client
    if ask is None:
        return call

    async def asked(method: str, params: JsonObject) -> JsonObject:
        return await ask(method, _labelled(method, params, server))

    return replace(call, ask_client=asked)


def label_result(result: ToolResult, server: str) -> ToolResult:
    """Return the result with its questions marked."""
    if result.needs is None:
        return result
    requests = {key: _request(one, server) for key, one in result.needs.requests.items()}
    return replace(result, needs=InputNeeded(requests, result.needs.state))


def _request(one: Json, server: str) -> Json:
    if not isinstance(one, dict) or not isinstance(one.get("params"), dict):
        return one
    return {**one, "params": _labelled(str(one.get("method")), one["params"], server)}


def _labelled(method: str, params: JsonObject, server: str) -> JsonObject:
    if method != _ELICIT:
        return params
    return {**params, "message": f"The server {server} asks: {escape_control(str(params.get('message', '')))}"}


_log = logger("compositor.mounts")
_LIST = TypeAdapter(tuple[BackendSettings, ...])
_FILE = TypeAdapter(dict[str, Json])


class SavedMounts:
    """A small file of mode 0600, since environments and headers may hold secrets."""

    def __init__(self, file: Path) -> None:
        self._file = file.absolute()
        self._changing = Lock()
        """Held from reading to writing: several servers may be mounted at once, each in a thread of its own."""

    def load(self) -> Sequence[BackendSettings]:
        """Return what was mounted; a damaged file, or one that somebody else wrote, counts as none and is told."""
        try:
            kept = _FILE.validate_json(self._file.read_bytes())
            if not self._is_ours(kept):
                _log.warning("%s was not written by this account: its servers are not mounted", self._file)
                return ()
            return _LIST.validate_python(kept["servers"])
        except FileNotFoundError:
            return ()
        except (OSError, ValidationError, KeyError) as error:
            _log.warning("%s cannot be read, its servers are not mounted: %s", self._file, error)
            return ()

    def add(self, settings: BackendSettings) -> None:
        """Remember a server."""
        with self._changing:
            others = [one for one in self.load() if one.name != settings.name]
            self._save([*others, settings])

    def remove(self, name: str) -> None:
        """Forget a server."""
        with self._changing:
            held = self.load()
            left = [one for one in held if one.name != name]
            if len(left) != len(held):
                self._save(left)

    def _save(self, mounts: Sequence[BackendSettings]) -> None:
        try:
            self._write(mounts)
        except OSError as error:
            raise DiskError(f"Cannot keep the mounted servers in {self._file}", error) from error

    def _write(self, mounts: Sequence[BackendSettings]) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        servers = [one.model_dump(mode="json", exclude_defaults=True) for one in mounts]
        kept = {"servers": servers, "seal": seal(self._file, canonical(servers))}
        draft = self._file.with_suffix(".new")
        draft.unlink(missing_ok=True)  # a link there would lead elsewhere
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
            json.dump(kept, stream, indent=1)
        draft.replace(self._file)

    def _is_ours(self, kept: JsonObject) -> bool:
        if self._file.is_relative_to(user_data_path("nlui")):
            return True
        return is_sealed(kept.get("seal"), self._file, canonical(kept["servers"]))


_MINIMAL = ("HOME", "LANG", "LOGNAME", "PATH", "SHELL", "TERM", "USER", "TMPDIR", "SYSTEMROOT")


def connector(secret_variables: frozenset[str] = frozenset()) -> Connect:
    """Return how mounts connect; children get our environment without the variables our secrets came from."""

    def connect(settings: BackendSettings, listeners: MountHandlers) -> AbstractAsyncContextManager[Connection]:
        return _connected(settings, listeners, secret_variables)

    return connect


@asynccontextmanager
async def _connected(
    settings: BackendSettings, listeners: MountHandlers, hidden: frozenset[str]
) -> AsyncIterator[Connection]:
    from ui_mcp.mcp_client.client import Options, connect
    from ui_mcp.mcp_client.server_process import FAST_SHUTDOWN, ShutdownTimeouts
    from ui_mcp.mcp_client.transport import Command, HttpUrl, SseUrl

    options = Options(
        call_seconds=settings.timeout_s,
        start_seconds=settings.start_timeout_s,
        list_changed=listeners.list_changed,
        resource_updated=listeners.resource_updated,
        stderr=listeners.stderr,
        roots=[_root(root) for root in settings.roots],
        shutdown_timeouts=lambda: FAST_SHUTDOWN if listeners.ending() else ShutdownTimeouts(),
    )
    if settings.command:
        command = Command(settings.command, settings.args, _environment(settings, hidden), settings.cwd)
        async with connect(command, options) as server:
            yield server
        return
    if settings.transport == "sse":
        async with connect(SseUrl(settings.url, settings.headers), options) as server:
            yield server
        return
    started = False
    try:
        async with connect(HttpUrl(settings.url, settings.headers), options) as server:
            started = True
            yield server
            return
    except MountError:
        if started or settings.transport == "http":
            raise
    # An older server answers the streamable transport with 400, 404 or 405.
    async with connect(SseUrl(settings.url, settings.headers), options) as server:
        yield server


def _root(given: str) -> str:
    return given if "://" in given else Path(given).expanduser().resolve().as_uri()


def _environment(settings: BackendSettings, hidden: frozenset[str]) -> dict[str, str]:
    names = _MINIMAL if settings.inherit_env == "minimal" else tuple(os.environ)
    inherited = {name: os.environ[name] for name in names if name in os.environ and name not in hidden}
    return inherited | settings.env
