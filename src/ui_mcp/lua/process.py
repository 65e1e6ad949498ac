"""The seam between a world and its process, whichever way that was started."""

from typing import Protocol


class Owner(Protocol):
    """Who hears of a process, on the event loop."""

    def received(self, data: bytes) -> None:
        """Take what the process wrote, in pieces of any size."""
        ...

    def exited(self, status: int | None) -> None:
        """Learn, once and last, that it is gone: exit status, negative signal number, or None when nobody knows."""
        ...


class Process(Protocol):
    """One process with a pipe both ways."""

    pid: int

    def write(self, data: bytes) -> None:
        """Send at once, or as soon as there is room."""
        ...

    def kill(self) -> None:
        """End it whatever it is doing; safe to call twice."""
        ...
