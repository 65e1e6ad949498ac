"""What it takes to record something once and to play it again and again."""

import json
from dataclasses import dataclass
from typing import Any, Protocol

from integration.lineclient import LineClient

Steps = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Played:
    """How one replay went; `does` is the step that failed, in words."""

    ok: bool
    does: str = ""
    why: str = ""


class Recordable(Protocol):
    """Something that can be shown once."""

    name: str

    def record(self) -> Steps:
        """Do it, recorded."""
        ...

    def play(self, steps: Steps, *, changed: bool = False) -> Played:
        """Play a recording from the beginning, against the program as it was or one that was changed."""
        ...


def played_by(client: LineClient, steps: Steps, **where: str) -> Played:
    """Play a recording by `ui_test`."""
    answer = client.request("tools/call", {"name": "ui_test", "arguments": {"steps": steps, **where}})
    said = json.loads(answer["content"][0]["text"])
    if said.get("ok"):
        return Played(ok=True)
    pictures = [block for block in answer["content"] if block["type"] == "image"]
    assert pictures, "a failure has a picture"
    return Played(ok=False, does=said.get("does", ""), why=json.dumps(said.get("error")))
