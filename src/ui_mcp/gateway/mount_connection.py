"""What a connection to a mounted server offers; saved mounts; and labels on what the servers ask the user."""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Protocol

import anyio
from platformdirs import user_data_path

from ui_mcp.account_seal import is_sealed, seal
from ui_mcp.errors import DiskError
from ui_mcp.files import PRIVATE, write_atomic
from ui_mcp.gateway.config.settings import BackendSettings
from ui_mcp.gateway.sanitize import escape_control
from ui_mcp.jsontypes import Json, JsonObject, canonical
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.log import logger
from ui_mcp.toolkit.announcements import ListKind
from ui_mcp.toolkit.resources import Resource, ResourceContent, ResourceTemplate
from ui_mcp.toolkit.tool import Call, InputNeeded, Tool, ToolResult
from ui_mcp.validation import InvalidDataError, read, read_json, to_json

if TYPE_CHECKING:
    from ui_mcp.mcp_client.tasks import UpstreamTask
    from ui_mcp.mcp_client.transport import AskToSignIn


class Connection(Protocol):
    """A connected MCP server."""

    lost: anyio.Event

    @property
    def notes(self) -> Sequence[str]:
        """Notes on malformed parts of its lists that were left out or repaired."""
        ...

    @property
    def name(self) -> str:
        """The name that the server reports."""
        ...

    @property
    def instructions(self) -> str | None:
        """The server's instructions for agents."""
        ...

    def offers(self, kind: ListKind) -> bool:
        """Return whether the server has the capability for this kind of list."""
        ...

    async def set_log_level(self, level: str) -> None:
        """Ask for log messages from a level on."""
        ...

    async def ping(self) -> None:
        """Check that the server answers.

        Raises:
            UiMcpError: it does not.
        """
        ...

    async def tools(self, call: Call) -> Sequence[Tool]: ...

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult: ...

    async def task_changed(self, task: "UpstreamTask", call: Call) -> ToolResult | None:
        """Return the result of a task that the server began, None while it still runs."""
        ...

    async def cancel_task(self, task_id: str) -> None: ...

    async def resources(self, call: Call) -> Sequence[Resource]: ...

    async def templates(self, call: Call) -> Sequence[ResourceTemplate]: ...

    async def read(self, uri: str, call: Call) -> Sequence[ResourceContent]: ...

    async def prompts(self, call: Call) -> Sequence[JsonObject]: ...

    async def get(self, name: str, arguments: Mapping[str, str], call: Call) -> JsonObject:
        """Return the messages of a prompt."""
        ...

    async def complete(self, reference: JsonObject, argument: JsonObject, call: Call) -> JsonObject: ...

    async def subscribe(self, uri: str) -> None: ...

    async def unsubscribe(self, uri: str) -> None: ...


@dataclass(frozen=True, slots=True)
class MountHandlers:
    """Callbacks for what a mounted server reports."""

    list_changed: Callable[[ListKind], None]
    resource_updated: Callable[[str, JsonObject | None], None]
    stderr: Callable[[str], None]
    logged: Callable[[JsonObject], None] = lambda _: None
    ending: Callable[[], bool] = lambda: False
    """Returns whether the gateway is shutting down; child processes then get less time to exit."""
    sign_in: "AskToSignIn | None" = None
    """Lets the person sign in; None opens their browser each time."""


Connect = Callable[[BackendSettings, MountHandlers], AbstractAsyncContextManager[Connection]]
"""Connects to a server for the length of a block; raises MountError if that fails."""

_ELICIT = "elicitation/create"


def label_call(call: Call, server: str) -> Call:
    """Return the call with its requests to the client's user labelled with the server's name."""
    ask = call.ask_client
    if ask is None:
        return call

    async def asked(method: str, params: JsonObject) -> JsonObject:
        return await ask(method, _labelled(method, params, server))

    return replace(call, ask_client=asked)


def label_result(result: ToolResult, server: str) -> ToolResult:
    """Return the result with its questions to the user labelled with the server's name."""
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
    # Without the label a server's question could pass for one of the gateway's own.
    return {**params, "message": f"The server {server} asks: {escape_control(str(params.get('message', '')))}"}


_log = logger("gateway.mounts")


class SavedMounts:
    """The servers mounted at run time, in a file of mode 0600: environments and headers may hold secrets."""

    def __init__(self, file: Path) -> None:
        self._file = file.absolute()
        self._changing = Lock()
        """Held from read to write: servers may be mounted concurrently, each in its own thread."""

    def load(self) -> Sequence[BackendSettings]:
        """Return the saved servers; none, with a warning, if the file is damaged or another account wrote it."""
        try:
            saved = read_json(JsonObject, self._file.read_bytes())
            if not self._is_ours(saved):
                _log.warning("%s was not written by this account: its servers are not mounted", self._file)
                return ()
            return read(list[BackendSettings], saved["servers"])
        except FileNotFoundError:
            return ()
        except (OSError, InvalidDataError, KeyError) as error:
            _log.warning("%s cannot be read, its servers are not mounted: %s", self._file, error)
            return ()

    def add(self, settings: BackendSettings) -> None:
        with self._changing:
            others = [mount for mount in self.load() if mount.name != settings.name]
            self._save([*others, settings])

    def remove(self, name: str) -> None:
        with self._changing:
            held = self.load()
            left = [mount for mount in held if mount.name != name]
            if len(left) != len(held):
                self._save(left)

    def _save(self, mounts: Sequence[BackendSettings]) -> None:
        try:
            self._write(mounts)
        except OSError as error:
            raise DiskError(f"Cannot keep the mounted servers in {self._file}", error) from error

    def _write(self, mounts: Sequence[BackendSettings]) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        servers = [to_json(mount) for mount in mounts]
        saved = {"servers": servers, "seal": seal(self._file, canonical(servers))}
        write_atomic(self._file, json.dumps(saved, indent=1).encode(), mode=PRIVATE)

    def _is_ours(self, saved: JsonObject) -> bool:
        # Only a data directory elsewhere can come with a repository and name commands to run.
        if self._file.is_relative_to(user_data_path("nlui")):
            return True
        return is_sealed(saved.get("seal"), self._file, canonical(saved["servers"]))
