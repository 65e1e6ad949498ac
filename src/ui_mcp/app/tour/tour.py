"""Runs the tour when the person's page asks for it: once, again, or up to the point where it is skipped."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

import anyio

from ui_mcp.app.tour import steps
from ui_mcp.app.tour.agent import Server, Step, TourAgent
from ui_mcp.app.tour.feed import Feed
from ui_mcp.discovery import discover_modules
from ui_mcp.isolation import Boundary
from ui_mcp.mcp_client.client import Options, connect
from ui_mcp.mcp_client.transport import HttpUrl

OPTIONS = Options(call_seconds=3600.0, forwards_requests=False, client_name="Tour agent")
"""An approval takes as long as the person likes, and is given on their page, not by the agent."""


class Connect(Protocol):
    """Connects the agent to the server for the length of a run."""

    def __call__(self) -> AbstractAsyncContextManager[Server]: ...


def all_steps() -> list[Step]:
    """Return the steps of the package `steps`, in their order."""
    found: list[Step] = [module.STEP for module in discover_modules(steps)]
    return sorted(found, key=lambda step: step.order)


@dataclass(slots=True)
class Tour:
    """The tour of one server; at most one run at a time."""

    steps: Sequence[Step]
    pace: float = 1.0
    reset: Callable[[], None] = lambda: None
    """Takes back what an earlier run did outside of the server."""
    feed: Feed = field(init=False)
    _wanted: anyio.Event = field(default_factory=anyio.Event)
    _current: anyio.CancelScope | None = None

    def __post_init__(self) -> None:
        self.feed = Feed([step.title for step in self.steps])

    def begin(self) -> None:
        """Start the first run; a page that is opened later shows what there is."""
        if self.feed.state == "ready":
            self.start()

    def start(self) -> None:
        """Start a run, the first or another; one that is under way is not disturbed."""
        if self.feed.state != "running":
            self._wanted.set()

    def go_on(self) -> None:
        """Leave out what the person could do now."""
        self.feed.pass_turn()

    def skip(self) -> None:
        """End the run."""
        if self._current is not None:
            self._current.cancel()
        elif self.feed.state == "ready":
            self.feed.end("skipped")

    async def serve(self, connected: Connect) -> None:
        """Run the tour each time that it is asked for, until cancelled."""
        try:
            while True:
                await self._wanted.wait()
                self._wanted = anyio.Event()
                await self._run_once(connected)
        finally:
            self.feed.close()

    async def _run_once(self, connected: Connect) -> None:
        self.reset()
        self.feed.begin()
        with anyio.CancelScope() as self._current:
            await self._run(connected)
        was_skipped, self._current = self._current.cancelled_caught, None
        if was_skipped:
            self.feed.end("skipped")

    async def _run(self, connected: Connect) -> None:
        # Whatever goes wrong here ends the tour, never the server.
        with Boundary("tour", lambda why: self.feed.end("failed", why)):
            async with connected() as server:
                agent = TourAgent(server, self.feed, self.pace)
                for number, step in enumerate(self.steps):
                    self.feed.reach(number)
                    await step.run(agent)
            self.feed.end("done")


def connection_to(mcp_url: str) -> Connect:
    """Return how the agent connects: as any client does, over streamable HTTP."""

    @asynccontextmanager
    async def connected() -> AsyncIterator[Server]:
        async with connect(HttpUrl(f"{mcp_url}/mcp"), OPTIONS) as client:
            yield client

    return connected
