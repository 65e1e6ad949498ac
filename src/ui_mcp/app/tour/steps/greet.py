"""The agent takes the seat and says what it is going to do."""

from ui_mcp.app.tour.agent import Step, TourAgent


async def run(agent: TourAgent) -> None:
    if agent.is_repeated:
        await agent.call("ui_run", {"code": "mcp:goHome()"})
    await agent.call("ui_wait", {"timeout": 1})  # from now on the page shows that an agent is here
    await agent.say("Hi! I am a scripted agent. I will build you a small travel budget; watch the page.", seconds=2.2)


STEP = Step(10, "Hello", run)
