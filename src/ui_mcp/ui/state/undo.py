"""Which step of a history an undo or a redo takes back."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ui_mcp.ui.state.store import Step


class UndoStacks:
    """What one author can undo and redo, newest last; undoing an undo is a redo.

    An author takes back their own steps only, unless they name another's. Timers, reloads and messages are no one's.
    """

    def __init__(self, steps: "Iterable[Step]", author: str, app: str = "") -> None:
        """Take steps oldest first; `app` leaves out those of other apps."""
        self.undoable: list[Step] = []
        self.redoable: list[Step] = []
        self.taken_back: set[int] = set()
        """Numbers of steps that are undone at present."""
        depths: dict[int, int] = {}
        for step in steps:
            depths[step.seq] = depths.get(step.undoes, 0) + 1 if step.undoes else 0
            self._take(step, author, app, is_undo=depths[step.seq] % 2 == 1)

    def _take(self, step: "Step", author: str, app: str, *, is_undo: bool) -> None:
        if step.undoes:
            self.taken_back.add(step.undoes)
            self.taken_back.discard(step.seq)
            self.undoable = [one for one in self.undoable if one.seq != step.undoes]
            self.redoable = [one for one in self.redoable if one.seq != step.undoes]
        if step.author != author or (app and step.app and step.app != app):
            return
        if is_undo:
            self.redoable.append(step)
        else:
            self.undoable.append(step)
            if not step.undoes:
                self.redoable.clear()
