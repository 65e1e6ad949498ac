"""What an agent has announced about its work: steps to do, and how far the building of each app is."""

from math import isfinite

from anyio import Event, move_on_after

from ui_mcp.jsontypes import Json, JsonObject

MAX_STEPS = 200
MAX_APPS = 200
MAX_TEXT = 300
_STATES = frozenset({"pending", "in_progress", "completed"})


class AgentProgress:
    """The latest announcement of a session; its `version` grows with each, so that pages can wait for the next."""

    def __init__(self) -> None:
        self.version = 0
        self._todos: list[JsonObject] = []
        self._apps: dict[str, JsonObject] = {}
        self._changed = Event()
        self._closed = False

    def close(self) -> None:
        """Release every waiter; nothing waits any more."""
        self._closed = True
        self._changed.set()

    def update(self, facts: Json) -> None:
        """Take an announcement of app code, which may contain anything."""
        if not isinstance(facts, dict):
            return
        if "todos" in facts:
            todos = facts["todos"]
            self._todos = [_step(one) for one in todos[:MAX_STEPS]] if isinstance(todos, list) else []
        elif "app" in facts:
            self._set_app(_text(facts["app"]), facts.get("progress"), _text(facts.get("stage")))
        self.version += 1
        if not self._closed:
            self._changed.set()
            self._changed = Event()

    def as_json(self) -> JsonObject:
        return {"version": self.version, "todos": self._todos, "apps": dict(self._apps)}

    async def wait(self, after: int, seconds: float) -> JsonObject:
        """Return the announcements as soon as they are newer than `after`, at the latest after some seconds."""
        if after == self.version:
            with move_on_after(seconds):
                await self._changed.wait()
        return self.as_json()

    def _set_app(self, name: str, progress: Json, stage: str) -> None:
        self._apps.pop(name, None)
        done = min(max(progress, 0), 100) if type(progress) in {int, float} and isfinite(progress) else None
        if (done is not None or stage) and len(self._apps) < MAX_APPS:
            self._apps[name] = {"progress": done, "stage": stage}


def _step(given: Json) -> JsonObject:
    step = given if isinstance(given, dict) else {}
    status = step.get("status")
    return {
        "content": _text(step.get("content")),
        "status": status if status in _STATES else "pending",
        "active": _text(step.get("activeForm")),
    }


def _text(given: Json) -> str:
    return given[:MAX_TEXT] if isinstance(given, str) else ""
