"""A border is a place where foreign data enters; fuzzing feeds it cases and asks its neighbours after each."""

from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from anyio.from_thread import start_blocking_portal
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded
from hypothesis.strategies import SearchStrategy

SECONDS = 60.0
"""A case that takes longer has hung its border."""
ran: Counter[str] = Counter()
"""Cases that were fed, by border."""


class Subject(Protocol):
    """Whatever stands behind a border, with a neighbour that must not notice."""

    async def take(self, case: Any) -> None:
        """Feed one case; only our own errors (`UiMcpError`) are answers, and they are taken here."""
        ...

    async def neighbour_answers(self) -> None:
        """Ask the good source, session or client beside the fuzzed one; raises when it does not answer."""
        ...


@dataclass(frozen=True, slots=True)
class Border:
    """One border and the cases it is fed."""

    name: str
    cases: SearchStrategy[Any]
    opened: Callable[[Path], AbstractAsyncContextManager[Subject]]
    share: int
    """Cases of a short run; a long one has forty times as many."""


def feed(border: Border, folder: Path, count: int, seed: int | None = None) -> None:
    """Feed `count` cases; the first that breaks something is shrunk and raised."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(border.opened(folder)) as subject:

        async def one(case: Any) -> None:
            import anyio

            with anyio.fail_after(SECONDS):
                await subject.take(case)
                await subject.neighbour_answers()

        @settings(
            max_examples=count,
            deadline=None,
            database=None,
            derandomize=seed is None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        )
        @given(border.cases)
        def case_does_no_harm(case: Any) -> None:
            ran[border.name] += 1
            portal.call(one, case)

        (case_does_no_harm if seed is None else seeded(seed)(case_does_no_harm))()
