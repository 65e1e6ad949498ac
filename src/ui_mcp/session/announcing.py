"""Says which resources of a session changed."""

from collections.abc import Callable

from ui_mcp.lua_runtime.interface import Op

_READING = frozenset({Op.STATE, Op.VARIABLES, Op.REFRESH, Op.OPEN, Op.CLOSE})
"""What cannot change an app's state."""


class Changes:
    """The resources that show one session; those of the first also stand under the bare names."""

    def __init__(self, vended: str, announce: Callable[[str], None]) -> None:
        self._vended = vended
        self._announce = announce

    def after(self, op: Op) -> None:
        """Announce what an operation may have changed."""
        if op in {Op.OPEN, Op.CLOSE}:
            self.variables()
        if op not in _READING:
            self.state()

    def variables(self) -> None:
        """Announce the variables."""
        self._of_first("variables")

    def events(self) -> None:
        """Announce the queue of events, which the state shows too."""
        self._of_first("events")
        self.state()

    def state(self) -> None:
        """Announce the app's state."""
        self._of_first("state")
        self._announce(f"ui://state/{self._vended}")

    def _of_first(self, name: str) -> None:
        if self._vended == "1":
            self._announce(f"ui://{name}")
