"""The agent shows a past moment of the app and comes back: every step is kept, with its author."""

from ui_mcp.app.tour.agent import PERFORM_MS, Step, TourAgent
from ui_mcp.jsontypes import JsonObject

HISTORY, CLOSE = ".shell-history", ".ui-history-close"
BEFORE = ".ui-history-steps li:nth-child(3) button"
"""The newest step is the first: the entry, then the two fields of the form."""
NOW = ".ui-history-looking button:last-child"
STEPS = (
    (HISTORY, HISTORY, 1.0),
    (".ui-history-step", BEFORE, 2.4),
    (".ui-history-main", NOW, 0.6),
    (CLOSE, CLOSE, 0.3),
)
"""What must be there first, what is then clicked, and how long the person looks at it."""


async def run(agent: TourAgent) -> None:
    await agent.say("Every step is kept, yours and mine. This was the page before my entry.", seconds=0.5)
    for shown, place, seconds in STEPS:
        await agent.call("ui_wait_for", {"selector": {"css": shown}, "timeoutMs": PERFORM_MS})
        await agent.perform(act("hover", place), act("click", place))
        await agent.pause(seconds)


def act(kind: str, css: str) -> JsonObject:
    return {"type": kind, "target": {"css": css}}


STEP = Step(45, "History", run)
