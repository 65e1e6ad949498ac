"""Keeps Python's collector away while a large UI is read."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Make many small objects without looking for garbage among them: all are needed, and looking costs most of it."""
    working = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if working:
            gc.enable()
