"""Past moments of sessions to look at: each in a worker of its own, which is read-only and not saved."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from anyio import Lock, to_thread

from ui_mcp.jsontypes import dumps
from ui_mcp.lua_runtime.interface import raise_for_fault
from ui_mcp.ui.state.patch import difference
from ui_mcp.ui.state.records import State
from ui_mcp.wire import Op

if TYPE_CHECKING:
    from ui_mcp.ui.sessions.session import Session


def as_text(state: State) -> str:
    """Return the records of a state, as workers read them."""
    return dumps(list(state.records()))


@dataclass(slots=True)
class _Shown:
    session: "Session"
    state: State


class PastSessions:
    """Shows past moments, one per session at a time: going to another moment changes what its pages show."""

    def __init__(self, find: "Callable[[str], Session]", make: "Callable[[str], Session]") -> None:
        """`find` returns a session by its number, `make` one that is not saved, which has not been started."""
        self._find = find
        self._make = make
        self._shown: dict[str, _Shown] = {}
        self._one_at_a_time = Lock()

    def sessions(self) -> "list[Session]":
        return [shown.session for shown in self._shown.values()]

    async def look(self, vended: str, step: int) -> "Session":
        """Show the state of a session after a step.

        Raises:
            NotFoundError: the history of that time is no longer kept.
        """
        async with self._one_at_a_time:
            state = await self._find(vended).history.state_at(step)
            shown = self._shown.get(vended)
            if shown is None or shown.session.over:
                shown = self._shown[vended] = _Shown(await self._open(vended, state), state)
            else:
                records = await to_thread.run_sync(difference, shown.state, state)
                raise_for_fault(await shown.session.call(Op.PATCH, dumps(records)))
                shown.state = state
            return shown.session

    async def end(self, vended: str) -> None:
        """Stop showing moments of a session."""
        shown = self._shown.pop(vended, None)
        if shown is not None:
            await shown.session.end()

    async def _open(self, vended: str, state: State) -> "Session":
        session = self._make(f"{vended}-past")
        await session.start()
        await session.bring(await to_thread.run_sync(as_text, state), frozen=True)
        return session
