"""The person points at something and says what it should be; the agent knows the place and changes it there."""

from html import escape

from ui_mcp.app.tour.agent import VIEW, Step, TourAgent
from ui_mcp.jsontypes import JsonObject

TITLE = "Lisbon, five days"
LONGEST = 60


async def run(agent: TourAgent) -> None:
    await agent.say("Another title? Press **Point** at the top, click the title and type a better one.", seconds=0)
    pointed = await agent.event_unless_passed("pointed", "point")
    if pointed is not None:
        title = escape(title_of(str(pointed["words"])))
        await agent.edit({"path": VIEW, "old": f"<h1>{TITLE}</h1>", "new": f"<h1>{title}</h1>"}, seconds=0)
        await agent.say(answer_to(pointed))


def title_of(words: str) -> str:
    """Return the person's words as a title; pure."""
    return " ".join(words.split())[:LONGEST]


def answer_to(pointed: JsonObject) -> str:
    """Say where the person pointed; a script knows only one thing to change. Pure."""
    element = pointed["element"]
    if element["type"] == "h1":
        return f"You pointed at the title, so I knew the file and the line: `{VIEW}`."
    return (
        f"You pointed at `{element['type']}`. A script can change only the title; your own agent changes what you mean."
    )


STEP = Step(35, "Point", run)
