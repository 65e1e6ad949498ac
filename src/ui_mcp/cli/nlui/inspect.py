"""The one-shot commands of nlui: check, tools, call, accounts, sign-in, sign-out, audit, init, trust."""

import argparse
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio

from ui_mcp.agent.models import model_settings, provider_for, provider_of, unknown_keys
from ui_mcp.agent.models.local import local_servers
from ui_mcp.app.commands.trust import ask_agreement, offer
from ui_mcp.cli.main import print_error
from ui_mcp.cli.nlui.accounts import accounts_command, sign_in_command, sign_out_command
from ui_mcp.cli.nlui.audit import _audit
from ui_mcp.cli.nlui.init import _init
from ui_mcp.errors import ConfigError, InvalidArgumentsError, UiMcpError, UpstreamError
from ui_mcp.gateway.config.agreement import trust_request
from ui_mcp.gateway.config.configuration import GatewayOptions, configuration
from ui_mcp.gateway.config.loader import FILE
from ui_mcp.gateway.runner import open_gateway
from ui_mcp.gateway.service import GatewayService
from ui_mcp.jsontypes import Json, JsonObject, dumps, loads
from ui_mcp.mcp_server.tools import listed_tool
from ui_mcp.processes import run
from ui_mcp.toolkit.names import SEPARATOR
from ui_mcp.toolkit.tool import Call, Media, Relayed, Text, ToolResult
from ui_mcp.trust import Agreements, place_of

_EVERY_SECONDS = 0.5
_MOST_NAMES = 4
_CLEAR = "\r\x1b[K"


@asynccontextmanager
async def progress_line(awaited: Callable[[], Sequence[str]]) -> AsyncIterator[None]:
    """While the block runs, show on stderr what is still awaited; only on a terminal, and only after 0.5 s."""
    if not sys.stderr.isatty():
        yield
        return
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_show_progress, awaited)
        yield
        tasks.cancel_scope.cancel()


async def _show_progress(awaited: Callable[[], Sequence[str]]) -> None:
    started = anyio.current_time()
    try:
        while True:
            await anyio.sleep(_EVERY_SECONDS)
            sys.stderr.write(_CLEAR + line(awaited(), anyio.current_time() - started))
            sys.stderr.flush()
    finally:
        sys.stderr.write(_CLEAR)
        sys.stderr.flush()


def line(names: Sequence[str], seconds: float) -> str:
    """Return the text of the progress line."""
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"Waiting for {', '.join(names[:_MOST_NAMES])}{more} ({seconds:.0f} s)" if names else ""


SOURCE_TIMEOUT = 30.0
FINDINGS, USAGE, BAD_CONFIG, UNREACHABLE, TOOL_ERROR = 1, 2, 3, 4, 5


def run_command(options: argparse.Namespace) -> int:
    """Run one command; exit codes: 1 findings, 2 usage, 3 configuration, 4 unreachable, 5 tool error."""
    try:
        # Commands without a source (init, trust) use no nlui.yaml that would need an agreement.
        if "source" in options:
            offer(options.source)
        code = _COMMANDS[options.command](options)
    except ConfigError as error:
        return _report_error(error, BAD_CONFIG)
    except UpstreamError as error:
        return _report_error(error, UNREACHABLE)
    except InvalidArgumentsError as error:
        return _report_error(error, USAGE)
    return code


async def _check(options: argparse.Namespace) -> int:
    """Report on every target: operations that are not fully supported, and every address that was tried."""
    gateway_options = GatewayOptions(options.source, quiet=True)
    read = configuration(gateway_options)
    findings = len(read.warnings)
    for warning in read.warnings:
        print(f"warning: {warning}")
    if not options.json:
        findings += print_model(read.settings.llm) if read.settings.llm else 0
        await print_local_models()
    unreachable = False
    async with open_gateway(gateway_options, mode="host") as gateway:
        async with progress_line(lambda: _untried(gateway)):
            await _all_tried(gateway)
        if options.json:
            print(dumps({name: _report(gateway, name) for name in gateway.sources.targets}))
        for name, target in gateway.sources.targets.items():
            findings += 0 if options.json else _print_report(name, _report(gateway, name))
            if target.source.api is None and target.discovery is not None:
                unreachable = unreachable or bool(target.discovery.unreachable)
                for tried in target.discovery.tried:
                    print(f"  tried {tried.url}: {tried.outcome}")
        for health in gateway.health():
            if health.kind == "backend":
                findings += health.state != "active"
                print(f"{health.name}: {health.state}, {health.tools} tools {health.error}".rstrip())
    return UNREACHABLE if unreachable else FINDINGS if findings else 0


def print_model(llm: JsonObject) -> int:
    """Print what was understood of `llm`, and return the number of findings."""
    unknown = unknown_keys(llm)
    for text in unknown:
        print(f"warning: {text}")
    try:
        settings = model_settings(llm)
        provider = provider_for(settings)
    except ConfigError as error:
        print(f"llm: {error.message}".replace("\n", "\n  "))
        return len(unknown) + 1
    address = provider.base(settings)
    parts = [provider_of(settings)]
    if address:
        needs_key = bool(provider.services[0].variable) and not settings.api_key
        parts += [settings.model or "no model named", address, "no key" if needs_key else "key found"]
    print(f"llm: {', '.join(parts)}")
    return len(unknown) + (bool(address) and not settings.model)


async def print_local_models() -> None:
    """Print the model servers that run on this computer."""
    for server in await local_servers():
        names = ", ".join(server.models[:5]) + (", …" if len(server.models) > 5 else "")
        print(f"local model server: {server.service.name} at {server.service.api_base}: {names or 'no models yet'}")


async def _all_tried(gateway: GatewayService) -> None:
    """Wait until every source has answered or failed, because a report or a list must be complete."""
    await gateway.sources.ready()
    with anyio.move_on_after(SOURCE_TIMEOUT):
        for target in list(gateway.sources.targets.values()):
            await target.first.wait()
        for mount in list(gateway.sources.mounts.values()):
            await mount.settled(SOURCE_TIMEOUT)
        await gateway.sources.ready()


async def _source_tried(gateway: GatewayService, tool: str) -> None:
    """Wait until the source of one tool has answered or failed."""
    await gateway.sources.ready()
    target = gateway.sources.targets.get(tool.partition(SEPARATOR)[0])
    with anyio.move_on_after(SOURCE_TIMEOUT):
        if target is not None:
            await target.first.wait()
        await gateway.sources.started(tool)


def _untried(gateway: GatewayService) -> list[str]:
    targets = [name for name, target in gateway.sources.targets.items() if not target.first.is_set()]
    return targets + [name for name, mount in gateway.sources.mounts.items() if mount.health().state == "pending"]


def _report(gateway: GatewayService, name: str) -> JsonObject:
    source = gateway.sources.targets[name].source
    return source.api.report() if source.api else {"error": source.error or "not loaded", "operations": []}


def _print_report(name: str, report: JsonObject) -> int:
    if "error" in report:
        print(f"{name}: failed: {report['error']}".replace("\n", "\n  "))
        return 1
    counts = dict.fromkeys(("ok", "degraded", "skipped"), 0)
    for operation in report["operations"]:
        counts[operation["status"]] += 1
    print(f"{name}: {report['title']} {report['version']}: " + ", ".join(f"{n} {word}" for word, n in counts.items()))
    for operation in report["operations"]:
        for note in operation["notes"]:
            print(f"  {operation['status']} {operation['operation']}: {note['code']}: {note['message']}")
    for note in report["notes"]:
        print(f"  note {note['pointer']}: {note['code']}: {note['message']}")
    return counts["skipped"]


async def _tools(options: argparse.Namespace) -> int:
    async with open_gateway(GatewayOptions(options.source), mode="host") as gateway:
        async with progress_line(lambda: _untried(gateway)):
            await _all_tried(gateway)
        entries = gateway.catalog.entries()
        if options.format == "mcp":
            print(dumps({"tools": [listed_tool(entry.tool) for entry in entries]}))
        for entry in entries if options.format != "mcp" else ():
            print(_shown(entry.tool.name, entry.tool.description, entry.tool.input_schema, options.format))
    if not entries:
        print("nlui: there are no tools; run `nlui check` to see why", file=sys.stderr)
    return 0 if entries else FINDINGS


def _shown(name: str, description: str, schema: JsonObject, form: str) -> str:
    match form:
        case "openai":
            function = {"name": name, "description": description, "parameters": schema}
            return dumps({"type": "function", "function": function})
        case _:
            return f"{name}\t{description.splitlines()[0][:100]}"


async def _call(options: argparse.Namespace) -> int:
    arguments = _arguments(options)
    async with open_gateway(GatewayOptions(options.source), mode="host") as gateway:
        async with progress_line(lambda: _untried(gateway)):
            await _source_tried(gateway, options.tool)
        try:
            result = await gateway.enforcer.call(options.tool, arguments, Call(client_name="nlui call"))
        except UpstreamError:
            raise
        except UiMcpError as error:
            return _report_error(error, TOOL_ERROR)
    _print_result(result)
    return TOOL_ERROR if result.is_error else 0


def _arguments(options: argparse.Namespace) -> JsonObject:
    given: JsonObject = {}
    if options.json:
        given = _from_file(options.json)
    for pair in options.arg:
        key, mark, value = pair.partition("=")
        if not mark:
            raise InvalidArgumentsError(f"--arg {pair}: write it as name=value")
        given[key] = _value(value)
    return given | {"_dry_run": True} if options.dry_run else given


def _from_file(name: str) -> JsonObject:
    try:
        given = loads(sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidArgumentsError(f"--json {name}: {error}") from error
    if not isinstance(given, dict):
        raise InvalidArgumentsError(f"--json {name}: must contain an object of arguments")
    return dict(given)


def _value(text: str) -> Json:
    try:
        return loads(text)
    except ValueError:
        return text


def _print_result(result: ToolResult) -> None:
    for part in result.content:
        match part:
            case Text(text):
                print(text)
            case Media(kind, data, mime_type):
                print(f"[{kind} {mime_type}, {len(data)} bytes]")
            case Relayed(block):
                print(block.get("text") if block.get("type") == "text" else dumps(block))


def _trust(options: argparse.Namespace) -> int:
    file = place_of(Path(options.file or FILE))
    if options.revoke:
        taken = Agreements().remove(file)
        print("Withdrawn; this takes effect at the next start." if taken else f"There is no agreement for {file}.")
        return 0
    return ask_agreement([trust_request(file)], "nlui trust", yes=options.yes)


_COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "check": partial(run, _check),
    "tools": partial(run, _tools),
    "dump": partial(run, _tools),
    "call": partial(run, _call),
    "accounts": partial(run, accounts_command),
    "sign-in": partial(run, sign_in_command),
    "sign-out": partial(run, sign_out_command),
    "audit": _audit,
    "init": _init,
    "trust": _trust,
}


def _report_error(error: UiMcpError, code: int) -> int:
    print_error(error, "nlui")
    return code
