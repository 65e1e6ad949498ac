"""The agent looks at the page, fills in a form as a person would, and says what it saw."""

import re

from ui_mcp.app.tour.agent import VIEW, Step, TourAgent, before, part
from ui_mcp.app.tour.steps.build import END_OF_VIEW
from ui_mcp.errors import NotFoundError

START_OF_APP = "if not session.reloading"
ITEM, AMOUNT = "Pastéis de nata", "12.40"


async def run(agent: TourAgent) -> None:
    await agent.edit(
        {"path": "app.lua", "old": START_OF_APP, "new": part("add.lua") + START_OF_APP},
        before(VIEW, END_OF_VIEW, "form.html"),
        seconds=1.2,
    )
    await agent.say("Now I try it myself: I look at the page, then I use it.", seconds=1.2)
    outline = await agent.call("ui_get_snapshot")
    what, amount, add = (uid_of(outline, name) for name in ("What", "Amount", "Add"))
    for uid, text in ((what, ITEM), (amount, AMOUNT)):
        await agent.perform({"type": "hover", "target": uid})
        await agent.pause(0.7)
        await agent.perform({"type": "setText", "target": uid, "text": text})
        await agent.pause(0.5)
    await agent.perform({"type": "hover", "target": add})
    await agent.pause(0.7)
    change = await agent.perform({"type": "click", "target": add}, observe="diff")
    await agent.pause(0.8)
    await agent.say(f"I saw it: {what_changed(change)}.")


def uid_of(outline: str, name: str) -> str:
    """Return the uid of the control with this name in an outline.

    Raises:
        NotFoundError: there is none.
    """
    found = re.search(rf'^\s*(?:input|button) (\w+) "{re.escape(name)}"', outline, re.MULTILINE)
    if found is None:
        raise NotFoundError(f"There is no control {name!r} on the page")
    return found[1]


def what_changed(difference: str) -> str:
    """Say in words what the difference of the page shows."""
    total = re.search(r"Σ ([\d.,]+ ?[€$]?)", difference)
    added = "the new line is in the list" if ITEM in difference else "the form is empty again"
    return f"{added}, and the total is {total[1]}" if total else added


STEP = Step(40, "Try", run)
