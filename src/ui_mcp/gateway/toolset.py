"""The gateway's tools, in full or as the four that find and call all others."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal

from ui_mcp.errors import InvalidArgumentsError, MountError
from ui_mcp.fields import Limit
from ui_mcp.gateway.approvals.proposals import rule_of
from ui_mcp.gateway.catalog import unknown
from ui_mcp.gateway.config.settings import BackendSettings
from ui_mcp.gateway.openapi.bundle import shrunk
from ui_mcp.gateway.results import pick, trim
from ui_mcp.gateway.search.index import summary
from ui_mcp.gateway.service import GatewayService
from ui_mcp.gateway.source import health_json
from ui_mcp.jsontypes import Json, JsonObject, dumps
from ui_mcp.toolkit.functions import FunctionTool, FunctionToolset, NoArgs, tool
from ui_mcp.toolkit.tool import Annotations, Call, Tool, ToolResult, structured_result, text_result
from ui_mcp.validation import read

_READ_ONLY = Annotations(read_only=True, destructive=False, idempotent=True, open_world=False)

_MAX_SEARCH_CHARACTERS = 6_000

_MAX_DESCRIPTION_CHARACTERS = 20_000


@dataclass(frozen=True, slots=True)
class SearchArgs:
    """What to look for."""

    query: Annotated[str, "Words, e.g. 'create an issue'."]
    source: Annotated[str, "Only this API or server."] = ""
    method: Annotated[str, "Only this HTTP method."] = ""
    limit: Annotated[int, Limit(ge=1, le=30)] = 8


@tool("nlui__search", SearchArgs, title="Find tools", annotations=_READ_ONLY)
async def search(gateway: GatewayService, args: SearchArgs, call: Call) -> ToolResult:
    """Find tools of any API or server by words; the best come first. Call one with nlui__call or by its name."""
    await gateway.sources.ready()
    hits = await gateway.search(args.query, call.principal, limit=args.limit, source=args.source, method=args.method)
    found = [summary(hit.entry) for hit in hits]
    while len(found) > 1 and len(dumps(found)) > _MAX_SEARCH_CHARACTERS:
        found.pop()
    return structured_result({"tools": found})


@dataclass(frozen=True, slots=True)
class DescribeArgs:
    """Which tool."""

    name: Annotated[str, "The tool's listed name."]
    part: Annotated[str, "Only this property of its arguments, e.g. 'body.address'."] = ""


@tool("nlui__describe", DescribeArgs, title="Describe a tool", annotations=_READ_ONLY)
async def describe(gateway: GatewayService, args: DescribeArgs, call: Call) -> ToolResult:
    """Return the full input schema and documentation of a tool."""
    await gateway.sources.ready()
    full = await gateway.catalog.describe(args.name)
    if args.part:
        schema = full["input_schema"]
        full = {"name": args.name, "part": args.part, "schema": _part(schema, schema, args.part.split("."))}
    if len(dumps(full)) > _MAX_DESCRIPTION_CHARACTERS:
        key = "schema" if args.part else "input_schema"
        full = {**full, key: shrunk(full[key], _MAX_DESCRIPTION_CHARACTERS - 2_000), "cut": "ask again with part"}
    return structured_result(full)


def _part(node: Json, root: JsonObject, path: list[str]) -> JsonObject:
    for _ in range(20):  # bounded: references may form a cycle
        reference = node.get("$ref") if isinstance(node, dict) else None
        if not isinstance(reference, str):
            break
        node = root.get("$defs", {}).get(reference.removeprefix("#/$defs/"), {})
    if not path:
        return {**node, "$defs": root["$defs"]} if "$defs" in root and "$ref" in dumps(node) else dict(node)
    properties = node.get("properties", {})
    inner = properties.get(path[0]) or (node.get("items", {}).get("properties", {}) or {}).get(path[0])
    if inner is None:
        raise InvalidArgumentsError(f"part: no {path[0]!r} here; there are {', '.join(properties) or 'none'}")
    return _part(inner, root, path[1:])


@dataclass(frozen=True, slots=True)
class CallArgs:
    """What to call."""

    name: Annotated[str, "The tool's listed name."]
    arguments: Annotated[dict[str, Any], "Its arguments."] = field(default_factory=dict)


@tool("nlui__call", CallArgs, title="Call a tool", annotations=Annotations(open_world=True))
async def call_tool(gateway: GatewayService, args: CallArgs, call: Call) -> ToolResult:
    """Call any tool by its listed name, exactly as if it were called directly."""
    await gateway.sources.ready()
    return await gateway.enforcer.call(args.name, args.arguments, call)


@dataclass(frozen=True, slots=True)
class MoreArgs:
    """What to read on."""

    handle: Annotated[str, "From an answer that was cut."]
    offset: Annotated[int, "First row, or first character of a text.", Limit(ge=0)] = 0
    limit: Annotated[int, Limit(ge=1, le=1000)] = 100
    path: Annotated[str, "Path of the array to read, as in 'truncated'."] = ""
    fields: Annotated[list[str], "Paths to keep of each row."] = field(default_factory=list)


@tool("nlui__more", MoreArgs, title="Read on", annotations=_READ_ONLY)
async def more(gateway: GatewayService, args: MoreArgs, call: Call) -> ToolResult:
    """Read more rows, or more text, of an answer that was cut."""
    kept = await gateway.results.read(args.handle, call.principal)
    try:
        value = kept.json()
    except ValueError:
        text = kept.data.decode("utf-8", errors="replace")
        return text_result(text[args.offset : args.offset + 20_000])
    for key in [part for part in args.path.split(".") if part]:
        value = value[int(key)] if isinstance(value, list) else value[key]
    if not isinstance(value, list):
        return structured_result({"result": trim(value, gateway.settings.results.max_bytes, args.limit).value})
    rows = value[args.offset : args.offset + args.limit]
    rows = pick(rows, args.fields) if args.fields else rows
    shown = trim(rows, gateway.settings.results.max_bytes, args.limit).value
    following = args.offset + len(shown)
    return structured_result(
        {"result": shown, "total": len(value), "next_offset": following if following < len(value) else None}
    )


@dataclass(frozen=True, slots=True)
class ResultArgs:
    """Which approval."""

    approval_id: str
    wait_s: Annotated[float, "How long to wait for an answer.", Limit(ge=0, le=120)] = 0.0
    digest: Annotated[str, "The one that came with the id; needed after a reconnect."] = ""


@tool("approvals__result", ResultArgs, title="Fetch an approved call's result", annotations=_READ_ONLY)
async def approval_result(gateway: GatewayService, args: ResultArgs, call: Call) -> ToolResult:
    """Return what became of a call that had to wait for a person: its result, the refusal, or that it still waits."""
    return await gateway.enforcer.outcome(args.approval_id, args.wait_s, call, args.digest)


@tool("compositor__list_servers", NoArgs, title="List mounted servers and APIs", annotations=_READ_ONLY)
async def list_servers(gateway: GatewayService, args: NoArgs, call: Call) -> ToolResult:
    """Return every mounted server and API with its state, tool count and last error."""
    return structured_result({"servers": health_json(gateway.health())})


@dataclass(frozen=True, slots=True)
class ServerSpec:
    """How to reach a server."""

    command: str = ""
    args: list[str] = field(default_factory=list)
    env: dict[str, str] = field(default_factory=dict)
    cwd: str | None = None
    url: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    transport: Literal["auto", "stdio", "http", "sse"] = "auto"


@dataclass(frozen=True, slots=True)
class AttachArgs:
    """What to mount."""

    name: str
    spec: ServerSpec


@tool(
    "compositor__attach_server",
    AttachArgs,
    title="Mount an MCP server",
    annotations=Annotations(read_only=False, destructive=True, open_world=True),
)
async def attach_server(gateway: GatewayService, args: AttachArgs, call: Call) -> ToolResult:
    """Mount another MCP server; only for administrators."""
    _require_administrator(gateway, call)
    settings = read(BackendSettings, {"name": args.name, **asdict(args.spec)})
    if not settings.command and not settings.url:
        raise InvalidArgumentsError("spec: needs command or url")
    mount = await gateway.sources.attach_lasting(settings)
    return structured_result({"ok": True, "name": mount.name})


@dataclass(frozen=True, slots=True)
class DetachArgs:
    """What to unmount."""

    name: str


@tool(
    "compositor__detach_server",
    DetachArgs,
    title="Unmount an MCP server",
    annotations=Annotations(read_only=False, destructive=True, idempotent=True),
)
async def detach_server(gateway: GatewayService, args: DetachArgs, call: Call) -> ToolResult:
    """Unmount a server; one that is pinned stays."""
    _require_administrator(gateway, call)
    mount = gateway.sources.mounts.get(args.name)
    if mount is not None and mount.settings.pinned:
        raise MountError(f"forbidden: {args.name} is pinned")
    await gateway.sources.detach(args.name)
    return structured_result({"ok": True})


def _require_administrator(gateway: GatewayService, call: Call) -> None:
    if call.principal not in gateway.admins:
        raise MountError("forbidden: only an administrator may change mounts")


@dataclass(frozen=True, slots=True)
class DecideArgs:
    """A call to think about."""

    name: str
    arguments: dict[str, Any] = field(default_factory=dict)


@tool("policy__decide", DecideArgs, title="Ask what policy says", annotations=_READ_ONLY)
async def policy_decide(gateway: GatewayService, args: DecideArgs, call: Call) -> ToolResult:
    """Say whether a call would be allowed, asked about or denied; nothing happens."""
    verdict = gateway.enforcer.verdict(gateway.catalog.entry(args.name), args.arguments, call)
    return structured_result({"decision": verdict.decision, "reason": verdict.reason})


@dataclass(frozen=True, slots=True)
class ProposeArgs:
    """A rule to propose."""

    rule: Annotated[dict[str, Any], "{source?, tool?, method?, path?, args?: {path: glob}, decision: allow|ask|deny_…}"]
    rationale: str


@tool(
    "policy__propose", ProposeArgs, title="Propose a rule", annotations=Annotations(read_only=False, destructive=False)
)
async def policy_propose(gateway: GatewayService, args: ProposeArgs, call: Call) -> ToolResult:
    """Propose a policy rule to the people in charge; it has no effect until one of them accepts it."""
    rule = rule_of(args.rule)
    effect = await gateway.replay(rule)
    proposal = await gateway.proposals.add(rule, args.rationale, call.principal)
    gateway.announcements.resource_updated("approvals://pending")
    return structured_result({"id": proposal.id, "status": proposal.status, "replay": effect})


@dataclass(frozen=True, slots=True)
class WithdrawArgs:
    """Which proposal."""

    id: str


@tool("policy__withdraw", WithdrawArgs, title="Withdraw a proposal", annotations=Annotations(read_only=False))
async def policy_withdraw(gateway: GatewayService, args: WithdrawArgs, call: Call) -> ToolResult:
    """Withdraw a proposal that has not been decided yet."""
    settled = await gateway.proposals.settle(args.id, "withdrawn", call.principal)
    return structured_result({"id": settled.id, "status": settled.status})


COMPACT: tuple[FunctionTool[GatewayService], ...] = (search, describe, call_tool, more)

FULL: tuple[FunctionTool[GatewayService], ...] = (describe, more)

"""Listed beside all tools: `describe` returns what the list had to cut, `more` what a result had to cut."""

GATE: tuple[FunctionTool[GatewayService], ...] = (approval_result, policy_decide, policy_propose, policy_withdraw)

ADMIN: tuple[FunctionTool[GatewayService], ...] = (list_servers, attach_server, detach_server)

ALL: tuple[FunctionTool[GatewayService], ...] = (*COMPACT, *GATE, *ADMIN)


_SEARCHING = "Looking for a tool: nlui__search, then nlui__describe, then nlui__call (or the tool's own name)."
_CUT = "Schemas and long answers may be cut: nlui__describe shows a whole schema, nlui__more reads on with the handle."
_MAX_FULL_TOOLS = 128

_MAX_FULL_SIZE = 100_000


class GatewayToolset:
    """The gateway as a toolset; in compact mode all tools stay callable by their own names."""

    def __init__(self, gateway: GatewayService, *, mode: str | None = None) -> None:
        self._gateway = gateway
        self._mode = mode or gateway.settings.catalogue.mode
        self._builtins = FunctionToolset(gateway, ALL)
        self._audited_builtins = gateway.audited(self._builtins, "nlui")
        self._names = {entry.tool.name for entry in ALL}

    async def tools(self, call: Call) -> Sequence[Tool]:
        """Return the tools of the mode, after the sources have had their time to start."""
        await self._gateway.sources.ready()
        gate = GATE if self._gateway.policy(call).mode == "guard" or self._gateway.settings.policy.rules else ()
        admin = ADMIN if call.principal in self._gateway.admins else ()
        if self._is_compact():
            return [entry.tool for entry in (*COMPACT, *gate, *admin)]
        extra = FULL if self._gateway.settings.catalogue.extra_tools else ()
        entries = self._gateway.catalog.entries()
        return [*(entry.tool for entry in entries), *(entry.tool for entry in (*extra, *gate, *admin))]

    def instructions(self) -> str:
        """Return what models should know; only tools that are listed now are recommended."""
        hints = []
        if self._is_compact():
            hints.append(_SEARCHING)
        if self._is_compact() or self._gateway.settings.catalogue.extra_tools:
            hints.append(_CUT)
        return self._gateway.catalog.instructions(hints)

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        """Call one of the gateway's own tools, or a tool of any source under policy."""
        if name == call_tool.tool.name:  # the inner call is recorded
            return await self._builtins.call(name, arguments, call)
        if name in self._names:
            return await self._audited_builtins.call(name, arguments, call)
        catalog = self._gateway.catalog
        if not catalog.has(name):
            await self._gateway.sources.ready()
            await self._gateway.sources.started(name)
            if not catalog.has(name):
                raise unknown(name, [*(entry.name for entry in catalog.entries()), *self._names])
        return await self._gateway.enforcer.call(name, arguments, call)

    def _is_compact(self) -> bool:
        if self._mode != "auto":
            return self._mode == "compact"
        entries = self._gateway.catalog.entries()
        if len(entries) > _MAX_FULL_TOOLS:
            return True
        size = sum(len(dumps(entry.tool.input_schema)) + len(entry.tool.description) for entry in entries)
        return size > _MAX_FULL_SIZE
