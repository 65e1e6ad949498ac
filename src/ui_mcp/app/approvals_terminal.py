"""Approvals from a terminal: the same rows, answered by the same rules."""

import getpass
from dataclasses import dataclass, replace
from urllib.parse import parse_qsl, urlsplit

import anyio
from platformdirs import user_data_path

from ui_mcp.app.terminal import person
from ui_mcp.compositor.plain import one_line, plain
from ui_mcp.errors import ApprovalError, ConfigError, InvalidArgumentsError, NotFoundError, RefusedError
from ui_mcp.gateway.approvals.model import Answer, Approval, Scope
from ui_mcp.gateway.approvals.service import Desk, Reply
from ui_mcp.gateway.approvals.store import ApprovalStore, open_store
from ui_mcp.jsontypes import JsonObject, dumps, loads
from ui_mcp.person import PersonKeys
from ui_mcp.storage.database import file_of


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person typed."""

    action: str
    ids: tuple[str, ...] = ()
    reason: str | None = None
    abort: bool = False
    scope: Scope = "once"
    arguments: str | None = None
    covers: dict[str, str] | None = None
    by: str | None = None
    """Who answers (default: the account)."""


def run_wish(store: str | None, base_dir: str, wish: Wish) -> list[str]:
    """Carry out what a person typed, or a program with a person's token, and return what to print.

    Raises:
        RefusedError: there is neither a terminal nor a token, or a password is on the command line.
    """
    if store and _has_password(store):
        raise RefusedError(
            "Every account of this machine can read the password in --store while the command runs\n"
            "Leave it out of the URL and put it into ~/.pgpass or PGPASSWORD."
        )
    holder = anyio.run(person, f"ui-mcp approvals {wish.action}", base_dir)
    if wish.action == "sign-out":
        ended = PersonKeys().forget_all()
        return [f"Signed out: {ended} browser{'' if ended == 1 else 's'}"]
    return act(store, replace(wish, by=holder.name) if holder else wish)


def _has_password(store: str) -> bool:
    parts = urlsplit(store)
    return bool(parts.password) or "password" in dict(parse_qsl(parts.query))


def act(store: str | None, wish: Wish) -> list[str]:
    """Carry out a wish and return what to print."""
    place = store or str(user_data_path("nlui") / "approvals.db")
    is_file = "://" not in place or place.startswith("sqlite:")
    if is_file and not file_of(place).is_file():
        raise ConfigError(f"There is no approvals store {place}\nName the gateway's with --store.")
    return anyio.run(_act, place, wish)


async def _act(place: str, wish: Wish) -> list[str]:
    approvals = open_store(place)
    desk = Desk(approvals)
    try:
        match wish.action:
            case "list":
                return [_line(row) for row in await desk.pending()] or ["Nothing waits."]
            case "rules":
                rules = await approvals.rules()
                texts = [f"{number}: {dumps(rule.model_dump(exclude_defaults=True))}" for number, rule in rules]
                return texts or ["There are no rules."]
            case "forget":
                return [await _forgotten(approvals, _number(one)) for one in _named(wish)]
            case "show":
                return [plain(dumps((await _one(desk, beginning)).to_json())) for beginning in _named(wish)]
            case _:
                return await _answers(desk, wish)
    finally:
        approvals.close()


async def _answers(desk: Desk, wish: Wish) -> list[str]:
    """Answer one by one; with several, one that cannot be taken does not stop the others."""
    rows = [await _one(desk, beginning) for beginning in _named(wish)]
    told: list[str] = []
    for row in rows:
        try:
            told.append(_line(await desk.answer(row.id, _reply(row, wish))))
        except ApprovalError as error:
            if len(rows) == 1:
                raise
            told.append(f"{row.id[:12]}  {error.message}")
    return told


def _reply(row: Approval, wish: Wish) -> Reply:
    edited = _edited(wish.arguments) if wish.arguments else None
    decision: Answer = "deny_abort" if wish.abort else "deny_continue"
    if wish.action == "approve":
        decision = "approve_with_edit" if edited is not None else "approve"
    return Reply(decision, row.digest, wish.by or getpass.getuser(), wish.reason, edited, wish.scope, wish.covers)


def _edited(text: str) -> JsonObject:
    try:
        given = loads(text)
    except ValueError as error:
        raise InvalidArgumentsError(f"--arguments: not JSON: {error}") from error
    if not isinstance(given, dict):
        raise InvalidArgumentsError("--arguments: must be an object, for example '{\"id\": 7}'")
    return dict(given)


def _named(wish: Wish) -> tuple[str, ...]:
    if not wish.ids:
        what, where = ("rule", "rules") if wish.action == "forget" else ("approval", "list")
        raise InvalidArgumentsError(f"Which {what}? `ui-mcp approvals {where}` names them; then {wish.action} ID")
    if wish.arguments and len(wish.ids) > 1:
        raise InvalidArgumentsError("Other arguments can be given for one approval at a time")
    return wish.ids


async def _forgotten(approvals: ApprovalStore, number: int) -> str:
    if not await approvals.remove_rule(number):
        raise NotFoundError(f"There is no rule {number}; `ui-mcp approvals rules` shows them")
    return f"Forgotten: rule {number}"


def _number(given: str) -> int:
    if not given.isdigit():
        raise InvalidArgumentsError(f"{given!r} is not the number of a rule; `ui-mcp approvals rules` shows them")
    return int(given)


async def _one(desk: Desk, beginning: str) -> Approval:
    # By id: one that is answered between the two questions is in both.
    rows = {row.id: row for row in [*await desk.pending(), *await desk.history(1000)]}
    found = [row for row in rows.values() if row.id.startswith(beginning)]
    if len(found) != 1:
        count = f"{len(found)} approvals begin" if found else "No approval begins"
        raise NotFoundError(f"{count} with {beginning!r}; `ui-mcp approvals list` names those that wait")
    return found[0]


def _line(row: Approval) -> str:
    request = f"{row.preview['method']} {row.preview['url']}" if row.preview else dumps(row.arguments)
    return one_line(f"{row.id[:12]}  {row.status}  {row.risk}  {row.tool}  {request}", 400)
