"""How fast one person or program may post: a bucket that refills."""

import time
from collections.abc import Callable

MOST_NAMES = 10_000


class Rate:
    """Allows `per_second` on average and twice that at once, for each name."""

    def __init__(self, per_second: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = per_second
        self._clock = clock
        self._buckets: dict[str, tuple[float, float]] = {}

    def allow(self, name: str, amount: float = 1.0) -> float:
        """Take `amount` from the bucket of `name`; return 0, or the seconds to wait before it would fit."""
        now = self._clock()
        most = max(2 * self._per_second, amount)
        level, seen = self._buckets.pop(name, (most, now))
        level = min(most, level + (now - seen) * self._per_second)
        enough = level >= amount
        self._buckets[name] = (level - amount if enough else level, now)
        if len(self._buckets) > MOST_NAMES:
            self._buckets.pop(next(iter(self._buckets)))
        return 0.0 if enough else (amount - level) / self._per_second
