"""`nlui__run`: runs a script, waits for its outcome, or stops it."""

from dataclasses import dataclass
from typing import Annotated

from ui_mcp.errors import InvalidArgumentsError
from ui_mcp.fields import Length, Limit
from ui_mcp.gateway.results import trim
from ui_mcp.gateway.scripts.store import Run
from ui_mcp.gateway.service import GatewayService
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.functions import tool
from ui_mcp.toolkit.tool import Annotations, Call, ToolResult, structured_result

_GO_ON = "Call nlui__run with this run_id to wait for it; it goes on meanwhile, also after a restart."


@dataclass(frozen=True, slots=True)
class RunArgs:
    """A script, or one that still runs."""

    code: Annotated[str, "Lua. Return only what you need.", Length(most=200_000)] = ""
    run_id: Annotated[str, "Instead of code: wait for this script."] = ""
    wait_s: Annotated[float, "How long to wait for its end.", Limit(ge=0, le=600)] = 60.0
    stop: Annotated[bool, "Stop the script run_id."] = False


@tool("nlui__run", RunArgs, title="Run a script", annotations=Annotations(open_world=True))
async def run_script(gateway: GatewayService, args: RunArgs, call: Call) -> ToolResult:
    """Run a Lua script that calls many tools; only what it returns comes back, not the results in between.

    `call(name, {args})` returns a tool's result as a table and raises on failure (use pcall);
    `parallel{{name, {args}}, function() … end}` runs several at a time; `search(words)` finds tools with signatures;
    `pick(value, "items[].id")` selects; `ask(question)` waits for a person: {approved, answer}.
    Example: `local n = 0; for _, o in ipairs(call("shop__listOrders", {}).result) do n = n + o.total end; return n`
    Calls pass policy and approvals. A script goes on after a crash; what must not be repeated runs at most once.
    """
    if bool(args.code) == bool(args.run_id):
        raise InvalidArgumentsError("Give either code, for a new script, or the run_id of one that runs")
    await gateway.sources.ready()
    scripts = gateway.scripts
    run_id = args.run_id or await scripts.start(args.code, call.principal)
    if args.stop:
        await scripts.stop(run_id, call.principal)
    return await _result(gateway, await scripts.outcome(run_id, call.principal, args.wait_s), call)


async def _result(gateway: GatewayService, run: Run, call: Call) -> ToolResult:
    if run.state == "running":
        waiting = await _waiting(gateway, run)
        where: JsonObject = {"answer_at": gateway.context.where()} if waiting and gateway.context.where() else {}
        status = "awaiting_approval" if waiting else "running"
        return structured_result({"status": status, "run_id": run.id, "waiting_for": waiting, **where, "hint": _GO_ON})
    outcome = dict(run.outcome or {})
    shown: JsonObject = {"status": run.state, "run_id": run.id, "steps": outcome.get("steps", 0)}
    if "error" in outcome:
        shown["error"] = outcome["error"]["message"]
    else:
        limits = gateway.settings.results
        trimmed = trim(outcome.get("value"), limits.max_bytes, limits.max_rows)
        shown["result"] = trimmed.value
        if trimmed.cuts:
            shown["handle"] = await gateway.results.store_json(outcome.get("value"), call.principal)
    shown |= {key: outcome[key] for key in ("printed", "uncertain") if key in outcome}
    result = structured_result(shown)
    return result if run.state == "done" else ToolResult(result.content, shown, is_error=True)


async def _waiting(gateway: GatewayService, run: Run) -> list[JsonObject]:
    pending = await gateway.approvals.pending()
    return [{"approval_id": row.id, "tool": row.tool} for row in pending if row.call().call_id == run.id]
