"""The agent shows a past moment of the app and comes back: every step is kept, with its author."""

from ui_mcp.app.tour.agent import Step, TourAgent
from ui_mcp.jsontypes import JsonObject

HISTORY, CLOSE = ".shell-history", ".ui-history-close"
BEFORE = ".ui-history-steps li:nth-child(4) button"
"""The newest step is the first: the entry, then the two fields of the form."""
NOW = ".ui-history-looking button:last-child"


async def run(agent: TourAgent) -> None:
    await agent.say("Every step is kept, yours and mine. This was the page before my entry.", seconds=0.5)
    for place, seconds in ((HISTORY, 1.0), (BEFORE, 2.4), (NOW, 0.6), (CLOSE, 0.3)):
        await agent.perform(act("hover", place), act("click", place))
        await agent.pause(seconds)


def act(kind: str, css: str) -> JsonObject:
    return {"type": kind, "target": {"css": css}}


STEP = Step(45, "History", run)
