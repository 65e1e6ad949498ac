"""Decides whether a session whose Lua world died gets another one."""

from collections import deque

WINDOW_SECONDS = 60.0
MOST_CRASHES = 3


class Crashes:
    """Counts recent crashes; the third within a minute is one too many."""

    def __init__(self) -> None:
        self._times: deque[float] = deque(maxlen=MOST_CRASHES)

    def may_restart(self, now: float) -> bool:
        """Note a crash and say whether to try again."""
        self._times.append(now)
        return len(self._times) < MOST_CRASHES or now - self._times[0] > WINDOW_SECONDS
