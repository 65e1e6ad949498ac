"""What every client has: its history, the way to the servers, and dice."""

import json
import random
import time
from collections.abc import Callable
from pathlib import Path

from soak.chat_kills.history import History, operations
from soak.chat_kills.wire import Agent, CutError, Json, NobodyThereError, Person, RefusedError

PERIOD = 40
"""Seconds for which a conversation is used: histories of one object stay short enough to be checked."""
RETRY_SECONDS = 0.05
REFUSED: Json = {"refused": ""}


class Client:
    def __init__(self, name: str, folder: Path) -> None:
        environment = json.loads((folder / "product.json").read_text())
        self.name = name
        self.folder = folder
        self.history = History(folder / "history", name)
        self.mine = list(operations(self.history.file).values())
        self.dice = random.Random()
        self.agent = Agent(environment["mcp"], name)
        self.person = Person(environment["person"], environment["credentials"]["person"])
        self.chat = Person(environment["nlui"], environment["credentials"]["nlui"])

    @property
    def is_over(self) -> bool:
        return (self.folder / "stop").exists()

    def key(self) -> str:
        return f"{self.name}-{time.monotonic_ns()}"

    def talk(self) -> str:
        """Return a conversation of now, sometimes the one before."""
        number = int(time.monotonic() // PERIOD) - (self.dice.random() < 0.2)
        return f"talk-{number}-{self.dice.randint(1, 2)}"

    def once(self, place: str, function: str, given: Json, work: Callable[[], Json]) -> Json | None:
        """Do something once and record it; None if the outcome is unknown, or nothing was done."""
        op = self.history.begin(place, function, given)
        self.mine.append({"object": place, "f": function, "in": given})
        try:
            out = work()
        except NobodyThereError:
            self.history.end(op, {"void": True})
            time.sleep(RETRY_SECONDS)
            return None
        except CutError:
            time.sleep(RETRY_SECONDS)
            return None
        except RefusedError as error:
            out = {"refused": str(error)}
        self.history.end(op, out)
        self.mine[-1]["out"] = out
        return out

    def until_done(self, place: str, function: str, given: Json, work: Callable[[], Json]) -> Json:
        """Repeat something that may be repeated until it is answered; each attempt is an operation."""
        while True:
            out = self.once(place, function, given, work)
            if out is not None and "refused" not in out:
                return out
            time.sleep(RETRY_SECONDS)

    def unfinished(self, function: str) -> list[Json]:
        """Return what an earlier process of this client began and never saw answered."""
        wanted = [one for one in self.mine if one["f"] == function]
        done = {json.dumps(one["in"]) for one in wanted if "refused" not in one.get("out", REFUSED)}
        return [one for one in wanted if json.dumps(one["in"]) not in done]


def structured(result: Json) -> Json:
    """Return what a tool said; an error is a refusal, and a slow call that became a task is not followed."""
    if result.get("resultType") == "task":
        raise CutError("it became a task")
    if result.get("isError"):
        raise RefusedError(result["content"][0]["text"])
    found: Json = result.get("structuredContent") or json.loads(result["content"][0]["text"])
    return found


def page(found: Json) -> Json:
    """Return a page of messages as the checker wants it; a message is named by the first word of its text."""
    return {
        "messages": [[one["id"], one["author"], one["content"].split()[0]] for one in found["messages"]],
        "last": found["last_id"],
        "head": found["head_id"],
        "more": found["has_more"],
    }
