"""Calls of one API's operations: checks arguments, builds and sends the request, converts the response."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from ui_mcp.errors import InvalidArgumentsError
from ui_mcp.gateway.openapi.arguments import ArgumentCheck, Checked
from ui_mcp.gateway.openapi.auth import Attached
from ui_mcp.gateway.openapi.files import Files
from ui_mcp.gateway.openapi.model import Answer, Api, FileData, Operation, Outgoing
from ui_mcp.gateway.openapi.network import Network
from ui_mcp.gateway.openapi.payload import EncodingOptions
from ui_mcp.gateway.openapi.request import build, shown
from ui_mcp.gateway.openapi.response import MAX_PAGES, NextArguments, NextUrl, Responses, Shaping, next_page
from ui_mcp.gateway.openapi.schemas import schema_mismatch
from ui_mcp.gateway.openapi.send import Sender
from ui_mcp.gateway.openapi.target import Target
from ui_mcp.gateway.results import Limits, ResultStore, rows_of
from ui_mcp.gateway.source import ChangedError, Permit, Preview
from ui_mcp.jsontypes import Json, JsonObject, loads
from ui_mcp.toolkit.tool import Call, ToolResult

AGENT = "ui-mcp"
"""The User-Agent of all requests."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What sends the requests of one API and converts the responses."""

    sender: Sender
    files: Files
    responses: Responses
    limits: Limits = Limits()


@dataclass(frozen=True, slots=True)
class _Prepared:
    operation: Operation
    fingerprint: str
    checked: Checked
    ready: JsonObject
    """The validated arguments with file contents."""
    outgoing: Outgoing
    attached: Attached = field(default_factory=Attached)


class OperationCaller:
    """Previews and sends calls of a target, by the document that the target has at that moment."""

    def __init__(self, target: Target, parts: Parts) -> None:
        settings = target.settings
        self._target = target
        self._parts = parts
        self._settings = settings
        self._encoding = EncodingOptions(
            settings.array_format, settings.form_nested == "deepObject", frozenset(settings.path_slashes)
        )
        self._checks: dict[str, ArgumentCheck] = {}
        self._checked_api: Api | None = None

    def is_dry_run(self, name: str, arguments: JsonObject, call: Call) -> bool:
        return self._check(name).is_dry_run({**self._target.defaults(name), **arguments}, call.meta)

    async def preview(self, name: str, arguments: JsonObject, call: Call) -> Preview:
        prepared = await self._prepare(name, arguments, call)
        attached = self._target.credentials.sketch(prepared.operation, call.principal, call.agent)
        return Preview(shown(prepared.outgoing, attached, self._target.masker), prepared.outgoing.digest)

    async def call(self, name: str, arguments: JsonObject, call: Call, permit: Permit | None) -> ToolResult:
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
        operation, fingerprint = self._target.operation(name), self._target.entry(name).fingerprint
        defaults = self._target.defaults(name)
        checked = self._check(name).check({**defaults, **arguments}, call.meta)
        self._require_read_only_pages(name, operation, checked)
        base = self._target.base(
            operation, self._target.api
        )  # before the first await: the document may be replaced meanwhile
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
        attached = await self._target.credentials.attach(prepared.operation, call.principal, call.agent)
        self._target.masker.add(attached.secrets)
        return replace(prepared, attached=attached)

    def _build(self, operation: Operation, ready: JsonObject, base: str) -> Outgoing:
        outgoing = build(operation, ready, base, self._encoding)
        return replace(outgoing, headers=(*outgoing.headers, *self._settings.headers.items()))

    def _require_read_only_pages(self, name: str, operation: Operation, checked: Checked) -> None:
        """Raise if a call would follow pages with an operation that may change something each time."""
        pages = checked.options.get("_pages")
        if pages in (None, 0, 1) or self._target.entry(name).tool.annotations.read_only:
            return
        raise InvalidArgumentsError(
            f"_pages: {operation.method} {operation.path} would be sent once per page, and may change something "
            "each time; nothing was sent\n"
            "Leave _pages out and ask for one page after the other. If it only reads, say so in the configuration: "
            f"overrides: {{{name}: {{annotations: {{readOnlyHint: true}}}}}}"
        )

    def _check(self, name: str) -> ArgumentCheck:
        if self._checked_api is not self._target.api:
            self._checked_api, self._checks = self._target.api, {}
        if name not in self._checks:
            self._checks[name] = ArgumentCheck(self._target.operation(name), self._settings.validate_arguments)
        return self._checks[name]

    async def _send(self, prepared: _Prepared, call: Call) -> Answer:
        principal = call.principal
        answer = await self._parts.sender.send(prepared.outgoing, prepared.attached, principal)
        if answer.status == 401 and prepared.attached.is_renewable:
            # The token may have been revoked before its expiry: renew it once.
            attached = await self._target.credentials.attach(prepared.operation, principal, call.agent, renew=True)
            self._target.masker.add(attached.secrets)
            answer = await self._parts.sender.send(prepared.outgoing, attached, principal)
        return answer

    async def _result(self, prepared: _Prepared, answer: Answer, call: Call) -> ToolResult:
        options = prepared.checked.options
        limits = self._parts.limits
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


def open_caller(target: Target, network: Network, store: ResultStore, limits: Limits) -> OperationCaller:
    """Return what sends the calls of a target over these connections."""
    settings = target.settings
    roots = tuple(Path(root).expanduser() for root in settings.files.roots)
    parts = Parts(
        sender=Sender(network.client, AGENT, settings.concurrency),
        files=Files(roots, network.download),
        responses=Responses(store, target.masker),
        limits=limits,
    )
    return OperationCaller(target, parts)
