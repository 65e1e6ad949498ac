"""The seam between a world and its process, whichever way that was started."""

from typing import Protocol


def stopped(pid: int) -> bool:
    """Say whether a process was stopped from outside (SIGSTOP, a debugger), where the system tells."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] in {b"T", b"t"}
    except (OSError, IndexError):
        return False


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
