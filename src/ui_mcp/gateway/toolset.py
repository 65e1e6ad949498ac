"""The gateway's tools, in full or as the four that find and call all others."""

from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, Annotated, Any

from anyio import CancelScope, get_cancelled_exc_class

from ui_mcp.discovery import lazy
from ui_mcp.errors import InvalidArgumentsError
from ui_mcp.fields import Length, Limit
from ui_mcp.gateway.apps.addresses import is_for, ui_of
from ui_mcp.gateway.catalog import unknown
from ui_mcp.gateway.enforcement import denied
from ui_mcp.gateway.openapi.bundle import shrunk
from ui_mcp.gateway.results import pick, trim
from ui_mcp.gateway.service import GatewayService
from ui_mcp.jsontypes import Json, JsonObject, dumps
from ui_mcp.lazy_dataclass import dataclass
from ui_mcp.toolkit.functions import FunctionTool, FunctionToolset, tool
from ui_mcp.toolkit.tool import Annotations, Call, TaskHandle, Tool, ToolResult, structured_result, text_result

if TYPE_CHECKING:
    from ui_mcp.gateway.control_tools import ControlTools
    from ui_mcp.gateway.scripts.runs import ScriptRuns
    from ui_mcp.gateway.scripts.store import Run
    from ui_mcp.gateway.scripts.stubs import stub
    from ui_mcp.gateway.search.index import summary
else:
    stub = lazy("ui_mcp.gateway.scripts.stubs:stub")
    summary = lazy("ui_mcp.gateway.search.index:summary")
    ControlTools = lazy("ui_mcp.gateway.control_tools:ControlTools")

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
    stubs: Annotated[bool, "Return typed signatures for scripts (nlui__run)."] = False


@tool("nlui__search", SearchArgs, title="Find tools", annotations=_READ_ONLY)
async def search(gateway: GatewayService, args: SearchArgs, call: Call) -> ToolResult:
    """Find tools of any API or server by words; the best come first. Call one with nlui__call or by its name."""
    await gateway.sources.ready()
    hits = await gateway.search(args.query, call.principal, limit=args.limit, source=args.source, method=args.method)
    as_stubs = args.stubs or gateway.settings.catalogue.mode == "code"
    found: list[Json] = [stub(hit.entry) if as_stubs else summary(hit.entry) for hit in hits]
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
    if gateway.catalog.entry(args.name).tool.app_only:
        raise InvalidArgumentsError(f"{args.name} is for its server's app only")
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
    known = args.run_id or (call.task.resumed or {}).get("run_id", "") if call.task is not None else args.run_id
    if bool(args.code) == bool(known):
        raise InvalidArgumentsError("Give either code, for a new script, or the run_id of one that runs")
    await gateway.sources.ready()
    scripts = await gateway.scripts()
    run_id = known or await scripts.start(args.code, call.principal)
    if args.stop:
        await scripts.stop(run_id, call.principal)
    elif call.task is not None and args.wait_s > 0:
        return await _run_result(gateway, await _ended(scripts, run_id, call, call.task), call)
    return await _run_result(gateway, await scripts.outcome(run_id, call.principal, args.wait_s), call)


async def _ended(scripts: "ScriptRuns", run_id: str, call: Call, task: TaskHandle) -> "Run":
    """Wait until a script has ended, however long that takes; cancelling the task stops it."""
    await task.checkpoint({"run_id": run_id})
    try:
        return await scripts.outcome(run_id, call.principal, inf)
    except get_cancelled_exc_class():
        if task.is_cancelled:
            with CancelScope(shield=True):
                await scripts.stop(run_id, call.principal)
        raise


async def _run_result(gateway: GatewayService, run: "Run", call: Call) -> ToolResult:
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


async def _waiting(gateway: GatewayService, run: "Run") -> list[JsonObject]:
    pending = await gateway.approvals.pending()
    return [{"approval_id": row.id, "tool": row.tool} for row in pending if row.call().call_id == run.id]


COMPACT: tuple[FunctionTool[GatewayService], ...] = (search, describe, call_tool, more, run_script)

CODE: tuple[FunctionTool[GatewayService], ...] = (search, run_script, more)

FULL: tuple[FunctionTool[GatewayService], ...] = (describe, more)

"""Listed beside all tools: `describe` returns what the list had to cut, `more` what a result had to cut."""

_CONTROL_PREFIXES = ("approvals__", "policy__", "compositor__")
_SEARCHING = "Looking for a tool: nlui__search, then nlui__describe, then nlui__call (or the tool's own name)."
_SCRIPTING = "Find tools with nlui__search, which returns signatures; then do the whole task in one script: nlui__run."
_CUT = "Schemas and long answers may be cut: nlui__describe shows a whole schema, nlui__more reads on with the handle."
_MAX_FULL_TOOLS = 128

_MAX_FULL_SIZE = 100_000


class GatewayToolset:
    """The gateway as a toolset; in compact mode all tools stay callable by their own names."""

    def __init__(self, gateway: GatewayService, *, mode: str | None = None) -> None:
        self._gateway = gateway
        self._mode = mode or gateway.settings.catalogue.mode
        self._builtins = FunctionToolset(gateway, COMPACT)
        self._audited_builtins = gateway.audited(self._builtins, "nlui")
        self._names = {entry.tool.name for entry in COMPACT}

    async def tools(self, call: Call) -> Sequence[Tool]:
        """Return the tools of the mode, after the sources have had their time to start."""
        await self._gateway.sources.ready()
        controls = self._listed_controls(call)
        is_short = self._mode == "code" or self._is_compact()
        own = [entry.tool for entry in (CODE if self._mode == "code" else COMPACT)]
        if is_short and not call.shows_apps():
            return [*own, *controls]
        tools = [entry.tool for entry in self._gateway.catalog.entries()]
        if is_short:  # a host finds an app by the listed tool that it belongs to
            return [*own, *(tool for tool in tools if ui_of(tool)), *controls]
        offered = [tool for tool in tools if call.shows_apps() or not tool.app_only]
        extra = FULL if self._gateway.settings.catalogue.extra_tools else ()
        return [*offered, *(entry.tool for entry in extra), *controls]

    def _listed_controls(self, call: Call) -> Sequence[Tool]:
        settings, administrator = self._gateway.settings, call.principal in self._gateway.admins
        gated = self._gateway.policy(call).mode == "guard" or bool(settings.policy.rules)
        return self._controls.listed(gated=gated, administrator=administrator) if gated or administrator else ()

    @cached_property
    def _controls(self) -> "ControlTools":
        return ControlTools(self._gateway)

    def instructions(self) -> str:
        """Return what models should know; only tools that are listed now are recommended."""
        hints = []
        if self._mode == "code":
            hints.append(_SCRIPTING)
        elif self._is_compact():
            hints.append(_SEARCHING)
        if self._mode != "code" and (self._is_compact() or self._gateway.settings.catalogue.extra_tools):
            hints.append(_CUT)
        return self._gateway.catalog.instructions(hints)

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        """Call one of the gateway's own tools, or a tool of any source under policy."""
        state = call.task.resumed if call.task is not None else None
        if state is not None and "tool" in state:  # the tool itself, also if it was called by nlui__call
            return await self._gateway.enforcer.resume(await self._gateway.started_entry(state["tool"]), state, call)
        if name == call_tool.tool.name:  # the inner call is recorded
            return await self._builtins.call(name, arguments, call)
        if name in self._names:
            return await self._audited_builtins.call(name, arguments, call)
        if name.startswith(_CONTROL_PREFIXES) and name in self._controls.names:
            return await self._controls.call(name, arguments, call)
        catalog = self._gateway.catalog
        if not catalog.has(name):
            await self._gateway.sources.ready()
            await self._gateway.sources.started(name)
            held = self._gateway.pins.held(name)
            if held is not None:
                reason = f"{held.source} changed this tool ({held.change}); a person must accept it first"
                raise denied("deny_continue", held.source, name, reason, answer_at=self._gateway.context.where())
            if not catalog.has(name):
                name = self._app_tool(name)
        if call.agent and catalog.entry(name).tool.app_only:
            raise InvalidArgumentsError(f"{name} is for its server's app only")
        return await self._gateway.enforcer.call(name, arguments, call)

    def _app_tool(self, name: str) -> str:
        """Return the listed name of the only app tool with this inner name; some hosts call by that.

        Raises:
            UnknownToolError: there is none, or there are several.
        """
        entries = self._gateway.catalog.entries()
        apps = {entry.source for entry in entries if "resourceUri" in ui_of(entry.tool)}
        found = [e.name for e in entries if e.local_name == name and e.source in apps and is_for(e.tool, "app")]
        if len(found) != 1:
            raise unknown(name, [*(entry.name for entry in entries), *self._names, *self._controls.names])
        return found[0]

    def _is_compact(self) -> bool:
        if self._mode != "auto":
            return self._mode == "compact"
        entries = self._gateway.catalog.entries()
        if len(entries) > _MAX_FULL_TOOLS:
            return True
        size = sum(len(dumps(entry.tool.input_schema)) + len(entry.tool.description) for entry in entries)
        return size > _MAX_FULL_SIZE
