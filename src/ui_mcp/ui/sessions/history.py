"""The history of a session: its steps, taking them back, and returning to a past moment."""

from asyncio import Lock
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anyio import to_thread

from ui_mcp.errors import NotFoundError, RefusedError
from ui_mcp.jsontypes import JsonObject, dumps, loads
from ui_mcp.lua_runtime.interface import Reply, raise_for_fault
from ui_mcp.ui.state.acts import Act, kind_of
from ui_mcp.ui.state.part import with_part
from ui_mcp.ui.state.patch import Undoing, difference
from ui_mcp.ui.state.records import Record, State
from ui_mcp.ui.state.undo import UndoStacks

if TYPE_CHECKING:
    from ui_mcp.ui.sessions.saving import StateSaver
    from ui_mcp.ui.state.store import Step

LOOK_BACK = 1000
"""Steps among which an undo looks for the one to take back."""


@dataclass(frozen=True, slots=True)
class Undone:
    """What an undo or a redo did."""

    step: int
    label: str
    kept: tuple[str, ...]
    """Names of what stayed because it was changed since."""

    def as_json(self) -> JsonObject:
        return {"step": self.step, "label": self.label, **({"kept": [*self.kept]} if self.kept else {})}


class History:
    """Reads and rewinds the journal of a session, which does nothing else meanwhile."""

    def __init__(self, saver: "StateSaver | None", lock: Lock, patch: Callable[[str], Awaitable[Reply]]) -> None:
        """`patch` lets the worker apply records."""
        self._saver = saver
        self._lock = lock
        self._patch = patch

    async def steps(self, *, before: int | None = None, limit: int = 50, app: str = "") -> JsonObject:
        """Return `{first, last, steps}`, newest first.

        Raises:
            RefusedError: the session has no journal.
            StateStoreError: it cannot be read.
        """
        last = await self._flush()
        saver = self._saving()
        known = await saver.journal.steps(last + 1 if before is None else before, LOOK_BACK)
        taken_back = UndoStacks(reversed(known), "").taken_back
        shown = [one for one in known if not app or one.app in {app, ""}][:limit]
        return {
            "first": await saver.journal.first_step(),
            "last": last,
            "steps": [_as_json(one, undone=one.seq in taken_back) for one in shown],
        }

    async def undo(self, author: str, *, step: int | None = None, app: str = "") -> Undone:
        """Take back a step: the author's last one, or the one that is named.

        Raises:
            NotFoundError: there is nothing to undo, or no such step.
            RefusedError: everything that the step changed was changed since.
        """
        async with self._lock:
            stacks, steps = await self._stacks(author, app)
            if step is not None:
                found = next((one for one in steps if one.seq == step), None)
                if found is None or step in stacks.taken_back:
                    raise NotFoundError(f"Step {step} {'is undone already' if found else 'is not in the history'}")
            elif not stacks.undoable:
                raise NotFoundError("There is nothing to undo")
            else:
                found = stacks.undoable[-1]
            return await self._take_back(found, Act(author, f"Undo {_plain(found)}", found.app, found.seq))

    async def redo(self, author: str, *, app: str = "") -> Undone:
        """Do again what the author's last undo took back.

        Raises:
            NotFoundError: there is nothing to redo.
            RefusedError: everything was changed since.
        """
        async with self._lock:
            stacks, _ = await self._stacks(author, app)
            if not stacks.redoable:
                raise NotFoundError("There is nothing to redo")
            found = stacks.redoable[-1]
            return await self._take_back(found, Act(author, f"Redo {_plain(found)}", found.app, found.seq))

    async def return_to(self, step: int, author: str) -> Undone:
        """Give the session the state that it had after a step; a step of its own, which can be undone.

        Raises:
            NotFoundError: the history of that time is no longer kept.
        """
        async with self._lock:
            last = await self._flush_locked()
            journal = self._saving().journal
            now, wanted = await journal.state_at(last), await journal.state_at(step)
            await self._apply(now, wanted, Act(author, f"Return to step {step}"))
        return Undone(step, f"Return to step {step}", ())

    async def replace_part(self, records: bytes, name: str, author: str, label: str) -> None:
        """Give the app with this global a state that `part_of` has taken out; a step that can be undone.

        Raises:
            StateStoreError: the present state cannot be read.
        """
        part = State()
        part.apply(loads(records))
        async with self._lock:
            last = await self._flush_locked()
            now = await self._saving().journal.state_at(last)
            await self._apply(now, with_part(now, part, name), Act(author, label))

    async def state_at(self, step: int | None = None) -> State:
        """Return the state after a step, the last one unless it is named.

        Raises:
            NotFoundError: the history of that time is no longer kept.
        """
        journal = self._saving().journal
        if step is None or step > journal.stored:
            last = await self._flush()
            step = last if step is None else step
        return await journal.state_at(step)

    async def _take_back(self, step: "Step", act: Act) -> Undone:
        journal = self._saving().journal
        last = await journal.flush()
        if step.seq <= await journal.first_step():
            raise NotFoundError("What was before it is not in the history that is kept")
        before, after, now = [await journal.state_at(seq) for seq in (step.seq - 1, step.seq, last)]
        undoing = Undoing(before, after, now)
        wanted = await to_thread.run_sync(undoing.state)
        if not await self._apply(now, wanted, act):
            raise RefusedError(f"Cannot take back “{step.label}”: everything it changed was changed since")
        return Undone(step.seq, step.label, tuple(dict.fromkeys(undoing.kept)))

    async def _apply(self, now: State, wanted: State, act: Act) -> list[Record]:
        records = await to_thread.run_sync(difference, now, wanted)
        if records:
            raise_for_fault(await self._patch(dumps(records)))
            saver = self._saving()
            saver.note(act)
            await saver.read()
        return records

    async def _stacks(self, author: str, app: str) -> "tuple[UndoStacks, list[Step]]":
        last = await self._flush_locked()
        steps = await self._saving().journal.steps(last + 1, LOOK_BACK)
        return UndoStacks(reversed(steps), author, app), steps

    async def _flush(self) -> int:
        async with self._lock:
            return await self._flush_locked()

    async def _flush_locked(self) -> int:
        saver = self._saving()
        await saver.read()
        return await saver.journal.flush()

    def _saving(self) -> "StateSaver":
        if self._saver is None:
            raise RefusedError("This session keeps no history\nThe setting session.journal is off.")
        return self._saver


def _plain(step: "Step") -> str:
    """Return the label of what an undo or a redo was about."""
    label = step.label
    while label.startswith(("Undo ", "Redo ")):
        label = label[len("Undo ") :]
    return label


def _as_json(step: "Step", *, undone: bool) -> JsonObject:
    return {
        "step": step.seq,
        "at": step.at,
        "by": kind_of(step.author),
        "author": step.author,
        "app": step.app,
        "label": step.label,
        **({"undone": True} if undone else {}),
        **({"undoes": step.undoes} if step.undoes else {}),
    }
