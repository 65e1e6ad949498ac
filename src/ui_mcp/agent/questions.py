"""What the agent knows of questions to a person about its calls: rows somewhere else, which outlive every process."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from ui_mcp.toolkit.tool import ToolResult

Fetch = Callable[[], Awaitable[ToolResult]]
"""Waits for the answer and, after a yes, for the call; raises `DeniedError` after a no."""


class Questions(Protocol):
    """Questions by the call they are about."""

    async def about(self, agent: str, call_id: str) -> Fetch | None:
        """Return how to learn what became of a call that a person was asked about; None if nobody was."""
        ...

    async def withdraw(self, agent: str, call_id: str) -> None:
        """Take a question back that nobody answered."""
        ...


class NoQuestions:
    """Nobody is ever asked."""

    async def about(self, agent: str, call_id: str) -> Fetch | None:
        """Know of no question."""
        return None

    async def withdraw(self, agent: str, call_id: str) -> None:
        """Have nothing to take back."""
