"""The agent asks inside the app, waits for the click, and goes on from there."""

from ui_mcp.app.tour.agent import VIEW, Step, TourAgent, before, part

START_OF_DETAILS = '    <div class="details">'
"""Above the table, where the question is seen on a phone too."""
UNITS = {"euro": "€", "dollar": "$"}


async def run(agent: TourAgent) -> None:
    await agent.edit(before(VIEW, START_OF_DETAILS, "question.html"), seconds=0)
    await agent.say("Euro or dollar? **Your turn**: click one in the app, I am waiting for it.", seconds=0)
    chosen = str((await agent.next_event("chosen"))["currency"])
    unit = UNITS.get(chosen, "€")
    await agent.edit(
        {"path": VIEW, "old": part("question.html"), "new": ""},
        {"path": VIEW, "old": 'ui-value="byKind()"', "new": f'ui-value="byKind()" unit="{unit}"'},
        {"path": VIEW, "old": 'name="amount"', "new": f'name="amount" unit="{unit}"'},
        seconds=0,
    )
    await agent.say(f"I heard your click: {chosen}. It is {unit} everywhere now.")


STEP = Step(30, "Ask", run)
