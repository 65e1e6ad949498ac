"""One API as a source of tools: lists its operations, and previews and runs calls."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from ui_mcp.errors import ConfigError, InvalidArgumentsError, UnknownToolError
from ui_mcp.gateway.config.settings import TargetSettings
from ui_mcp.gateway.openapi.arguments import ArgumentCheck, Checked
from ui_mcp.gateway.openapi.auth import Attached, Credentials
from ui_mcp.gateway.openapi.files import Files
from ui_mcp.gateway.openapi.model import Answer, Api, FileData, Operation, Outgoing
from ui_mcp.gateway.openapi.payload import EncodingOptions
from ui_mcp.gateway.openapi.request import build, shown
from ui_mcp.gateway.openapi.response import MAX_PAGES, Limits, NextArguments, NextUrl, Responses, Shaping, next_page
from ui_mcp.gateway.openapi.schemas import schema_mismatch
from ui_mcp.gateway.openapi.send import Sender
from ui_mcp.gateway.openapi.tools import Tools, build_tools
from ui_mcp.gateway.results import rows_of
from ui_mcp.gateway.sanitize import SecretMasker
from ui_mcp.gateway.source import ChangedError, Entry, Health, Permit, Preview, State
from ui_mcp.jsontypes import Json, JsonObject, loads
from ui_mcp.toolkit.tool import Call, ToolResult


@dataclass(frozen=True, slots=True)
class Parts:
    """The collaborators of a target."""

    credentials: Credentials
    sender: Sender
    files: Files
    responses: Responses
    masker: SecretMasker


@dataclass(frozen=True, slots=True)
class _Prepared:
    operation: Operation
    fingerprint: str
    checked: Checked
    ready: JsonObject
    """The validated arguments with file contents."""
    outgoing: Outgoing
    attached: Attached = field(default_factory=Attached)


class Target:
    """Lists and calls the operations of one API; `adopt` may replace its document while calls run."""

    def __init__(self, settings: TargetSettings, parts: Parts, limits: Limits = Limits(), budget: int = 4_000) -> None:
        self._settings = settings
        self._parts = parts
        self._limits = limits
        self._budget = budget
        self._encoding = EncodingOptions(
            settings.array_format, settings.form_nested == "deepObject", frozenset(settings.path_slashes)
        )
        self._tools = Tools()
        self._api: Api | None = None
        self._checks: dict[str, ArgumentCheck] = {}
        self._entries: dict[str, Entry] = {}
        self.error = ""
        self.stale = False

    @property
    def name(self) -> str:
        """The name of the target, which prefixes its tools."""
        return self._settings.name

    @property
    def api(self) -> Api | None:
        """The current document; None until one could be read."""
        return self._api

    def adopt(self, api: Api, *, stale: bool = False) -> bool:
        """Replace the document and return whether the listed tools changed."""
        fresh = build_tools(self._settings, api, self._budget)
        fresh = replace(fresh, entries=tuple(self._with_server(entry, fresh, api) for entry in fresh.entries))
        # Compare whole entries: the policy also depends on method, path and server, which tools do not show.
        changed = fresh.entries != self._tools.entries
        self._parts.credentials.adopt(api.schemes)
        self._parts.masker.add(self._parts.credentials.secrets())
        self._api, self._tools, self._checks = api, fresh, {}
        self._entries = {entry.name: entry for entry in fresh.entries}
        self.error, self.stale = "", stale
        return changed

    def entries(self) -> Sequence[Entry]:
        return self._tools.entries

    def health(self) -> Health:
        state: State = "stale" if self.stale else "active" if self._api else "failed" if self.error else "pending"
        where = self._settings.base_url or (self._api.location if self._api else self._settings.spec)
        return Health(self.name, "target", state, len(self._tools.entries), self.error, where=where)

    def instructions(self) -> str:
        """Return one line for the server's instructions."""
        if self._api is None:  # its tools are not known yet
            return f"{self.name}: {self._settings.description or 'an HTTP API'}"
        return f"{self.name}: {self._settings.description or self._api.title} ({len(self._tools.entries)} tools)"

    async def describe(self, name: str) -> JsonObject:
        """Return the full input schema and the document's description of a tool."""
        operation = self._operation(name)
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

    def is_dry_run(self, name: str, arguments: JsonObject, call: Call) -> bool:
        """Return whether a call asks for its preview only.

        Raises:
            InvalidArgumentsError: the flag is not a boolean, or argument and metadata contradict each other.
        """
        if name in self._tools.builtins:
            return False
        return self._check(name).is_dry_run({**self._tools.defaults.get(name, {}), **arguments}, call.meta)

    async def preview(self, name: str, arguments: JsonObject, call: Call) -> Preview:
        """Return the request that a call would send, without using the network."""
        if name in self._tools.builtins:
            return Preview(None, self._entry(name).fingerprint)
        prepared = await self._prepare(name, arguments, call)
        attached = self._parts.credentials.sketch(prepared.operation, call.principal, call.agent)
        return Preview(shown(prepared.outgoing, attached, self._parts.masker), prepared.outgoing.digest)

    async def call(self, name: str, arguments: JsonObject, call: Call, permit: Permit | None = None) -> ToolResult:
        """Send the request of a call and convert the response; `permit` binds it to what was approved."""
        builtin = self._tools.builtins.get(name)
        if builtin is not None:
            entry = self._entry(name)
            if permit is not None:
                permit.require(name, entry.fingerprint, entry.fingerprint)
            result = builtin(self._parts.credentials, self._api, arguments, call)
            self._parts.masker.add(self._parts.credentials.secrets())
            return result
        if self.is_dry_run(name, arguments, call):
            raise ChangedError(f"{name} became a dry run after the policy check; nothing was sent")
        prepared = await self._prepare(name, arguments, call)
        if permit is not None:
            permit.require(name, prepared.fingerprint, prepared.outgoing.digest)
        prepared = await self._fetch_parts(prepared, call)
        answer = await self._send(prepared, call)
        return await self._result(prepared, answer, call)

    async def _prepare(self, name: str, arguments: JsonObject, call: Call) -> _Prepared:
        """Build the request from the current document; uses no network."""
        operation, fingerprint = self._operation(name), self._entry(name).fingerprint
        defaults = self._tools.defaults.get(name, {})
        checked = self._check(name).check({**defaults, **arguments}, call.meta)
        self._require_read_only_pages(name, operation, checked)
        base = self._base(operation, self._api)  # before the first await: the document may be replaced meanwhile
        ready = checked.arguments
        if operation.body is not None and "body" in ready:
            variant = operation.body.variant(ready.get("content_type"))
            body = await self._parts.files.read(variant, ready["body"])
            own = body.content_type if isinstance(body, FileData) else None
            chosen = {"content_type": own} if operation.body.allows(own) and "content_type" not in ready else {}
            ready = {**ready, "body": body, **chosen}
        return _Prepared(operation, fingerprint, checked, ready, self._build(operation, ready, base))

    async def _fetch_parts(self, prepared: _Prepared, call: Call) -> _Prepared:
        """Fetch what needs the network and therefore permission: files given by URL, and credentials."""
        if "body" in prepared.ready:
            ready = {**prepared.ready, "body": await self._parts.files.downloaded(prepared.ready["body"])}
            outgoing = self._build(prepared.operation, ready, prepared.outgoing.base)
            prepared = replace(prepared, ready=ready, outgoing=outgoing)
        attached = await self._parts.credentials.attach(prepared.operation, call.principal, call.agent)
        self._parts.masker.add(attached.secrets)
        return replace(prepared, attached=attached)

    def _build(self, operation: Operation, ready: JsonObject, base: str) -> Outgoing:
        outgoing = build(operation, ready, base, self._encoding)
        return replace(outgoing, headers=(*outgoing.headers, *self._settings.headers.items()))

    def _require_read_only_pages(self, name: str, operation: Operation, checked: Checked) -> None:
        """Raise if a call would follow pages with an operation that may change something each time."""
        pages = checked.options.get("_pages")
        if pages in (None, 0, 1) or self._entry(name).tool.annotations.read_only:
            return
        raise InvalidArgumentsError(
            f"_pages: {operation.method} {operation.path} would be sent once per page, and may change something "
            "each time; nothing was sent\n"
            "Leave _pages out and ask for one page after the other. If it only reads, say so in the configuration: "
            f"overrides: {{{name}: {{annotations: {{readOnlyHint: true}}}}}}"
        )

    def _check(self, name: str) -> ArgumentCheck:
        if name not in self._checks:
            self._checks[name] = ArgumentCheck(self._operation(name), self._settings.validate_arguments)
        return self._checks[name]

    def _entry(self, name: str) -> Entry:
        found = self._entries.get(name)
        if found is None:
            raise UnknownToolError(name)
        return found

    def _with_server(self, entry: Entry, tools: Tools, api: Api) -> Entry:
        """Return the entry with its server; unchanged if no server is known."""
        operation = tools.operations.get(entry.name)
        try:
            return replace(entry, server=self._base(operation, api)) if operation else entry
        except ConfigError:
            return entry

    def _operation(self, name: str) -> Operation:
        operation = self._tools.operations.get(name)
        if operation is None:
            raise UnknownToolError(name)
        return operation

    def _base(self, operation: Operation, api: Api | None) -> str:
        """Return the server of an operation; a configured base URL on another host replaces the document's servers."""
        servers = api.servers if api else ()
        base = self._settings.base_url
        if base:
            same_host = bool(servers) and urlsplit(base).netloc == urlsplit(servers[0]).netloc
            honoured = operation.servers and (same_host or self._settings.servers == "honour")
            return operation.servers[0] if honoured else base
        chosen = (*operation.servers, *servers)
        absolute = next((server for server in chosen if urlsplit(server).scheme in {"http", "https"}), None)
        if absolute is None:
            raise ConfigError(f"Target {self.name} names no server\nSet base_url for it in the configuration.")
        return absolute

    async def _send(self, prepared: _Prepared, call: Call) -> Answer:
        principal = call.principal
        answer = await self._parts.sender.send(prepared.outgoing, prepared.attached, principal)
        if answer.status == 401 and prepared.attached.renewable:
            # The token may have been revoked before its expiry: renew it once.
            attached = await self._parts.credentials.attach(prepared.operation, principal, call.agent, renew=True)
            self._parts.masker.add(attached.secrets)
            answer = await self._parts.sender.send(prepared.outgoing, attached, principal)
        return answer

    async def _result(self, prepared: _Prepared, answer: Answer, call: Call) -> ToolResult:
        options = prepared.checked.options
        limits = self._limits
        rows = options.get("_max_rows")
        shaping = Shaping(
            fields=tuple(options["_fields"]) if isinstance(options.get("_fields"), list) else (),
            limits=Limits(limits.max_bytes, rows) if isinstance(rows, int) and rows > 0 else limits,
            raw=bool(options.get("_raw")),
            remarks=prepared.checked.remarks,
            missing=prepared.attached.missing,
        )
        pages = options.get("_pages")
        if isinstance(pages, int) and pages > 1 and answer.status < 400:
            return await self._paged(prepared, answer, shaping, min(pages, MAX_PAGES), call)
        result = await self._parts.responses.result(answer, shaping, call.principal)
        return _with_mismatches(result, prepared.operation, answer)

    async def _paged(self, prepared: _Prepared, answer: Answer, shaping: Shaping, pages: int, call: Call) -> ToolResult:
        """Follow the next pages, up to `pages` in all, and join their rows."""
        arguments, rows, count = prepared.ready, [], 0
        following: Json = None
        value: Json = None
        while True:
            try:
                value = loads(answer.body)
            except ValueError:
                break
            found = rows_of(value)
            if found is None or answer.status >= 400:
                break
            rows += found[1]
            count += 1
            by_link = isinstance(following, NextUrl)
            following = next_page(prepared.operation, arguments, answer, value)
            if by_link and not isinstance(following, NextUrl):
                following = None  # an API that links its pages gives no link on the last one
            # The limit on rows bounds the memory of one call.
            if following is None or count >= pages or len(rows) > 100_000:
                break
            await call.progress(count, pages, f"page {count}")
            if isinstance(following, NextArguments):
                arguments = {**arguments, **following.changed}
                outgoing = self._build(prepared.operation, arguments, prepared.outgoing.base)
            else:
                outgoing = replace(prepared.outgoing, base=following.url, path="", query=())
            answer = await self._send(replace(prepared, outgoing=outgoing), call)
        if not count:
            return await self._parts.responses.result(answer, shaping, call.principal)
        joined: JsonObject = {"result": rows, "pages": count, "next": _shown_next(following)}
        return await self._parts.responses.json(joined, shaping, call.principal, {})


def _shown_next(following: Json) -> Json:
    match following:
        case NextUrl(url=url):
            return url
        case NextArguments(changed=changed):
            return changed
        case _:
            return None


def _with_mismatches(result: ToolResult, operation: Operation, answer: Answer) -> ToolResult:
    """Add the differences between a response and its documented schema to the result's metadata."""
    if operation.output_schema is None or result.is_error or result.structured is None:
        return result
    try:
        found = schema_mismatch(operation.output_schema, loads(answer.body))
    except ValueError:
        return result
    return replace(result, meta={**(result.meta or {}), "ui-mcp/schema_drift": list(found)}) if found else result
