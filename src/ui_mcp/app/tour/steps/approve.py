"""The agent wants to change something outside, and the person decides on their own page."""

from ui_mcp.app.tour.agent import Step, TourAgent
from ui_mcp.errors import UiMcpError
from ui_mcp.jsontypes import loads


async def run(agent: TourAgent) -> None:
    orders = loads(await agent.call("shop__list_orders"))["result"]
    open_order = next(order for order in orders if not order["shipped"])
    number, item = open_order["id"], open_order["item"]
    await agent.say(
        f"I can use APIs too. In the demo shop, order {number} ({item}) waits. "
        "Shipping it changes something, so **you decide**.",
        seconds=1.5,
    )
    agent.waits_for("approval")
    try:
        shipped = await agent.call("shop__ship_order", {"id": number})
        said = f"You agreed, so order {number} is on its way." if '"shipped"' in shipped else shipped
    except UiMcpError as error:
        if "denied" not in error.message.lower():
            raise
        said = f"You said no, so order {number} stays where it is. Nothing was sent."
    finally:
        agent.waits_for("agent")
    await agent.say(said, seconds=1.8)


STEP = Step(50, "Decide", run)
