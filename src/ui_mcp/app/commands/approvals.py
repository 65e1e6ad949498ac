"""Actions of `ui-mcp approvals`."""

import getpass
import time
from contextlib import closing
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, urlsplit

import anyio

from ui_mcp import config as settings
from ui_mcp.app.terminal import has_terminal, open_terminal, person
from ui_mcp.default_browser import BrowserError, opened
from ui_mcp.errors import ApprovalError, ConfigError, InvalidArgumentsError, NotFoundError, RefusedError
from ui_mcp.gateway.approvals.model import Answer, Approval, Scope
from ui_mcp.gateway.approvals.service import ApprovalService, Decision
from ui_mcp.gateway.approvals.store import ApprovalStore, open_store
from ui_mcp.gateway.config.agreement import approvals_url, named_file
from ui_mcp.gateway.sanitize import escape_control, single_line
from ui_mcp.jsontypes import JsonObject, dumps, loads
from ui_mcp.person import CODE_SECONDS, PersonKeys, listener_ports
from ui_mcp.storage.database import file_of
from ui_mcp.validation import to_json
from ui_mcp.workspace import Workspace

NOTHING = "Nothing is pending."


@dataclass(frozen=True, slots=True)
class ApprovalCommand:
    """Arguments of the command line."""

    action: str
    ids: tuple[str, ...] = ()
    reason: str | None = None
    abort: bool = False
    scope: Scope = "once"
    arguments: str | None = None
    covers: dict[str, str] | None = None
    by: str | None = None
    """Name recorded with the answer; default: the user's account."""


def run_command(store: str | None, base_dir: str, command: ApprovalCommand) -> list[str]:
    """Run a command of a person, or of a program with a person's token, and return the lines to print.

    Raises:
        RefusedError: there is neither a terminal nor a token, or a password is on the command line.
    """
    if store and _has_password(store):
        raise RefusedError(
            "Every account of this machine can read the password in --store while the command runs\n"
            "Leave it out of the URL and put it into ~/.pgpass or PGPASSWORD."
        )
    holder = anyio.run(person, f"ui-mcp approvals {command.action}", base_dir)
    if command.action == "sign-out":
        ended = PersonKeys().forget_all()
        return [f"Signed out: {ended} browser{'' if ended == 1 else 's'}"]
    place = store or _approvals_of(Workspace.at(base_dir))
    return act(place, replace(command, by=holder.name) if holder else command)


def _has_password(store: str) -> bool:
    parts = urlsplit(store)
    return bool(parts.password) or "password" in dict(parse_qsl(parts.query))


def _approvals_of(workspace: Workspace) -> str:
    return approvals_url(named_file(workspace, settings.load(workspace.config_file)))


def act(place: str, command: ApprovalCommand) -> list[str]:
    """Run a command on the store at `place` and return the lines to print."""
    if (file := file_of(place)) is not None and not file.is_file():
        if command.action == "list":
            return [NOTHING]  # no gateway has asked for anything yet
        raise ConfigError(f"There is no approvals store {place}\nName the gateway's store with --store.")
    with closing(open_store(place)) as store:
        return anyio.run(_act, store, command)


async def _act(store: ApprovalStore, command: ApprovalCommand) -> list[str]:
    service = ApprovalService(store)
    match command.action:
        case "list":
            return [_line(row) for row in await service.pending()] or [NOTHING]
        case "rules":
            rules = await store.rules()
            texts = [f"{number}: {dumps(to_json(rule))}" for number, rule in rules]
            return texts or ["There are no rules."]
        case "forget":
            return [await _remove_rule(store, _number(one)) for one in _named(command)]
        case "show":
            return [escape_control(dumps((await _one(service, prefix)).to_json())) for prefix in _named(command)]
        case _:
            return await _answers(service, command)


async def _answers(service: ApprovalService, command: ApprovalCommand) -> list[str]:
    """Answer the approvals one by one; with several, a failure of one does not stop the others."""
    rows = [await _one(service, prefix) for prefix in _named(command)]
    lines: list[str] = []
    for row in rows:
        try:
            lines.append(_line(await service.decide(row.id, _reply(row, command))))
        except ApprovalError as error:
            if len(rows) == 1:
                raise
            lines.append(f"{row.id[:12]}  {error.message}")
    return lines


def _reply(row: Approval, command: ApprovalCommand) -> Decision:
    edited = _edited(command.arguments) if command.arguments else None
    decision: Answer = "deny_abort" if command.abort else "deny_continue"
    if command.action == "approve":
        decision = "approve_with_edit" if edited is not None else "approve"
    return Decision(
        decision, row.digest, command.by or getpass.getuser(), command.reason, edited, command.scope, command.covers
    )


def _edited(text: str) -> JsonObject:
    try:
        given = loads(text)
    except ValueError as error:
        raise InvalidArgumentsError(f"--arguments: not JSON: {error}") from error
    if not isinstance(given, dict):
        raise InvalidArgumentsError("--arguments: must be an object, for example '{\"id\": 7}'")
    return dict(given)


def _named(command: ApprovalCommand) -> tuple[str, ...]:
    if not command.ids:
        what, where = ("rule", "rules") if command.action == "forget" else ("approval", "list")
        raise InvalidArgumentsError(f"Which {what}? `ui-mcp approvals {where}` lists them; then {command.action} ID")
    if command.arguments and len(command.ids) > 1:
        raise InvalidArgumentsError("--arguments can be given for one approval at a time")
    return command.ids


async def _remove_rule(store: ApprovalStore, number: int) -> str:
    if not await store.remove_rule(number):
        raise NotFoundError(f"There is no rule {number}; `ui-mcp approvals rules` shows them")
    return f"Forgotten: rule {number}"


def _number(given: str) -> int:
    if not given.isdigit():
        raise InvalidArgumentsError(f"{given!r} is not the number of a rule; `ui-mcp approvals rules` shows them")
    return int(given)


async def _one(service: ApprovalService, prefix: str) -> Approval:
    # Keyed by id: an approval that is answered between the two queries is in both results.
    rows = {row.id: row for row in [*await service.pending(), *await service.history(1000)]}
    found = [row for row in rows.values() if row.id.startswith(prefix)]
    if len(found) != 1:
        count = f"{len(found)} approvals begin" if found else "No approval begins"
        raise NotFoundError(f"{count} with {prefix!r}; `ui-mcp approvals list` lists the pending ones")
    return found[0]


def _line(row: Approval) -> str:
    request = f"{row.preview['method']} {row.preview['url']}" if row.preview else dumps(row.arguments)
    return single_line(f"{row.id[:12]}  {row.status}  {row.risk}  {row.tool}  {request}", 400)


_POLL_SECONDS = 0.2


def open_person_pages(*, browser: bool = True) -> int:
    """Show a link to every person's page that is served; open the browser if there is only one.

    Raises:
        RefusedError: there is no terminal; a token does not help, because links are shown nowhere else.
        NotFoundError: no person's page is served.
    """
    if not has_terminal():
        raise RefusedError("Links that sign a browser in are shown only on a terminal\nRun this command in one.")
    ports = sorted(listener_ports())
    if not ports:
        raise NotFoundError(
            "No server of this account has a page to sign in to\n"
            "Start one: ui-mcp serve, nlui, or ui_start in your agent's host."
        )
    keys = PersonKeys()
    with open_terminal("A link") as terminal:
        for port in ports:
            terminal.write(f"http://127.0.0.1:{port}/#code={keys.new_code()}\n")
        terminal.write(f"Each link signs in one browser, once, within {CODE_SECONDS / 60:.0f} minutes.\n")
        terminal.flush()
        if browser and len(ports) == 1:
            terminal.write(f"{_open(keys, ports[0])}\n")
    return 0


def _open(keys: PersonKeys, port: int) -> str:
    code = keys.new_code()
    try:
        with opened(f"http://127.0.0.1:{port}/#code={code}") as until:
            while keys.waits(code):
                if time.monotonic() > until:
                    return "The browser did not open the page; open the link yourself."
                time.sleep(_POLL_SECONDS)
    except BrowserError as error:
        return f"No browser could be opened ({error.message}); open the link yourself."
    except KeyboardInterrupt:
        return ""
    return "Your browser is signed in."
