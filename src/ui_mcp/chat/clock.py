"""The time, in whole microseconds since 1970; tests bring their own."""

import time
from collections.abc import Callable

Clock = Callable[[], int]


def now_us() -> int:
    """Return the current time."""
    return time.time_ns() // 1000
