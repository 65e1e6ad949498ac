"""The gateway's tools about itself: approvals and policy, and mounting for administrators."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal

from ui_mcp.errors import InvalidArgumentsError, MountError
from ui_mcp.fields import Limit
from ui_mcp.gateway.approvals.proposals import rule_of
from ui_mcp.gateway.config.settings import BackendSettings
from ui_mcp.gateway.service import GatewayService
from ui_mcp.gateway.source import health_json
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.functions import FunctionTool, FunctionToolset, NoArgs, tool
from ui_mcp.toolkit.tool import Annotations, Call, Tool, ToolResult, structured_result
from ui_mcp.validation import read

_READ_ONLY = Annotations(read_only=True, destructive=False, idempotent=True, open_world=False)


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


GATE: tuple[FunctionTool[GatewayService], ...] = (approval_result, policy_decide, policy_propose, policy_withdraw)
ADMIN: tuple[FunctionTool[GatewayService], ...] = (list_servers, attach_server, detach_server)


class ControlTools:
    """All of them can be called; which are listed depends on policy and principal."""

    def __init__(self, gateway: GatewayService) -> None:
        self._tools = gateway.audited(FunctionToolset(gateway, (*GATE, *ADMIN)), "nlui")
        self.names = frozenset(entry.tool.name for entry in (*GATE, *ADMIN))

    def listed(self, *, gated: bool, administrator: bool) -> Sequence[Tool]:
        return [entry.tool for entry in (*(GATE if gated else ()), *(ADMIN if administrator else ()))]

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        return await self._tools.call(name, arguments, call)
