"""Approvals from a terminal: the same rows, answered by the same rules."""

import getpass
from dataclasses import dataclass
from pathlib import Path

import anyio
from platformdirs import user_data_path

from ui_mcp.compositor.approvals.desk import Desk, Reply
from ui_mcp.compositor.approvals.row import Answer, Approval, Scope
from ui_mcp.compositor.approvals.store import SqliteApprovals
from ui_mcp.errors import ConfigError, NotFoundError
from ui_mcp.jsontypes import JsonObject, dumps, loads


@dataclass(frozen=True, slots=True)
class Wish:
    """What a person typed."""

    action: str
    id: str | None
    reason: str | None
    abort: bool
    scope: Scope
    arguments: str | None


def act(store: Path | None, wish: Wish) -> list[str]:
    """Carry out a wish and return what to print."""
    file = store or user_data_path("nlui") / "approvals.db"
    if not file.is_file():
        raise ConfigError(f"There is no approvals store {file}\nName the gateway's with --store.")
    return anyio.run(_act, file, wish)


async def _act(file: Path, wish: Wish) -> list[str]:
    approvals = SqliteApprovals(file)
    desk = Desk(approvals)
    try:
        match wish.action:
            case "list":
                return [_line(row) for row in await desk.pending()] or ["Nothing waits."]
            case "rules":
                rules = await approvals.rules()
                return [f"{number}: {dumps(rule.model_dump(exclude_defaults=True))}" for number, rule in rules]
            case "forget":
                gone = await approvals.remove_rule(int(wish.id or 0))
                return ["Forgotten." if gone else "There is no such rule."]
            case "show":
                return [dumps((await _one(desk, wish.id)).to_json())]
            case _:
                return [_line(await _answer(desk, wish))]
    finally:
        approvals.close()


async def _answer(desk: Desk, wish: Wish) -> Approval:
    row = await _one(desk, wish.id)
    edited: JsonObject | None = loads(wish.arguments) if wish.arguments else None
    decision: Answer = "deny_abort" if wish.abort else "deny_continue"
    if wish.action == "approve":
        decision = "approve_with_edit" if edited is not None else "approve"
    return await desk.answer(row.id, Reply(decision, row.digest, getpass.getuser(), wish.reason, edited, wish.scope))


async def _one(desk: Desk, beginning: str | None) -> Approval:
    rows = [*await desk.pending(), *await desk.history(1000)]
    found = [row for row in rows if beginning and row.id.startswith(beginning)]
    if len(found) != 1:
        raise NotFoundError(f"{len(found)} approvals begin with {beginning!r}")
    return found[0]


def _line(row: Approval) -> str:
    request = f"{row.preview['method']} {row.preview['url']}" if row.preview else dumps(row.arguments)
    return f"{row.id[:12]}  {row.status}  {row.risk}  {row.tool}  {request}"[:400]
