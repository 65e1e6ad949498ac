"""The tour's own rules: order, pages that follow, skipping, repeating, failing."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from ui_mcp.app.tour.agent import Server, Step, TourAgent, reason_of, written_by
from ui_mcp.app.tour.feed import Feed
from ui_mcp.app.tour.tour import Tour, all_steps
from ui_mcp.jsontypes import JsonObject
from ui_mcp.toolkit.tool import Call, Text, ToolResult


class Recorder:
    """A server that answers every call, and remembers the tools."""

    def __init__(self) -> None:
        self.called: list[str] = []

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        self.called.append(name)
        return ToolResult((Text("{}"),), is_error=name == "broken")


class Quiet:
    """A server in which nothing happens."""

    async def call(self, name: str, arguments: JsonObject, call: Call) -> ToolResult:
        await anyio.sleep_forever()
        raise AssertionError


async def greet(agent: TourAgent) -> None:
    await agent.say("Hello")
    await agent.call("ui_status")


async def wait_for_ever(agent: TourAgent) -> None:
    agent.waits_for("app")
    await anyio.sleep_forever()


async def fail(agent: TourAgent) -> None:
    await agent.call("broken")


async def ended(feed: Feed) -> JsonObject:
    while True:
        shown = await feed.after(feed.version, 10)
        if shown["state"] not in {"ready", "running"}:
            return shown


@asynccontextmanager
async def served(tour: Tour, server: Server) -> AsyncIterator[None]:
    @asynccontextmanager
    async def connected() -> AsyncIterator[Server]:
        yield server

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(tour.serve, connected)
        yield
        tasks.cancel_scope.cancel()


def test_steps_run_in_the_order_of_their_numbers() -> None:
    assert [step.title for step in all_steps()] == ["Hello", "Build", "Ask", "Point", "Try", "History", "Decide"]


async def test_a_run_notes_what_was_said_and_called() -> None:
    tour, server = Tour([Step(1, "Hello", greet)], 0), Recorder()
    async with served(tour, server):
        tour.begin()
        shown = await ended(tour.feed)

    noted = [(entry["kind"], entry["text"], entry["state"]) for entry in shown["entries"]]
    assert (shown["state"], noted) == ("done", [("say", "Hello", "done"), ("call", "ui_status", "done")])
    assert server.called == ["chat_assistant_post", "ui_status"]


@pytest.mark.covers("UI-TOUR-6")
async def test_what_the_person_could_do_is_passed_over_when_they_go_on() -> None:
    found: list[JsonObject | None] = []

    async def point(agent: TourAgent) -> None:
        found.append(await agent.event_unless_passed("pointed", "point"))

    tour = Tour([Step(1, "Point", point)], 0)
    async with served(tour, Quiet()):
        tour.begin()
        while tour.feed.turn != "point":
            await tour.feed.after(tour.feed.version, 10)
        tour.go_on()
        shown = await ended(tour.feed)

    assert (found, shown["state"], shown["turn"], shown["entries"]) == ([None], "done", "agent", [])


async def test_a_skipped_run_ends_and_can_be_played_again() -> None:
    resets: list[int] = []
    tour = Tour([Step(1, "Wait", wait_for_ever)], 0, lambda: resets.append(1))
    async with served(tour, Recorder()):
        tour.begin()
        while tour.feed.turn != "app":
            await tour.feed.after(tour.feed.version, 10)
        tour.skip()
        first = await ended(tour.feed)
        tour.begin()  # a page that is opened later starts nothing
        tour.start()
        while tour.feed.state != "running":
            await tour.feed.after(tour.feed.version, 10)

    assert (first["state"], first["run"], tour.feed.run, len(resets)) == ("skipped", 1, 2, 2)


@pytest.mark.covers("UI-TOUR-4")
async def test_a_step_that_fails_ends_the_tour_with_the_reason() -> None:
    tour = Tour([Step(1, "Fail", fail)], 0)
    async with served(tour, Recorder()):
        tour.begin()
        shown = await ended(tour.feed)

    assert (shown["state"], shown["entries"][0]["state"]) == ("failed", "failed")


async def test_pages_that_wait_are_let_go_when_the_server_ends() -> None:
    tour = Tour([], 0)
    async with anyio.create_task_group() as tasks, served(tour, Recorder()):
        tasks.start_soon(tour.feed.after, tour.feed.version, 1000)
        await anyio.lowlevel.checkpoint()

    assert tour.feed.state == "ready"


def test_the_reason_of_a_failure_is_said_in_its_own_words() -> None:
    in_json = '{"results": [], "error": {"message": "Nothing matches\\nLook again."}}'

    assert [reason_of(text) for text in (in_json, "No page\nOpen one.", "[]")] == ["Nothing matches", "No page", "[]"]


def test_changes_of_one_file_are_shown_together() -> None:
    changes = [
        {"path": "a", "new": "x\n"},
        {"path": "b", "text": "y"},
        {"path": "a", "new": ""},
        {"path": "a", "new": "z"},
    ]

    assert written_by(changes) == {"a": "x\nz", "b": "y"}
