"""One API as a source of tools: lists its operations, and hands calls to what sends them."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Protocol
from urllib.parse import urlsplit

from ui_mcp.errors import ConfigError, UnknownToolError
from ui_mcp.gateway.config.settings import TargetSettings
from ui_mcp.gateway.openapi.auth import Credentials
from ui_mcp.gateway.openapi.model import Api, Operation
from ui_mcp.gateway.openapi.tools import Tools, build_tools
from ui_mcp.gateway.sanitize import SecretMasker
from ui_mcp.gateway.source import Entry, Health, Permit, Preview, State
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.tool import Call, ToolResult


class Caller(Protocol):
    """Previews and sends calls of one API's operations."""

    def is_dry_run(self, name: str, arguments: JsonObject, call: Call) -> bool: ...

    async def preview(self, name: str, arguments: JsonObject, call: Call) -> Preview: ...

    async def call(self, name: str, arguments: JsonObject, call: Call, permit: Permit | None) -> ToolResult: ...


class Target:
    """Lists and calls the operations of one API; `adopt` may replace its document while calls run."""

    def __init__(
        self,
        settings: TargetSettings,
        credentials: Credentials,
        masker: SecretMasker,
        open_caller: Callable[["Target"], Caller],
        budget: int = 4_000,
    ) -> None:
        self.settings = settings
        self.credentials = credentials
        self.masker = masker
        self._open_caller = open_caller
        self._budget = budget
        self._tools = Tools()
        self._api: Api | None = None
        self._entries: dict[str, Entry] = {}
        self.error = ""
        self.stale = False

    @property
    def name(self) -> str:
        """The name of the target, which prefixes its tools."""
        return self.settings.name

    @property
    def api(self) -> Api | None:
        """The current document; None until one could be read."""
        return self._api

    def tools_of(self, api: Api) -> Tools:
        """Return the tools of a document, which are not offered yet."""
        fresh = build_tools(self.settings, api, self._budget)
        return replace(fresh, entries=tuple(self._with_server(entry, fresh, api) for entry in fresh.entries))

    def adopt(
        self, api: Api, tools: Tools | None = None, held: frozenset[str] = frozenset(), *, stale: bool = False
    ) -> bool:
        """Replace the document and return whether the listed tools changed; those that are `held` are not listed."""
        fresh = tools or self.tools_of(api)
        offered = tuple(entry for entry in fresh.entries if entry.name not in held)
        fresh = replace(fresh, entries=offered)
        # Compare whole entries: the policy also depends on method, path and server, which tools do not show.
        changed = fresh.entries != self._tools.entries
        self.credentials.adopt(api.schemes)
        self.masker.add(self.credentials.secrets())
        self._api, self._tools = api, fresh
        self._entries = {entry.name: entry for entry in fresh.entries}
        self.error, self.stale = "", stale
        return changed

    def entries(self) -> Sequence[Entry]:
        return self._tools.entries

    def health(self) -> Health:
        state: State = "stale" if self.stale else "active" if self._api else "failed" if self.error else "pending"
        where = self.settings.base_url or (self._api.location if self._api else self.settings.spec)
        return Health(self.name, "target", state, len(self._tools.entries), self.error, where=where)

    def instructions(self) -> str:
        """Return one line for the server's instructions."""
        if self._api is None:  # its tools are not known yet
            return f"{self.name}: {self.settings.description or 'an HTTP API'}"
        return f"{self.name}: {self.settings.description or self._api.title} ({len(self._tools.entries)} tools)"

    async def describe(self, name: str) -> JsonObject:
        """Return the full input schema and the document's description of a tool."""
        operation = self.operation(name)
        return {
            "name": name,
            "method": operation.method,
            "path": operation.path,
            "summary": operation.summary,
            "description": operation.description,
            "tags": list(operation.tags),
            "deprecated": operation.deprecated,
            "security": [list(alternative) for alternative in operation.security],
            "accepts": list(operation.accepts),
            "notes": [note.to_json() for note in operation.notes],
            "input_schema": operation.input_schema,
        }

    def defaults(self, name: str) -> JsonObject:
        """Return the configured default arguments of a tool."""
        return self._tools.defaults.get(name, {})

    @cached_property
    def _caller(self) -> Caller:
        return self._open_caller(self)

    def is_dry_run(self, name: str, arguments: JsonObject, call: Call) -> bool:
        """Return whether a call asks for its preview only.

        Raises:
            InvalidArgumentsError: the flag is not a boolean, or argument and metadata contradict each other.
        """
        return name not in self._tools.builtins and self._caller.is_dry_run(name, arguments, call)

    async def preview(self, name: str, arguments: JsonObject, call: Call) -> Preview:
        """Return the request that a call would send, without using the network."""
        if name in self._tools.builtins:
            return Preview(None, self.entry(name).fingerprint)
        return await self._caller.preview(name, arguments, call)

    async def call(self, name: str, arguments: JsonObject, call: Call, permit: Permit | None = None) -> ToolResult:
        """Send the request of a call and convert the response; `permit` binds it to what was approved."""
        builtin = self._tools.builtins.get(name)
        if builtin is None:
            return await self._caller.call(name, arguments, call, permit)
        entry = self.entry(name)
        if permit is not None:
            permit.require(name, entry.fingerprint, entry.fingerprint)
        result = builtin(self.credentials, self._api, arguments, call)
        self.masker.add(self.credentials.secrets())
        return result

    def entry(self, name: str) -> Entry:
        """Return a listed tool.

        Raises:
            UnknownToolError: there is no such tool.
        """
        found = self._entries.get(name)
        if found is None:
            raise UnknownToolError(name)
        return found

    def _with_server(self, entry: Entry, tools: Tools, api: Api) -> Entry:
        """Return the entry with its server; unchanged if no server is known."""
        operation = tools.operations.get(entry.name)
        try:
            return replace(entry, server=self.base(operation, api)) if operation else entry
        except ConfigError:
            return entry

    def operation(self, name: str) -> Operation:
        """Return the operation of a listed tool.

        Raises:
            UnknownToolError: there is no such tool.
        """
        operation = self._tools.operations.get(name)
        if operation is None:
            raise UnknownToolError(name)
        return operation

    def base(self, operation: Operation, api: Api | None) -> str:
        """Return the server of an operation; a configured base URL on another host replaces the document's servers."""
        servers = api.servers if api else ()
        base = self.settings.base_url
        if base:
            same_host = bool(servers) and urlsplit(base).netloc == urlsplit(servers[0]).netloc
            honoured = operation.servers and (same_host or self.settings.servers == "honour")
            return operation.servers[0] if honoured else base
        chosen = (*operation.servers, *servers)
        absolute = next((server for server in chosen if urlsplit(server).scheme in {"http", "https"}), None)
        if absolute is None:
            raise ConfigError(f"Target {self.name} names no server\nSet base_url for it in the configuration.")
        return absolute
